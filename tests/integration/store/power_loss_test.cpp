// Law 2, Durable: what was acknowledged survives loss of power and of the disk's unsynced writes.
//
// A store runs commits on a disk that forgets (support/lossy_vfs.h); the power goes at a random
// operation, at any time from the making of the file on; the normal code opens what is left, and
// the run goes on from there, several times over. After each loss: every acknowledged commit is
// there, completely; the others are there completely or not at all; the log of events has no gap.
// That this test can fail is shown by stores that do not sync, and by disks that lie about it.
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "store/sqlite_store.h"
#include "support/lossy_vfs.h"
#include "support/sample_records.h"
#include "support/waiting_loop.h"

namespace spillway::store {
namespace {

using namespace test;

constexpr size_t k_pools = 6;
constexpr const char* k_file = "market.db";

// A commit makes a contract and the request that it answers, changes a pool, sometimes forgets the
// request of an older one, and says so in an event.
struct Made {
  int pool = 0;
  int forgets = -1;  // number of the commit whose request it removes
  bool acknowledged = false;
  bool is_settled = false;  // a loss lies behind it: what is there now stays
  bool is_there = false;
  int64_t version = 0;  // of its contract, and of all that it wrote
  host::Committed committed = {};
};

// How often what had to be met was met.
struct Tally {
  int cut_while_opening = 0;
  int acknowledged = 0;
  int unanswered_there = 0;
  int unanswered_gone = 0;
};

class Life {
 public:
  Life(uint64_t seed, Synchronous synchronous, bool lying_disk, Tally& tally)
      : random_(seed),
        disk_("lossy-" + std::to_string(seed)),
        synchronous_(synchronous),
        tally_(tally) {
    if (lying_disk) disk_.lie_about_syncs();
  }

  // What was lost or torn; empty: nothing.
  std::string run() {
    for (int generation = 0; generation < 4; ++generation) {
      // Sometimes so early that the file is still being made, sometimes not at all.
      const auto operations = static_cast<int64_t>(random_() % (generation == 0 ? 300 : 150));
      disk_.cut_after(1 + operations, random_() % 4 == 0);
      work();
      const bool only_the_process = random_() % 3 == 0;
      end(only_the_process);
      std::string wrong = look();
      // The power goes after someone has read: nothing of what was seen may be taken back.
      if (wrong.empty() && random_() % 2 == 0) {
        end(false);
        wrong = look();
      }
      store_.reset();
      if (!wrong.empty()) return "generation " + std::to_string(generation) + ": " + wrong;
    }
    return {};
  }

 private:
  void end(bool only_the_process) {
    disk_.cut_now();
    store_.reset();
    if (only_the_process) {
      disk_.restart_process();
    } else {
      disk_.restart(random_);
    }
  }

  bool open(Synchronous synchronous) {
    SqliteOptions options;
    options.synchronous = synchronous;
    options.vfs = disk_.vfs();
    options.clock = [] { return k_sample_time; };
    options.max_group = 1 + random_() % 8;
    options.checkpoint_pages = 20 + static_cast<int64_t>(random_() % 200);
    auto opened = SqliteStore::open(k_file, options, loop_);
    if (opened) store_ = std::move(*opened);
    if (!opened) open_error_ = opened.error().message();
    return opened.has_value();
  }

  void work() {
    if (!open(synchronous_)) {
      ++tally_.cut_while_opening;
      return;
    }
    while (!disk_.is_cut() && made_.size() < 400) {
      // One commit to each pool at a time: the next one must know the version.
      const size_t first = made_.size();
      if (!see_versions()) return;
      const size_t count = 1 + random_() % k_pools;
      size_t answered = 0;
      bool failed = false;
      for (size_t i = 0; i < count; ++i) {
        const int number = static_cast<int>(made_.size());
        made_.push_back({.pool = static_cast<int>(i), .forgets = forgettable()});
        store_->commit(commit_of(number), [this, number, &answered, &failed](auto result) {
          ++answered;
          Made& made = made_[static_cast<size_t>(number)];
          made.acknowledged = result.has_value();
          if (result) made.committed = *result;
          failed = failed || !result;
        });
      }
      loop_.run_until([&] { return answered == count; });
      if (failed) return;
      for (size_t i = first; i < made_.size(); ++i) made_[i].is_there = true;
      if (random_() % 40 == 0) return;  // the power goes while nothing is going on
    }
  }

  bool see_versions() {
    host::Load load;
    for (int p = 0; p < static_cast<int>(k_pools); ++p) {
      load.keys.push_back(market::key_of(sample_pool_id(p)));
    }
    const auto seen =
        loop_.wait_for<host::Snapshot>([&](auto then) { store_->load(load, std::move(then)); });
    if (!seen) return false;
    for (size_t p = 0; p < k_pools; ++p) versions_[p] = seen->rows[p].version;
    return true;
  }

  // An older commit whose request nobody has removed yet, or -1.
  int forgettable() {
    if (made_.empty() || random_() % 3 != 0) return -1;
    const int number = static_cast<int>(random_() % made_.size());
    const bool known = made_[static_cast<size_t>(number)].is_there;
    const bool has_version = made_[static_cast<size_t>(number)].version != 0;
    return known && has_version && forgotten_.insert(number).second ? number : -1;
  }

  static market::Key request_key(int number) {
    const market::RequestRecord request = sample_request(number);
    return market::request_key(request.buyer, request.key);
  }

  host::Commit commit_of(int number) {
    const Made& made = made_[static_cast<size_t>(number)];
    host::Commit commit;
    commit.at = k_sample_time + seconds(number);
    const market::Key contract = market::key_of(sample_contract_id(number));
    const market::Key pool = market::key_of(sample_pool_id(made.pool));
    commit.expectations = {
        {contract, 0}, {request_key(number), 0}, {pool, versions_[static_cast<size_t>(made.pool)]}};
    commit.puts = {{contract, shared(sample_contract(number, made.pool))},
                   {request_key(number), shared(sample_request(number))},
                   {pool, shared(sample_pool(made.pool, number + 1))}};
    if (made.forgets >= 0) {
      commit.expectations.push_back(
          {request_key(made.forgets), made_[static_cast<size_t>(made.forgets)].version});
      commit.puts.push_back({request_key(made.forgets), {}});
    }
    commit.events = {sample_event(number)};
    return commit;
  }

  std::string look() {
    if (!open(Synchronous::full)) return "it does not open: " + open_error_;
    if (!store_->recovery_report().quarantined.empty() ||
        !store_->recovery_report().reindexed.empty() ||
        !store_->recovery_report().event_gaps.empty()) {
      return "recovery found damage: " + to_text(store_->recovery_report());
    }
    const auto verified =
        loop_.wait_for<Verification>([this](auto then) { store_->verify(std::move(then)); });
    if (!verified) return "verify failed: " + verified.error().message();
    if (!verified->is_clean()) return "verify found damage";

    host::Load load;
    for (size_t i = 0; i < made_.size(); ++i) {
      load.keys.push_back(market::key_of(sample_contract_id(static_cast<int>(i))));
      load.keys.push_back(request_key(static_cast<int>(i)));
    }
    for (int p = 0; p < static_cast<int>(k_pools); ++p) {
      load.keys.push_back(market::key_of(sample_pool_id(p)));
    }
    const auto state =
        loop_.wait_for<host::Snapshot>([&](auto then) { store_->load(load, std::move(then)); });
    if (!state) return "load failed: " + state.error().message();
    const auto events = loop_.wait_for<std::vector<market::Event>>([&](auto then) {
      store_->events_after({0, INT32_MAX}, std::move(then));
    });
    if (!events) return "events failed: " + events.error().message();
    return compare(*state, *events);
  }

  std::string compare(const host::Snapshot& state, const std::vector<market::Event>& events) {
    const auto say = [](size_t number, const char* what) {
      return "commit " + std::to_string(number) + " " + what;
    };
    for (size_t i = 0; i < made_.size(); ++i) {
      const bool is_there = state.rows[2 * i].version != 0;
      if (made_[i].acknowledged && !is_there) return say(i, "was acknowledged and is lost");
      if (made_[i].is_there && !is_there)
        return say(i, "was there after the last loss and is lost");
      tally_.acknowledged += made_[i].acknowledged ? 1 : 0;
      if (!made_[i].acknowledged && !made_[i].is_there && !made_[i].is_settled) {
        ++(is_there ? tally_.unanswered_there : tally_.unanswered_gone);
      }
      if (made_[i].is_settled && made_[i].is_there != is_there) return say(i, "came back");
      made_[i].is_settled = true;
      made_[i].is_there = is_there;
      made_[i].version = state.rows[2 * i].version;
    }
    std::set<int> forgotten;
    for (const Made& made : made_) {
      if (made.is_there && made.forgets >= 0) forgotten.insert(made.forgets);
    }
    std::array<const Made*, k_pools> last{};
    std::array<int, k_pools> last_number{};
    size_t event = 0;
    int64_t last_version = 0;
    for (size_t i = 0; i < made_.size(); ++i) {
      const Made& made = made_[i];
      const int number = static_cast<int>(i);
      const int64_t request = state.rows[2 * i + 1].version;
      const bool has_request = made.is_there && !forgotten.contains(number);
      if (request != (has_request ? made.version : 0)) {
        return say(i, "is there in part: its request differs");
      }
      if (!made.is_there) continue;
      if (made.version <= last_version) return say(i, "has a version that was used before");
      last_version = made.version;
      last[static_cast<size_t>(made.pool)] = &made;
      last_number[static_cast<size_t>(made.pool)] = number;
      if (event >= events.size() || events[event].subject != sample_contract_id(number).text) {
        return say(i, "is there in part: its event is missing");
      }
      if (made.acknowledged && events[event].sequence != made.committed.first_event) {
        return say(i, "has an event of another number than it was told");
      }
      ++event;
    }
    if (event != events.size()) return "there are events of commits that are not there";
    for (size_t p = 0; p < k_pools; ++p) {
      const host::Row& row = state.rows[2 * made_.size() + p];
      if (row.version != (last[p] == nullptr ? 0 : last[p]->version)) {
        return "pool " + std::to_string(p) + " has another version than its last commit";
      }
      if (row.version == 0) continue;
      const auto& pool = *std::get<market::Shared<market::PoolRecord>>(row.record);
      if (pool.sequence != last_number[p] + 1) return "pool " + std::to_string(p) + " is older";
    }
    forgotten_ = forgotten;
    return {};
  }

  std::mt19937_64 random_;
  WaitingLoop loop_;
  LossyVfs disk_;
  Synchronous synchronous_;
  Tally& tally_;
  std::unique_ptr<SqliteStore> store_;
  std::string open_error_;
  std::vector<Made> made_;
  std::set<int> forgotten_;
  std::array<int64_t, k_pools> versions_{};
};

TEST(PowerLoss, NothingAcknowledgedIsLostAndNothingIsTorn) {
  Tally tally;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const std::string wrong = Life(seed, Synchronous::full, false, tally).run();
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
  EXPECT_GT(tally.cut_while_opening, 10);
  EXPECT_GT(tally.acknowledged, 1000);
  EXPECT_GT(tally.unanswered_there, 10);
  EXPECT_GT(tally.unanswered_gone, 10);
  RecordProperty("unanswered_there", tally.unanswered_there);
  RecordProperty("unanswered_gone", tally.unanswered_gone);
}

int losses(Synchronous synchronous, bool lying_disk) {
  int count = 0;
  Tally tally;
  for (uint64_t seed = 1001; seed <= 1030; ++seed) {
    count += Life(seed, synchronous, lying_disk, tally).run().empty() ? 0 : 1;
  }
  return count;
}

TEST(PowerLoss, AStoreThatDoesNotSyncIsFoundOut) { EXPECT_GT(losses(Synchronous::off, false), 10); }

TEST(PowerLoss, ADiskThatLiesAboutSyncsIsFoundOut) {
  EXPECT_GT(losses(Synchronous::full, true), 10);
}

}  // namespace
}  // namespace spillway::store
