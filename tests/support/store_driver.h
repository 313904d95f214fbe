// A store and the loop that it answers on, as plain calls that wait.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite_store.h"
#include "support/sample_records.h"
#include "support/waiting_loop.h"

namespace spillway::test {

class StoreDriver {
 public:
  // Empty: it opened. Else why not.
  std::string open(const std::string& path, store::SqliteOptions options = sample_options()) {
    store_.reset();
    auto opened = store::SqliteStore::open(path, std::move(options), loop_);
    if (!opened) return opened.error().message();
    store_ = std::move(*opened);
    return {};
  }
  void close() { store_.reset(); }

  static store::SqliteOptions sample_options() {
    store::SqliteOptions options;
    options.clock = [] { return k_sample_time; };
    return options;
  }

  Result<host::Committed> commit(host::Commit what) {
    return loop_.wait_for<host::Committed>(
        [&](auto then) { store_->commit(std::move(what), std::move(then)); });
  }
  Result<host::Snapshot> load(host::Load what) {
    return loop_.wait_for<host::Snapshot>(
        [&](auto then) { store_->load(std::move(what), std::move(then)); });
  }
  Result<std::vector<market::Event>> events_after(int64_t sequence, int32_t limit = INT32_MAX) {
    return loop_.wait_for<std::vector<market::Event>>([&](auto then) {
      store_->events_after({sequence, limit}, std::move(then));
    });
  }
  Result<int64_t> forget_events(Instant before, int32_t at_most) {
    return loop_.wait_for<int64_t>(
        [&](auto then) { store_->forget_events(before, at_most, std::move(then)); });
  }
  Result<store::Verification> verify() {
    return loop_.wait_for<store::Verification>([&](auto then) { store_->verify(std::move(then)); });
  }
  int64_t version(const market::Key& key) {
    auto snapshot = load({{key}, {}});
    return snapshot ? snapshot->rows[0].version : -1;
  }

  store::SqliteStore& store() { return *store_; }
  WaitingLoop& loop() { return loop_; }

 private:
  WaitingLoop loop_;
  std::unique_ptr<store::SqliteStore> store_;
};

// A contract, the request that it answers and an event: what the market writes most.
inline host::Commit sample_hold(int n) {
  host::Commit commit;
  commit.at = k_sample_time;
  const market::RequestRecord request = sample_request(n);
  const market::Key request_key = market::request_key(request.buyer, request.key);
  const market::Key contract_key = market::key_of(sample_contract_id(n));
  commit.expectations = {{contract_key, 0}, {request_key, 0}};
  commit.puts = {{contract_key, shared(sample_contract(n))}, {request_key, shared(request)}};
  commit.events = {sample_event(n)};
  return commit;
}

// The pool `n` as of `sequence`, which has to have version `expected`.
inline host::Commit sample_publish(int n, int64_t expected, int64_t sequence) {
  host::Commit commit;
  commit.at = k_sample_time;
  const market::Key key = market::key_of(sample_pool_id(n));
  commit.expectations = {{key, expected}};
  commit.puts = {{key, shared(sample_pool(n, sequence))}};
  commit.events = {sample_event(n)};
  return commit;
}

}  // namespace spillway::test
