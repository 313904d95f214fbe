// Event streams over real connections: what is heard, by whom, and when they end.
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "live/federation.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::Role;
using test::Federation;
using test::Papers;

// Follows on the federation's client thread; the test waits here for what comes.
class Ear {
 public:
  Ear(Federation& federation, const Papers& who, int64_t after) : federation_(federation) {
    auto client = net::Client::create(federation.client().poll(), federation.options(who));
    client_ = std::move(*client);
    wire_ = std::make_unique<wire::BrokerClient>(*client_);
    federation_.client().run([&] {
      stream_ = wire_->follow(
          after, {[this] { tell([&] { open_ = true; }); },
                  [this](const wire::EventBody& event) { tell([&] { events_.push_back(event); }); },
                  [this](const Error& why, const wire::SnapshotAnswer* shot) {
                    tell([&] {
                      end_ = why;
                      if (shot != nullptr) snapshot_ = *shot;
                    });
                  }});
      return true;
    });
  }
  ~Ear() {
    federation_.client().run([this] {
      stream_.reset();
      client_.reset();
      return true;
    });
  }

  bool wait_open() {
    return wait([this] { return open_; });
  }
  bool wait_end() {
    return wait([this] { return end_.has_value(); });
  }
  bool wait_count(const std::string& kind, int count) {
    return wait([&] {
      return std::count_if(events_.begin(), events_.end(), [&](const wire::EventBody& event) {
               return event.kind == kind;
             }) == count;
    });
  }
  std::vector<wire::EventBody> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  const std::optional<Error>& end() const { return end_; }
  const std::optional<wire::SnapshotAnswer>& snapshot() const { return snapshot_; }

 private:
  bool wait(const std::function<bool()>& until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), until);
  }
  template <class F>
  void tell(F f) {
    {
      const std::lock_guard lock(mutex_);
      f();
    }
    changed_.notify_all();
  }

  Federation& federation_;
  std::unique_ptr<net::Client> client_;
  std::unique_ptr<wire::BrokerClient> wire_;
  std::unique_ptr<wire::EventStream> stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::vector<wire::EventBody> events_;
  std::optional<Error> end_;
  std::optional<wire::SnapshotAnswer> snapshot_;
};

void publish(Federation& federation, const Papers& seller, int64_t sequence, int64_t units) {
  model::Pool pool = test::plain_pool();
  pool.id = PoolId(seller.name + "/standard");
  pool.capacity = pool.node.times(units);
  const wire::PoolPut body{pool, sequence, minutes(30), {}, 0, 0};
  EXPECT_EQ(
      federation.call(seller, Federation::put("/v1/pools/" + pool.id.text, model::write_json(body)))
          .status,
      200);
}

TEST(Streams, EachHearsItsOwnAndTheOperatorAll) {
  Federation federation;
  const Papers one = federation.join("edge-1", {Role::provider});
  const Papers two = federation.join("edge-2", {Role::provider});
  Ear ear_one(federation, one, -1);
  Ear ear_boss(federation, federation.boss(), -1);
  ASSERT_TRUE(ear_one.wait_open() && ear_boss.wait_open());
  publish(federation, two, 1, 1);
  publish(federation, one, 1, 1);
  ASSERT_TRUE(ear_one.wait_count("pool-published", 1));
  for (const wire::EventBody& event : ear_one.events()) {
    EXPECT_EQ(event.provider.text, "edge-1");
    EXPECT_TRUE(event.by.empty() && event.request.empty()) << "who did it is for overseers";
  }
  ASSERT_TRUE(ear_boss.wait_count("pool-published", 2));
  for (const wire::EventBody& event : ear_boss.events()) EXPECT_FALSE(event.by.empty());
}

TEST(Streams, WhoComesBackMissesNothing) {
  Federation federation;
  const Papers seller = federation.join("edge-1", {Role::provider});
  publish(federation, seller, 1, 1);
  int64_t seen = 0;
  {
    Ear ear(federation, seller, 0);
    ASSERT_TRUE(ear.wait_count("pool-published", 1));
    seen = ear.events().back().sequence;
  }
  publish(federation, seller, 2, 2);
  federation.stop();
  federation.start();  // from the store now, not from memory
  publish(federation, seller, 3, 3);
  Ear again(federation, seller, seen);
  ASSERT_TRUE(again.wait_count("pool-published", 2));
  int64_t last = seen;
  for (const wire::EventBody& event : again.events()) {
    EXPECT_GT(event.sequence, last);
    last = event.sequence;
  }
}

TEST(Streams, ALogThatHasBecomeShorterIsToldWithASnapshot) {
  Federation federation;
  const Papers seller = federation.join("edge-1", {Role::provider});
  publish(federation, seller, 1, 1);
  Ear ear(federation, seller, 1'000'000);
  ASSERT_TRUE(ear.wait_end());
  EXPECT_EQ(ear.end()->code, Code::gone);
  ASSERT_TRUE(ear.snapshot());
  EXPECT_EQ(ear.snapshot()->pools.size(), 1U);
  EXPECT_GT(ear.snapshot()->sequence, 0);
}

TEST(Streams, RevokingCutsWhatIsOpenAndRefusesWhatComes) {
  Federation federation;
  const Papers seller = federation.join("edge-1", {Role::provider});
  Ear ear(federation, seller, -1);
  ASSERT_TRUE(ear.wait_open());
  EXPECT_EQ(
      federation.call(federation.boss(), Federation::post("/v1/identities/edge-1/revoke")).status,
      200);
  ASSERT_TRUE(ear.wait_end());
  const auto refused = federation.call(seller, Federation::get("/v1/whoami"));
  EXPECT_EQ(refused.status, 401);
  EXPECT_NE(refused.body.find("revoked"), std::string::npos) << refused.body;
}

TEST(Streams, AnIdentityHasOnlySoMany) {
  Federation federation([](services::BrokerConfig& config) { config.streams = 2; });
  const Papers seller = federation.join("edge-1", {Role::provider});
  Ear one(federation, seller, -1);
  Ear two(federation, seller, -1);
  ASSERT_TRUE(one.wait_open() && two.wait_open());
  Ear three(federation, seller, -1);
  ASSERT_TRUE(three.wait_end());
  EXPECT_EQ(three.end()->code, Code::over_quota);
}

}  // namespace
}  // namespace spillway
