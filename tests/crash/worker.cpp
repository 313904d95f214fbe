#include "crash/worker.h"

#include <algorithm>
#include <cstdlib>
#include <random>

#include <unistd.h>

#include "services/service_loop.h"
#include "store/sqlite_store.h"
#include "support/store_driver.h"

namespace spillway::crash {
namespace {

using namespace test;

constexpr int k_on_their_way = 6;

class Worker {
 public:
  Worker(store::SqliteStore& store, uint64_t seed, int first, int pipe)
      : store_(store), random_(seed), next_(first), pipe_(pipe) {}

  // Loads a pool, then sells on it with the version that was seen.
  void sell() {
    const int pool = static_cast<int>(random_() % k_pools);
    store_.load({{market::key_of(sample_pool_id(pool))}, {}},
                [this, pool](Result<host::Snapshot> seen) {
                  if (!seen) return fail(seen.error());
                  commit(pool, seen->rows[0]);
                });
  }

  void fail(const Error& error) {
    Message message{Message::Kind::failed, 0, 0, {}};
    const std::string text = error.message();
    text.copy(message.text, sizeof message.text - 1);
    tell(message);
    _exit(1);
  }

 private:
  void commit(int pool, const host::Row& seen) {
    const auto* record = std::get_if<market::Shared<market::PoolRecord>>(&seen.record);
    const int64_t sequence = record == nullptr ? 1 : (*record)->sequence + 1;
    const int number = next_++;
    host::Commit what = sample_hold(number);
    what.puts[0].record = shared(sample_contract(number, pool));
    const market::Key key = market::key_of(sample_pool_id(pool));
    what.expectations.push_back({key, seen.version});
    what.puts.push_back({key, shared(sample_pool(pool, sequence))});
    store_.commit(std::move(what), [this, number](Result<host::Committed> result) {
      if (result) {
        tell({Message::Kind::acknowledged, number, result->first_event, {}});
      } else if (result.error().code == Code::conflict) {
        tell({Message::Kind::conflict, number, 0, {}});
      } else {
        return fail(result.error());
      }
      sell();
    });
  }

  void tell(const Message& message) {
    if (write(pipe_, &message, sizeof message) != sizeof message) _exit(1);
  }

  store::SqliteStore& store_;
  std::mt19937_64 random_;
  int next_;
  int pipe_;
};

}  // namespace

void work(const std::string& path, uint64_t seed, int first, int pipe) {
  services::LoneLoop loop;
  store::SqliteOptions options = StoreDriver::sample_options();
  options.busy_timeout = seconds(60);
  // Often, so that many are killed while the log is copied into the file.
  options.checkpoint_pages = 10 + static_cast<int64_t>(seed % 100);
  auto opened = store::SqliteStore::open(path, options, loop);
  if (!opened) {
    Message message{Message::Kind::failed, 0, 0, {}};
    opened.error().message().copy(message.text, sizeof message.text - 1);
    if (write(pipe, &message, sizeof message) < 0) _exit(2);
    _exit(1);
  }
  Worker worker(**opened, seed, first, pipe);
  for (int i = 0; i < k_on_their_way; ++i) worker.sell();
  loop.run();
  std::abort();  // nobody stops the loop
}

}  // namespace spillway::crash
