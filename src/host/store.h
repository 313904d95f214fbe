// Store: the port behind which the market's state lives. Any number of brokers share one.
//
// Calls return at once; answers come on the caller's loop, in any order, exactly once. A failed
// load changed nothing. A failed commit means one of two things, and the code says which:
//   conflict     nothing was written: an expectation did not hold; load and decide again
//   unavailable  the outcome is unknown; transitions are idempotent, so load and decide again
// A commit is acknowledged only when it would survive loss of power.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "market/events.h"
#include "market/records.h"

namespace spillway::host {

struct Row {
  market::Key key;
  int64_t version = 0;  // 0: there is no such row
  market::Record record;
};

// Rows found otherwise than by key (market::Facets): live ones, but for bought and sold.
struct Scan {
  // provider: whose pool the group is. Contracts are sold from the pools of one, bought by another.
  // bought, sold: contracts that ran and have ended, by their owner or provider, in order of their
  // end.
  enum class By { group, owner, provider, due, all, bought, sold };
  market::Kind kind = market::Kind::contract;
  By by = By::group;
  std::string name;   // of the group, owner or provider
  Instant due_until;  // inclusive
  // bought, sold: that ended then or later. For paging, those that ended just then and have a
  // greater id than `after`, and all that ended later.
  Instant ended_from;
  std::string after;  // not By::due: rows with a greater id, in order of id, for paging
  int32_t limit = 1000;
};

struct Load {
  std::vector<market::Key> keys;
  std::vector<Scan> scans;
  // A list that somebody wants to see. What decisions wait for is served before it; it is served
  // all the same, a little at a time.
  bool may_wait = false;
};

// One consistent state: everything in it was true at the same commit, and is durable: whoever read
// it may act on it without a commit of its own (an answer to a retry, a refusal).
struct Snapshot {
  Instant now;              // the store's time; never before the time of an earlier commit
  int64_t first_event = 1;  // sequence of the oldest event that is kept; last_event + 1: none is
  int64_t last_event = 0;   // sequence of the newest event
  std::vector<Row> rows;    // one for each key, in order
  std::vector<std::vector<Row>> found;  // one list for each scan; due ones first due, first
};

struct Expectation {
  market::Key key;
  int64_t version = 0;
};

struct Put {
  market::Key key;
  market::Record record;  // absent: delete
};

struct Commit {
  Instant at;                             // the Snapshot::now that was decided on
  std::vector<Expectation> expectations;  // every row that was read or is written
  // Their version becomes the number of this commit, which the store counts upwards for ever: a row
  // that is deleted and made again never has a version that it had before.
  std::vector<Put> puts;
  std::vector<market::Event> events;  // sequence numbers are given by the store
};

struct Committed {
  int64_t first_event = 0;  // first_event > last_event: there were none
  int64_t last_event = 0;
  int64_t version = 0;  // of the rows that were put
};

struct EventsAsked {
  int64_t after = 0;
  int32_t limit = 0;
  bool may_wait = false;  // see Load; a broker that keeps up with the log may not
};

template <class T>
using Then = std::function<void(Result<T>)>;

class Store {
 public:
  virtual ~Store() = default;
  virtual void load(Load what, Then<Snapshot> then) = 0;
  virtual void commit(Commit what, Then<Committed> then) = 0;
  // Oldest first. `gone`: some of them are forgotten.
  virtual void events_after(const EventsAsked& asked, Then<std::vector<market::Event>> then) = 0;
  // Forgets the oldest events, as far as they lie before `before`, at most so many. Answers the
  // sequence of the oldest that is kept, last_event + 1 when none is.
  virtual void forget_events(Instant before, int32_t at_most, Then<int64_t> then) = 0;
};

// How every store refuses events_after() when the asker would miss some.
inline tl::unexpected<Error> events_gone(int64_t after, int64_t first) {
  return fail(Code::gone, fmt::format("events after {}", after),
              fmt::format("the log begins at {}, what came before is forgotten", first),
              "take a snapshot and go on from there");
}

}  // namespace spillway::host
