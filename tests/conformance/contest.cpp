#include "conformance/contest.h"

namespace spillway::conformance {

class Contest::Line final : public net::Channel {
 public:
  explicit Line(ClusterUnderTest& cluster) : cluster_(cluster) {}

  bool is_cut = false;

  // Also an answer that is under way does not arrive.
  void send(net::Request request, net::OnResponse then) override {
    auto unless_cut = life_.guard(
        [this, then](Result<net::Response> answer) { then(is_cut ? lost() : std::move(answer)); });
    if (is_cut) return cluster_.loop().post([unless_cut] { unless_cut(lost()); });
    cluster_.channel().send(std::move(request), std::move(unless_cut));
  }
  std::unique_ptr<net::Reading> open(net::Request request, net::StreamCalls calls) override {
    return cluster_.channel().open(std::move(request), std::move(calls));
  }

 private:
  static Result<net::Response> lost() {
    return fail(Code::unavailable, "cluster", "the line is cut", "");
  }

  ClusterUnderTest& cluster_;
  host::Lifeline life_;
};

struct Contest::Contender {
  explicit Contender(ClusterUnderTest& cluster)
      : line(cluster), api(cluster.loop(), cluster.random(), line, {}) {}

  Line line;
  kube::Api api;
  std::unique_ptr<kube::Lease> lease;
  int turns = 0;
};

Contest::Contest(ClusterUnderTest& cluster, kube::LeaseOptions options)
    : cluster_(cluster), options_(std::move(options)) {}

Contest::~Contest() {
  run([this] {
    contenders_.clear();
    life_ = {};
  });
}

void Contest::run(const std::function<void()>& what) {
  cluster_.thread().run([&] {
    what();
    return true;
  });
}

void Contest::enter(const std::string& who) {
  run([&] { begin(who); });
}

void Contest::die(const std::string& who) {
  run([&] { contenders_.erase(who); });
}

void Contest::release(const std::string& who) {
  run([&] { give_up(who); });
}

void Contest::cut(const std::string& who, bool is_cut) {
  run([&] { contenders_.at(who)->line.is_cut = is_cut; });
}

void Contest::take_turns(Duration holds, int turns) {
  run([&] {
    holds_ = holds;
    turns_ = turns;
  });
}

void Contest::begin(const std::string& who) {
  auto& contender = contenders_[who];
  if (contender == nullptr) contender = std::make_unique<Contender>(cluster_);
  kube::LeaseOptions options = options_;
  options.holder = who;
  contender->lease = std::make_unique<kube::Lease>(
      contender->api, std::move(options),
      kube::LeaseCalls{[this, who] { on_held(who); }, [this, who] { on_end(who); }});
  contender->lease->start();
}

// It counts as held until it is given up, not until the server knows.
void Contest::give_up(const std::string& who) {
  on_end(who);
  Contender& contender = *contenders_.at(who);
  contender.lease->release(life_.guard([this, who] {
    if (++contenders_.at(who)->turns < turns_) {
      cluster_.loop().post(life_.guard([this, who] { begin(who); }));
    }
  }));
}

void Contest::on_held(const std::string& who) {
  {
    const std::lock_guard lock(mutex_);
    holdings_.push_back({who, Holding::Clock::now(), std::nullopt});
    changed_.notify_all();
  }
  if (holds_) cluster_.loop().after(*holds_, life_.guard([this, who] { give_up(who); }));
}

void Contest::on_end(const std::string& who) {
  const std::lock_guard lock(mutex_);
  for (Holding& one : holdings_) {
    if (one.who == who && !one.until) one.until = Holding::Clock::now();
  }
}

std::vector<Holding> Contest::holdings(size_t count, std::chrono::seconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return holdings_.size() >= count; });
  return holdings_;
}

}  // namespace spillway::conformance
