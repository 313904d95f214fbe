// spillway_crash: kills stores in the middle of their work and looks at what they leave.
//
// Each round two processes open one file and commit to the same few pools as fast as they can, with
// several commits on their way at once. Every acknowledgement goes through a pipe to the parent,
// which kills one or both after a random number of them, at no matter what they are doing then. It
// opens the file with the normal code and checks that all that was acknowledged is there, that
// nothing is there in part, and that versions and events add up.
//
// As many rounds again are with a whole broker, killed while buyers ask it over TLS.
//
//   spillway_crash [--rounds <n>] [--seed <n>]
#include <csignal>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/word.h"
#include "crash/worker.h"
#include "live/kill_rounds.h"
#include "support/store_driver.h"
#include "support/temporary_folder.h"

namespace spillway::crash {
namespace {

using namespace test;

constexpr int k_rounds_per_file = 10;

struct Child {
  pid_t pid = -1;
  int pipe = -1;
  bool alive = true;
};

struct Totals {
  int64_t acknowledged = 0;
  int64_t unanswered_there = 0;
  int64_t conflicts = 0;
};

// One file's life, over several rounds.
class File {
 public:
  File(std::mt19937_64& random, Totals& totals) : random_(random), totals_(totals) {}

  // What is wrong; empty: nothing.
  std::string round(int number) {
    std::vector<Child> children;
    for (int i = 0; i < 2; ++i) {
      auto child = start(number, i);
      if (child.pid < 0) return "fork failed";
      children.push_back(child);
    }
    // 0: while they are still opening the file.
    const size_t first = acks_.size() + random_() % 4 * (random_() % 100);
    std::string wrong = listen(children, first);
    if (random_() % 2 == 0 && wrong.empty()) {
      kill_child(children[random_() % 2]);
      wrong = listen(children, acks_.size() + random_() % 50);
    }
    for (Child& child : children) kill_child(child);
    const std::string last = listen(children, SIZE_MAX);  // what was still in the pipes
    for (const Child& child : children) {
      close(child.pipe);
      waitpid(child.pid, nullptr, 0);
    }
    if (!wrong.empty() || !last.empty()) return wrong + last;
    return look();
  }

 private:
  Child start(int round, int index) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    std::fflush(nullptr);
    const uint64_t seed = random_();
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      work(folder_ / "market.db", seed, round * 1'000'000 + index * 500'000, ends[1]);
      _exit(1);
    }
    close(ends[1]);
    return {pid, ends[0], true};
  }

  static void kill_child(Child& child) {
    if (child.alive) kill(child.pid, SIGKILL);
    child.alive = false;
  }

  // Takes in acknowledgements until there are `enough`, or nobody is left to send any.
  std::string listen(const std::vector<Child>& children, size_t enough) {
    std::set<int> open;
    for (const Child& child : children) open.insert(child.pipe);
    while (!open.empty() && acks_.size() < enough) {
      std::vector<pollfd> waits;
      for (const int pipe : open) waits.push_back({pipe, POLLIN, 0});
      if (poll(waits.data(), waits.size(), 60'000) <= 0) return "a worker hangs";
      for (const pollfd& wait : waits) {
        if (wait.revents == 0) continue;
        Message message{};
        const ssize_t got = read(wait.fd, &message, sizeof message);
        if (got == 0) open.erase(wait.fd);
        if (got == 0 && enough != SIZE_MAX && is_alive(children, wait.fd)) {
          return "a worker died by itself";
        }
        if (got != sizeof message) continue;
        if (message.kind == Message::Kind::failed) return std::string(message.text);
        if (message.kind == Message::Kind::conflict) ++totals_.conflicts;
        if (message.kind == Message::Kind::acknowledged) acks_[message.number] = message.event;
      }
    }
    return {};
  }

  static bool is_alive(const std::vector<Child>& children, int pipe) {
    for (const Child& child : children) {
      if (child.pipe == pipe) return child.alive;
    }
    return false;
  }

  std::string look() {
    StoreDriver driver;
    if (auto why = driver.open(folder_ / "market.db"); !why.empty()) return why;
    const store::RecoveryReport& report = driver.store().recovery_report();
    if (!report.is_clean()) return "recovery: " + to_text(report);
    const auto verified = driver.verify();
    if (!verified || !verified->is_clean()) return "verify found damage";
    const auto events = driver.events_after(0);
    if (!events) return events.error().message();
    host::Load load;
    load.scans.resize(2);
    load.scans[0].by = load.scans[1].by = host::Scan::By::all;
    load.scans[0].limit = load.scans[1].limit = INT32_MAX;
    load.scans[1].kind = market::Kind::request;
    for (int p = 0; p < k_pools; ++p) load.keys.push_back(market::key_of(sample_pool_id(p)));
    const auto state = driver.load(load);
    if (!state) return state.error().message();
    return compare(*state, *events);
  }

  std::string compare(const host::Snapshot& state, const std::vector<market::Event>& events) {
    std::map<std::string, int64_t> event_of;
    for (const market::Event& event : events) event_of[event.subject] = event.sequence;
    if (event_of.size() != events.size()) return "a commit left two events";
    std::set<std::string> contracts;
    std::map<std::string, int64_t> sold;
    for (const host::Row& row : state.found[0]) {
      contracts.insert(row.key.id);
      ++sold[std::get<market::Shared<model::Contract>>(row.record)->pool.text];
      if (!event_of.contains(row.key.id)) return "contract " + row.key.id + " lacks its event";
    }
    if (contracts.size() != events.size()) return "an event lacks its contract";
    if (state.found[1].size() != contracts.size()) return "contracts and requests differ in number";
    for (const host::Row& row : state.found[1]) {
      const auto& request = *std::get<market::Shared<market::RequestRecord>>(row.record);
      if (!contracts.contains(request.grants[0].contract.text)) {
        return "request " + row.key.id + " lacks its contract";
      }
    }
    // Whoever sold on a pool counted on from the one before it.
    for (const host::Row& row : state.rows) {
      const auto* pool = std::get_if<market::Shared<market::PoolRecord>>(&row.record);
      if ((pool == nullptr ? 0 : (*pool)->sequence) != sold[row.key.id]) {
        return "pool " + row.key.id + " does not count what was sold on it";
      }
    }
    for (const auto& [number, event] : acks_) {
      const std::string id = sample_contract_id(number).text;
      if (!contracts.contains(id)) return "contract " + id + " was acknowledged and is lost";
      if (event_of[id] != event) return "contract " + id + " has another event than it was told";
    }
    totals_.acknowledged += static_cast<int64_t>(acks_.size()) - counted_;
    counted_ = static_cast<int64_t>(acks_.size());
    const auto unanswered = static_cast<int64_t>(contracts.size()) - counted_;
    totals_.unanswered_there += unanswered - unanswered_;
    unanswered_ = unanswered;
    return {};
  }

  std::mt19937_64& random_;
  Totals& totals_;
  TemporaryFolder folder_;
  std::map<int, int64_t> acks_;  // number of the contract → its event
  int64_t counted_ = 0;
  int64_t unanswered_ = 0;
};

int run(int rounds, uint64_t seed) {
  std::mt19937_64 random(seed);
  Totals totals;
  std::unique_ptr<File> file;
  for (int round = 0; round < rounds; ++round) {
    if (round % k_rounds_per_file == 0) file = std::make_unique<File>(random, totals);
    // Numbers start anew with the file, as far as contracts' ids reach.
    if (auto wrong = file->round(round % k_rounds_per_file); !wrong.empty()) {
      std::fprintf(stderr, "crash: FAILED in round %d of --rounds %d --seed %llu: %s\n", round + 1,
                   rounds, static_cast<unsigned long long>(seed), wrong.c_str());
      return 1;
    }
  }
  std::printf(
      "crash: ok: %d rounds, 2 processes killed in each; %lld commits acknowledged, none lost; "
      "%lld were written and killed before the answer, all of them whole; %lld conflicts\n",
      rounds, static_cast<long long>(totals.acknowledged),
      static_cast<long long>(totals.unanswered_there), static_cast<long long>(totals.conflicts));
  return 0;
}

int run_brokers(int rounds, uint64_t seed) {
  const KillReport report = kill_brokers(rounds, seed);
  if (!report.broken.empty()) {
    std::fprintf(stderr, "crash: FAILED after %d kills of a broker, --seed %llu: %s\n",
                 report.rounds, static_cast<unsigned long long>(seed), report.broken.c_str());
    return 1;
  }
  std::printf(
      "crash: ok: a broker killed %d times under load; %lld holds acknowledged, none lost; %lld "
      "were "
      "written and killed before the answer\n",
      report.rounds, static_cast<long long>(report.acknowledged),
      static_cast<long long>(report.unanswered_there));
  return 0;
}

}  // namespace
}  // namespace spillway::crash

int main(int argc, char** argv) {
  spillway::cli::Program program(
      "Kills stores and brokers in the middle of their work and looks at what they leave.");
  int rounds = 20;
  uint64_t seed = std::random_device()();
  const spillway::cli::Word word = program.word();
  word.option("--rounds", rounds, "how often").positive();
  word.option("--seed", seed, "of the choices; the processes' timing stays their own");
  word.run([&] {
    const int stores = spillway::crash::run(rounds, seed);
    return stores != 0 ? stores : spillway::crash::run_brokers(rounds, seed);
  });
  return program.read(argc, argv)();
}
