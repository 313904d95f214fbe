// FlakyStore: the Store port on rows in memory, that fails when it is told to.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "host/loop.h"
#include "host/store.h"
#include "support/memory_rows.h"

namespace spillway::test {

// What becomes of one call.
struct Trouble {
  enum class What {
    none,
    conflict,     // refused, nothing is written
    unavailable,  // nothing is written, but nobody can tell
    lost_answer,  // it is carried out, and answered as unavailable
    silence,      // it is carried out, and never answered
  };
  What what = What::none;
  Duration after;  // the answer takes that long
};

class FlakyStore final : public host::Store {
 public:
  explicit FlakyStore(host::Loop& loop) : loop_(loop) {}

  // Scripts for the next calls; when they are over, all goes well again.
  void trouble_loads(std::vector<Trouble> script) { loads_ = {script.begin(), script.end()}; }
  void trouble_commits(std::vector<Trouble> script) { commits_ = {script.begin(), script.end()}; }
  // Called before each commit is looked at: another broker may get in between.
  std::function<void()> before_commit;
  Duration ahead;  // its clock, of the loop's

  MemoryRows& rows() { return rows_; }
  int loads_seen = 0;
  int forgets_seen = 0;
  size_t events_read = 0;
  std::vector<host::Commit> written;

  host::Snapshot read(const host::Load& what) {
    host::Snapshot snapshot;
    snapshot.now = loop_.now() + ahead;
    snapshot.first_event = rows_.first_event();
    snapshot.last_event = rows_.last_event();
    for (const market::Key& key : what.keys) snapshot.rows.push_back(row(key));
    for (const host::Scan& scan : what.scans) snapshot.found.push_back(find(scan));
    return snapshot;
  }

  Result<host::Committed> write(const host::Commit& commit) {
    for (const auto& [key, version] : commit.expectations) {
      if (rows_.find(key).version != version) {
        return fail(Code::conflict, "store", "a row has changed meanwhile", "decide again");
      }
    }
    MemoryRows::Puts puts;
    for (const auto& [key, record] : commit.puts) puts.emplace_back(key, record);
    const int64_t first = rows_.last_event() + 1;
    rows_.commit(puts, commit.events);
    written.push_back(commit);
    return host::Committed{first, rows_.last_event(), rows_.last_commit()};
  }

  void load(host::Load what, host::Then<host::Snapshot> then) override {
    ++loads_seen;
    serve<host::Snapshot>(
        loads_, [&] { return Result<host::Snapshot>(read(what)); }, std::move(then));
  }

  void commit(host::Commit what, host::Then<host::Committed> then) override {
    if (before_commit) before_commit();
    serve<host::Committed>(
        commits_, [&] { return write(what); }, std::move(then));
  }

  void events_after(const host::EventsAsked& asked,
                    host::Then<std::vector<market::Event>> then) override {
    if (asked.after < rows_.first_event() - 1) {
      return loop_.post(
          [then = std::move(then), gone = host::events_gone(asked.after, rows_.first_event())] {
            then(gone);
          });
    }
    std::vector<market::Event> events;
    for (const market::Event& event : rows_.events()) {
      if (event.sequence <= asked.after || events.size() >= static_cast<size_t>(asked.limit)) {
        continue;
      }
      events.push_back(event);
    }
    events_read += events.size();
    loop_.post([then = std::move(then), events = std::move(events)] { then(events); });
  }

  void forget_events(Instant before, int32_t at_most, host::Then<int64_t> then) override {
    ++forgets_seen;
    int64_t first = rows_.first_event();
    for (const market::Event& event : rows_.events()) {
      if (event.at >= before || first - rows_.first_event() >= at_most) break;
      first = event.sequence + 1;
    }
    rows_.forget_events(first);
    loop_.post([then = std::move(then), first] { then(first); });
  }

 private:
  template <class T, class Serve>
  void serve(std::deque<Trouble>& script, Serve carry_out, host::Then<T> then) {
    Trouble trouble;
    if (!script.empty()) {
      trouble = script.front();
      script.pop_front();
    }
    using What = Trouble::What;
    Result<T> answer = fail(Code::unavailable, "store", "it did not answer", "ask again");
    if (trouble.what == What::none) answer = carry_out();
    if (trouble.what == What::lost_answer || trouble.what == What::silence) carry_out().value();
    if (trouble.what == What::conflict) {
      answer = fail(Code::conflict, "store", "a row has changed meanwhile", "decide again");
    }
    if (trouble.what == What::silence) return;
    host::Task tell = [then = std::move(then), answer = std::move(answer)] { then(answer); };
    if (trouble.after.ms == 0) return loop_.post(std::move(tell));
    loop_.after(trouble.after, std::move(tell));
  }

  host::Row row(const market::Key& key) const {
    const auto [version, record] = rows_.find(key);
    return {key, version, record};
  }

  std::vector<host::Row> find(const host::Scan& scan) const {
    if (scan.by == host::Scan::By::bought || scan.by == host::Scan::By::sold) return ended(scan);
    std::vector<market::Key> keys;
    if (scan.by == host::Scan::By::due) {
      keys = rows_.due(scan.kind, scan.due_until);
    } else {
      keys = rows_.live(scan.kind, [&](const market::Facets& facets) {
        if (scan.by == host::Scan::By::group) return facets.group == scan.name;
        if (scan.by == host::Scan::By::provider) return owner_of(facets.group) == scan.name;
        return scan.by == host::Scan::By::all || facets.owner == scan.name;
      });
    }
    std::vector<host::Row> found;
    for (const market::Key& key : keys) {
      if (scan.by != host::Scan::By::due && key.id <= scan.after) continue;
      if (found.size() < static_cast<size_t>(scan.limit)) found.push_back(row(key));
    }
    return found;
  }

  std::vector<host::Row> ended(const host::Scan& scan) const {
    std::map<std::pair<Instant, std::string>, market::Key> keys;
    for (const auto& [key, stored] : rows_.all()) {
      const market::Facets facets = market::facets_of(stored.record);
      if (key.kind != scan.kind || facets.live || !facets.due) continue;
      const bool bought = scan.by == host::Scan::By::bought;
      const std::string party = bought ? facets.owner : std::string(owner_of(facets.group));
      const std::pair place{*facets.due, key.id};
      if (party == scan.name && place > std::pair{scan.ended_from, scan.after}) keys[place] = key;
    }
    std::vector<host::Row> found;
    for (const auto& [place, key] : keys) {
      if (found.size() < static_cast<size_t>(scan.limit)) found.push_back(row(key));
    }
    return found;
  }

  host::Loop& loop_;
  MemoryRows rows_;
  std::deque<Trouble> loads_;
  std::deque<Trouble> commits_;
};

}  // namespace spillway::test
