// Rows, events and the meta row, between the nouns and SQL. Every statement is prepared once. No
// transactions here: who calls has opened one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/store.h"
#include "market/records.h"
#include "store/record_cache.h"
#include "store/sqlite.h"

namespace spillway::store {

// What every transaction wants to know first.
struct Meta {
  Instant at;               // the latest commit's time
  int64_t last_commit = 0;  // its number: the version of the rows that it wrote
  int64_t first_event = 1;  // the oldest that is kept; last_event + 1 when none is
  int64_t last_event = 0;
  int64_t quarantined = 0;  // rows set aside; usually none, then nobody has to look
};

class Tables {
 public:
  explicit Tables(Connection& connection) : connection_(connection) {}

  Result<Meta> meta();
  Status set_meta(const Meta& meta);

  // A key in quarantine is an error: absent would mean that it may be made anew.
  Result<int64_t> version_of(const market::Key& key, const Meta& meta);
  Result<host::Row> read(const market::Key& key, const Meta& meta);
  // A row that cannot be read is left out by due or all, and an error otherwise.
  Result<std::vector<host::Row>> scan(const host::Scan& scan);
  // An absent record deletes the row.
  Status put(const market::Key& key, bool exists, int64_t version, const market::Record& record);

  Status append(const market::Event& event);
  // `gone` when some of them are forgotten.
  Result<std::vector<market::Event>> events_after(int64_t sequence, int32_t limit);
  // Deletes what host::Store::forget_events says; first_event in `meta` becomes the oldest kept.
  Status forget_events(Instant before, int32_t at_most, Meta& meta);

 private:
  enum class Use { version, read, insert, refresh, update, remove };
  static constexpr size_t k_uses = 6;
  using PerKind = std::array<Statement, market::k_kinds>;

  Result<Statement*> prepared(Statement& statement, std::string_view sql);
  Result<Statement*> prepared(Use use, market::Kind kind);
  Result<Statement*> prepared(const host::Scan& scan);
  Result<host::Row> decode(market::Key key, int64_t version, std::string_view body);
  Status check_not_quarantined(const market::Key& key, const Meta& meta);

  Connection& connection_;
  RecordCache cache_;
  std::array<PerKind, k_uses> by_use_;
  std::array<PerKind, 7> scans_;
  Statement meta_;
  Statement set_meta_;
  Statement quarantined_;
  Statement append_;
  Statement events_;
  Statement event_times_;
  Statement forget_;
};

inline std::string_view table_of(market::Kind kind) { return market::to_text(kind); }

}  // namespace spillway::store
