#include "host/directory.h"

#include <algorithm>
#include <utility>

namespace spillway::host {
namespace {

using market::EventKind;
using IdentityRow = market::Shared<model::Identity>;

constexpr int32_t k_page = 500;
constexpr Duration k_pause = milliseconds(200);  // after a load that failed

bool concerns_identities(const market::Event& event) {
  return event.kind == EventKind::identity_joined || event.kind == EventKind::identity_renewed ||
         event.kind == EventKind::identity_revoked;
}

// What the row had before this commit.
int64_t expected_version(const Commit& commit, const market::Key& key) {
  const auto at = std::find_if(commit.expectations.begin(), commit.expectations.end(),
                               [&](const Expectation& one) { return one.key == key; });
  return at == commit.expectations.end() ? 0 : at->version;
}

}  // namespace

Directory::Directory(Loop& loop, Store& store, EventLog& log)
    : loop_(loop), store_(store), log_(log) {}

void Directory::start() {
  log_.listen(lifeline_.guard([this](const market::Event& event) {
    if (!concerns_identities(event)) return;
    changed_.insert(event.subject);
    reload();
  }));
  // Only from where the log begins on does it name all that changes.
  log_.on_jump(lifeline_.guard([this](int64_t) { load_all(); }));
  if (log_.is_ready()) load_all();
}

std::vector<IdentityRow> Directory::list_after(const std::string& name, size_t limit) const {
  std::vector<IdentityRow> list;
  for (const auto& [known_name, known] : known_) {
    if (known_name > name && known.identity != nullptr) list.push_back(known.identity);
  }
  std::sort(list.begin(), list.end(),
            [](const IdentityRow& a, const IdentityRow& b) { return a->name < b->name; });
  if (list.size() > limit) list.resize(limit);
  return list;
}

void Directory::load_all() {
  ++round_;
  load_page({});
}

void Directory::load_page(std::string after) {
  Load load;
  Scan scan;
  scan.kind = market::Kind::identity;
  scan.by = Scan::By::all;
  scan.after = after;
  scan.limit = k_page;
  load.scans.push_back(std::move(scan));
  store_.load(
      std::move(load),
      lifeline_.guard([this, round = round_, after = std::move(after)](Result<Snapshot> snapshot) {
        if (round != round_) return;
        trouble_ = snapshot ? Status{} : tl::unexpected(snapshot.error());
        if (!snapshot) {
          loop_.after(k_pause, lifeline_.guard([this, round, after] {
            if (round == round_) load_page(after);
          }));
          return;
        }
        const std::vector<Row>& rows = snapshot->found.front();
        for (const Row& row : rows) {
          if (const auto* held = std::get_if<IdentityRow>(&row.record)) take(row.version, *held);
        }
        if (rows.size() == static_cast<size_t>(k_page)) return load_page(rows.back().key.id);
        ready_ = true;
      }));
}

void Directory::reload() {
  if (busy_ || changed_.empty()) return;
  busy_ = true;
  auto names = std::make_shared<std::set<std::string>>(std::exchange(changed_, {}));
  Load load;
  for (const std::string& name : *names) load.keys.push_back(market::identity_key(name));
  store_.load(std::move(load), lifeline_.guard([this, names](Result<Snapshot> snapshot) {
    busy_ = false;
    if (!snapshot) {
      changed_.merge(*names);
      loop_.after(k_pause, lifeline_.guard([this] { reload(); }));
      return;
    }
    for (const Row& row : snapshot->rows) {
      if (const auto* held = std::get_if<IdentityRow>(&row.record)) take(row.version, *held);
    }
    reload();
  }));
}

void Directory::learn(const Commit& commit) {
  for (const Put& put : commit.puts) {
    const auto* held = std::get_if<IdentityRow>(&put.record);
    if (held == nullptr) continue;
    // Its version is not known here. It is above the one that was expected, and so a row that was
    // read before this commit does not replace what this commit wrote.
    const int64_t before = expected_version(commit, put.key);
    Known& known = known_[put.key.id];
    if (known.version > before) continue;  // a still newer one was read already
    known.version = before;
    take(before + 1, *held);
  }
}

void Directory::look_up(const std::string& name, std::function<void(const Status&)> then) {
  Load load;
  load.keys = {market::identity_key(name)};
  store_.load(std::move(load),
              lifeline_.guard([this, then = std::move(then)](const Result<Snapshot>& snapshot) {
                if (!snapshot) return then(tl::unexpected(snapshot.error()));
                const auto* held = std::get_if<IdentityRow>(&snapshot->rows.front().record);
                if (held != nullptr) take(snapshot->rows.front().version, *held);
                then({});
              }));
}

void Directory::take(int64_t version, const IdentityRow& identity) {
  Known& known = known_[identity->name];
  if (version <= known.version) return;
  const bool is_news = known.identity == nullptr || *known.identity != *identity;
  known = {version, identity};
  if (!is_news || !ready_) return;
  for (const Listener& listener : listeners_) listener(*identity);
}

IdentityRow Directory::find(const std::string& name) const {
  const auto at = known_.find(name);
  return at == known_.end() ? nullptr : at->second.identity;
}

}  // namespace spillway::host
