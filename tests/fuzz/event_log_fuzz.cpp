// Any bytes as rows and events of a store: what recovery accepts is a fixed point of the codec,
// everything else is set aside with a reason, and nothing crashes.
//
// An input is a list of entries: one byte that chooses the kind (7: an event) and whether the row
// lies under its own key, then text up to the next NUL. The texts go to judge_row and judge_event,
// and then into a real store (in memory), which recovers and is verified.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "market/record_codec.h"
#include "store/migrations.h"
#include "store/recovery.h"
#include "store/sqlite.h"
#include "store/tables.h"

namespace {

using namespace spillway;

struct Entry {
  int kind = 0;  // market::k_kinds: an event
  int64_t version = 1;
  std::string id;
  std::string body;
};

std::vector<Entry> entries_of(std::string_view bytes) {
  std::vector<Entry> entries;
  while (!bytes.empty() && entries.size() < 16) {
    const auto choice = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    const size_t end = bytes.find('\0');
    Entry entry;
    // Three bits for what was there first, the fourth for what came later: inputs keep their
    // meaning.
    entry.kind = choice % 8 == 7 ? market::k_kinds : choice % 8;
    if ((choice & 0x48) == 0x08) entry.kind = static_cast<int>(market::Kind::identity) + choice % 2;
    // What was signed came last of all: by its first word.
    if ((choice & 0x58) == 0x18) entry.kind = static_cast<int>(market::Kind::card) + choice % 8 % 5;
    entry.version = (choice & 0x40) != 0 ? 0 : 1;
    entry.body = std::string(bytes.substr(0, end));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    // Under its own key, as far as it has one; else under a wrong one.
    if ((choice & 0x80) != 0) {
      entry.id = "wrong-" + std::to_string(entries.size());
    } else {
      for (const std::string_view mark : {"\"id\":\"", "\"name\":\"", "\"key\":\""}) {
        const size_t at = entry.body.find(mark);
        if (at == std::string::npos) continue;
        const size_t from = at + mark.size();
        entry.id += entry.body.substr(from, entry.body.find('"', from) - from);
        break;
      }
      if (entry.kind == static_cast<int>(market::Kind::epoch)) entry.id = "epoch";
      if (entry.kind == static_cast<int>(market::Kind::heart)) entry.id = "heart";
      if (entry.kind == static_cast<int>(market::Kind::request)) {
        const size_t at = entry.body.find("\"buyer\":\"");
        if (at != std::string::npos) {
          entry.id =
              entry.body.substr(at + 9, entry.body.find('"', at + 9) - at - 9) + "/" + entry.id;
        }
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Whatever was accepted reads back as itself from what it is written as.
void check_fixed_point(market::Kind kind, const market::Record& record) {
  const std::string text = market::encode(record);
  const auto again = market::decode(kind, text);
  SPILLWAY_CHECK(again.has_value(), "an accepted row does not decode once written");
  SPILLWAY_CHECK(market::encode(*again) == text, "an accepted row does not re-encode identically");
  (void)market::facets_of(record);
}

bool is_accepted(const Entry& entry, int64_t sequence) {
  if (entry.kind == market::k_kinds) {
    const auto bare = market::decode_event(entry.body);
    if (!bare) {
      SPILLWAY_CHECK(!bare.error().message().empty(), "an event was refused without a reason");
      return false;
    }
    const std::string text = market::encode(*bare);
    const auto again = market::decode_event(text);
    SPILLWAY_CHECK(again.has_value() && *again == *bare, "an accepted event does not read back");
    return store::judge_event(sequence, bare->at, entry.body).has_value();
  }
  const auto kind = static_cast<market::Kind>(entry.kind);
  const auto record = store::judge_row({kind, entry.id}, entry.version, entry.body);
  if (!record) {
    SPILLWAY_CHECK(!record.error().message().empty(), "a row was refused without a reason");
    return false;
  }
  check_fixed_point(kind, *record);
  return true;
}

void insert(store::Connection& connection, const Entry& entry, int64_t& last_event) {
  if (entry.kind == market::k_kinds) {
    ++last_event;
    auto event = market::decode_event(entry.body);
    auto statement = connection.prepare("INSERT INTO event VALUES (?1, ?2, ?3)");
    SPILLWAY_CHECK(statement.has_value(), "prepare");
    const int64_t at = event ? event->at.ms : 0;
    SPILLWAY_CHECK(statement->run().bind(1, last_event).bind(2, at).bind(3, entry.body).finish(),
                   "insert");
    return;
  }
  const auto kind = static_cast<market::Kind>(entry.kind);
  auto statement =
      connection.prepare("INSERT OR REPLACE INTO " + std::string(store::table_of(kind)) +
                         " VALUES (?1, ?2, 1, '', '', NULL, ?3)");
  SPILLWAY_CHECK(statement.has_value(), "prepare");
  SPILLWAY_CHECK(
      statement->run().bind(1, entry.id).bind(2, entry.version).bind(3, entry.body).finish(),
      "insert");
}

// A store of its own for the process; every input starts from none.
store::Connection& connection() {
  static std::unique_ptr<store::Connection> opened = [] {
    auto result = store::Connection::open(":memory:", {});
    SPILLWAY_CHECK(result.has_value(), "open");
    SPILLWAY_CHECK(store::migrate(**result, store::migrations()).has_value(), "migrate");
    return std::move(*result);
  }();
  return *opened;
}

void empty(store::Connection& store) {
  for (int kind = 0; kind < market::k_kinds; ++kind) {
    const auto table = store::table_of(static_cast<market::Kind>(kind));
    SPILLWAY_CHECK(store.execute("DELETE FROM " + std::string(table)).has_value(), "delete");
  }
  SPILLWAY_CHECK(
      store
          .execute("DELETE FROM event; DELETE FROM quarantine; "
                   "UPDATE meta SET at = 0, last_commit = 1, first_event = 1, last_event = 0, "
                   "quarantined = 0")
          .has_value(),
      "delete");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<Entry> entries = entries_of({reinterpret_cast<const char*>(data), size});
  store::Connection& store = connection();
  empty(store);
  int64_t last_event = 0;
  int64_t good_events = 0;
  for (const Entry& entry : entries) {
    const bool accepted = is_accepted(entry, last_event + 1);
    if (entry.kind == market::k_kinds && accepted) ++good_events;
    insert(store, entry, last_event);
  }
  SPILLWAY_CHECK(
      store.execute("UPDATE meta SET last_event = " + std::to_string(last_event)).has_value(),
      "meta");

  const auto report = store::recover(store, {0});
  SPILLWAY_CHECK(report.has_value(), "recovery failed");
  for (const auto& row : report->quarantined) {
    SPILLWAY_CHECK(!row.reason.empty(), "a row is in quarantine without a reason");
  }
  SPILLWAY_CHECK(report->event_gaps.empty(), "a gap was found where there is none");
  SPILLWAY_CHECK(last_event - good_events == static_cast<int64_t>(report->damaged_events.size()),
                 "recovery and judge_event disagree");
  // What is left is sound, and every row went one way or the other.
  const auto verified = store::verify(store);
  SPILLWAY_CHECK(verified.has_value() && verified->damaged.empty() && verified->file.empty(),
                 "recovery left something damaged behind");
  SPILLWAY_CHECK(verified->rows + static_cast<int64_t>(report->quarantined.size()) == report->rows,
                 "recovery lost a row");
  return 0;
}
