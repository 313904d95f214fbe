// BookHost: the loop that runs the book on a store. Commands in, batches through, answers out;
// a heartbeat, attending to what is due and forgetting old events on timers; retries with jitter.
// It keeps no state of the market: what it knows is in the store before anyone is answered.
//
// The same class runs in a broker, in the demo and in the simulator.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "host/batch.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "host/random.h"
#include "host/store.h"

namespace spillway::host {

struct BookOptions {
  market::Rules rules;
  size_t max_batch = 256;
  size_t max_queue = 4096;  // beyond it a command is turned away at once
  int max_tries = 12;       // of one batch, before its commands are answered "contended"
  Duration first_pause = milliseconds(2);  // after a failed try; doubles, with jitter
  Duration max_pause = seconds(1);
  Duration beat_every = seconds(1);
  Duration attend_every = milliseconds(500);
  int32_t attend_at_once = 256;
  Duration keep_events = hours(24 * 30);
  Duration forget_every = minutes(10);
  int32_t forget_at_once = 1000;
};

class BookHost {
 public:
  // Hears of every commit that this host made, after it is durable.
  using Listener = std::function<void(const Commit&, const Committed&)>;

  BookHost(Loop& loop, Store& store, Random& random, BookOptions options);
  ~BookHost();
  BookHost(const BookHost&) = delete;
  BookHost& operator=(const BookHost&) = delete;

  void start();  // the timers; the first beat goes before everything else

  // Answers exactly once, on the loop. `unavailable`: ask again, with the same key. What happens is
  // put on record as caused by `origin`.
  void submit(market::Command command, Reply reply, market::Origin origin = {});

  // Adds one; they hear in the order in which they came.
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  size_t queued() const { return queue_.size(); }
  // Why the store did not serve, until it has taken a commit again; the next beat is one.
  const Status& health() const { return health_; }

 private:
  void pump();
  void begin_batch();
  void load_more();
  void finish_batch();
  void commit_batch();
  void try_again(const Error& error);
  void part_batch();
  void end_batch();

  void beat_later();
  void attend_later();
  void find_due();
  void enqueue_due(const Snapshot& snapshot);
  void forget_later();
  void forget_events(int64_t first_kept);

  Loop& loop_;
  Store& store_;
  Random& random_;
  BookOptions options_;
  std::vector<Listener> listeners_;
  std::deque<Order> queue_;
  std::unique_ptr<Batch> batch_;  // at most one on its way
  Status health_;
  int tries_ = 0;
  size_t alone_ = 0;  // so many from the front of the queue get a batch each
  bool beat_due_ = true;
  bool has_beaten_ = false;
  Instant last_beat_;     // the store's time of the last one of ours that is durable
  size_t attending_ = 0;  // looks for what is due, and what they found, still on their way
  Duration store_ahead_;  // the store's clock less ours, as last seen
  std::unordered_map<market::Key, Instant> resting_;  // due rows that failed, until when
  Lifeline lifeline_;
};

}  // namespace spillway::host
