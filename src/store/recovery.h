// What a store looks at before it serves anyone, and what it does about damage.
//
// Every live row must decode, hold its kind's invariants and lie under its own key; one that does
// not is moved to the table `quarantine` and named in the report. From then on its key loads as an
// error, so that nothing is sold on it and nothing is made in its place. Columns that are derived
// from a row (what it is indexed by) are mended in place. Of the events only the newest are read:
// starting takes time by what is live, not by the history. verify() reads everything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "market/events.h"
#include "market/records.h"
#include "store/sqlite.h"

namespace spillway::store {

struct Damaged {
  market::Key key;
  int64_t version = 0;
  std::string reason;
};

struct DamagedEvent {
  int64_t sequence = 0;
  std::string reason;
};

// Numbers that should be there, both inclusive.
struct EventGap {
  int64_t first = 0;
  int64_t last = 0;
  bool operator==(const EventGap&) const = default;
};

struct RecoveryReport {
  int64_t rows = 0;  // that were looked at
  int64_t last_event = 0;
  std::vector<Damaged> quarantined;    // now
  int64_t quarantined_before = 0;      // by earlier starts, and still there
  std::vector<std::string> reindexed;  // "contract <id>": derived columns were wrong
  std::vector<EventGap> event_gaps;
  std::vector<DamagedEvent> damaged_events;
  Duration
      clock_behind;  // our clock before the latest commit's time; the store's runs on from that

  bool is_clean() const;
};

// For people: one line for each thing that is wrong, after a line of counts.
std::string to_text(const RecoveryReport& report);

// The record, or why it cannot be one. Never believes a byte of it.
Result<market::Record> judge_row(const market::Key& key, int64_t version, std::string_view body);
Result<market::Event> judge_event(int64_t sequence, Instant at, std::string_view body);

// Makes durable all that can be read. A process that was killed may have left commits in the log
// that it had not synced yet; whoever reads them now will act on them, so no later loss of power
// may take them back. To be called before anything is read.
Status settle(Connection& connection);

Result<RecoveryReport> recover(Connection& connection, Instant now);

struct Verification {
  int64_t rows = 0;
  int64_t events = 0;
  std::vector<Damaged> damaged;
  std::vector<EventGap> event_gaps;
  std::vector<DamagedEvent> damaged_events;
  std::vector<std::string> file;  // what SQLite finds wrong with the file itself

  bool is_clean() const;
};

// Reads all rows and events, live or not; changes nothing. Takes time by the history.
Result<Verification> verify(Connection& connection);

}  // namespace spillway::store
