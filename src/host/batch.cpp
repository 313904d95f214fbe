#include "host/batch.h"

#include <algorithm>

#include "market/mutants.h"

namespace spillway::host {
namespace {

using market::Key;

// A command that is absurdly large is refused for it, and loads nothing first.
constexpr size_t k_max_hinted = 64;

void want(std::vector<Key>& keys, Key key) { keys.push_back(std::move(key)); }

// Rows that a command is sure to ask for; the rest is found by asking. Saves a round of loading.
struct Hint {
  std::vector<Key>& keys;

  void operator()(const market::Hold& hold) const {
    want(keys, market::account_key(hold.buyer));
    want(keys, market::identity_key(hold.buyer.text));
    want(keys, market::request_key(hold.buyer, hold.key));
    if (hold.lines.size() > k_max_hinted) return;
    for (const auto& line : hold.lines) want(keys, market::key_of(line.offer));
    for (const auto& id : hold.fresh) want(keys, market::key_of(id));
  }
  void operator()(const market::PublishPool& publish) const {
    want(keys, market::account_key(publish.provider));
    want(keys, market::identity_key(publish.provider.text));
    want(keys, market::key_of(publish.pool.id));
    if (publish.carries.size() > market::k_max_carried) return;
    for (const auto& carried : publish.carries) want(keys, market::key_of(carried.contract));
  }
  void operator()(const market::PublishOffer& publish) const {
    want(keys, market::account_key(publish.provider));
    want(keys, market::identity_key(publish.provider.text));
    want(keys, market::key_of(publish.offer.pool));
    want(keys, market::key_of(publish.offer.id));
  }
  void operator()(const market::Attend& attend) const { want(keys, attend.row); }
  void operator()(const market::Beat&) const { want(keys, market::heart_key()); }
  void operator()(const market::MakeToken& make) const {
    want(keys, market::token_key(make.id));
    want(keys, market::identity_key(make.name));
    want(keys, market::account_key(ClusterId(make.name)));
  }
  void operator()(const market::CancelToken& cancel) const {
    want(keys, market::token_key(cancel.id));
  }
  void operator()(const market::FindToken& find) const { want(keys, market::token_key(find.id)); }
  void operator()(const market::Join& join) const { want(keys, market::token_key(join.token)); }
  void operator()(const market::Recertify& recertify) const {
    want(keys, market::identity_key(recertify.name));
  }
  void operator()(const market::Revoke& revoke) const {
    want(keys, market::identity_key(revoke.name));
    want(keys, market::account_key(ClusterId(revoke.name)));
  }
  template <class Other>
  void operator()(const Other& other) const {
    if constexpr (requires { other.contract; }) want(keys, market::key_of(other.contract));
  }
};

Scan scan_for(const market::Listing& listing) {
  Scan scan;
  scan.kind = listing.kind;
  scan.by = listing.kind == market::Kind::contract ? Scan::By::group : Scan::By::owner;
  scan.name = listing.of;
  scan.limit = std::numeric_limits<int32_t>::max();  // what a decision lists is all or nothing
  return scan;
}

void make_unique(std::vector<Key>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace

Batch::Batch(std::vector<Order> orders, market::Rules rules)
    : orders_(std::move(orders)), rules_(rules) {
  // All of them are asked at the same time, so any order is right that keeps law 1: what shrinks a
  // pool goes before what sells from it in the same commit. What gives back goes before it too.
  std::stable_partition(orders_.begin(), orders_.end(), [](const Order& order) {
    return !std::holds_alternative<market::Hold>(order.command);
  });
  restart();
}

void Batch::restart() {
  workspace_ = {};
  answers_.assign(orders_.size(), market::Answer{});
  wants_ = {};
  want(wants_.keys, market::epoch_key());
  for (const Order& order : orders_) std::visit(Hint{wants_.keys}, order.command);
  make_unique(wants_.keys);
}

bool Batch::beats() const {
  return !orders_.empty() && std::holds_alternative<market::Beat>(orders_.front().command);
}

void Batch::beat_first() {
  orders_.insert(orders_.begin(), Order{market::Beat{}, nullptr, {}});
  restart();
}

Load Batch::wants() const { return wants_; }

void Batch::take(const Load& load, Snapshot snapshot) {
  now_ = std::max(now_, snapshot.now);
  for (Row& row : snapshot.rows) workspace_.add(row.key, row.version, std::move(row.record));
  for (size_t i = 0; i < snapshot.found.size(); ++i) {
    std::vector<std::string> ids;
    for (Row& row : snapshot.found[i]) {
      ids.push_back(row.key.id);
      workspace_.add(row.key, row.version, std::move(row.record));
    }
    workspace_.add_scan({load.scans[i].kind, load.scans[i].name}, std::move(ids));
  }
  decide();
}

// Always all of them from the beginning: if one were decided late, since its rows came late, others
// would have been decided without knowing of it.
void Batch::decide() {
  wants_ = {};
  workspace_.rewind();
  const market::Context context{now_, rules_};
  for (size_t i = 0; i < orders_.size(); ++i) {
    const size_t events = workspace_.events().size();
    answers_[i] = market::decide(workspace_, orders_[i].command, context);
    workspace_.sign(events, orders_[i].origin);
    if (!workspace_.lacks_rows()) continue;
    for (const Key& key : workspace_.missing()) want(wants_.keys, key);
    for (const auto& listing : workspace_.missing_scans()) {
      wants_.scans.push_back(scan_for(listing));
    }
  }
  make_unique(wants_.keys);
}

bool Batch::changes_nothing() const {
  return workspace_.events().empty() &&
         std::none_of(workspace_.rows().begin(), workspace_.rows().end(),
                      [](const auto& row) { return row.second.changed; });
}

Commit Batch::commit() const {
  Commit commit;
  commit.at = now_;
  commit.events = workspace_.events();
  for (const auto& [key, entry] : workspace_.rows()) {
    if (entry.changed) commit.puts.push_back({key, entry.record});
    if (market::mutant(market::Mutant::ignore_version) && key.kind == market::Kind::pool) continue;
    commit.expectations.push_back({key, entry.version});
  }
  // The map's order is nobody's business: commits are the same wherever they are made (law 8).
  std::sort(commit.puts.begin(), commit.puts.end(),
            [](const Put& a, const Put& b) { return a.key < b.key; });
  std::sort(commit.expectations.begin(), commit.expectations.end(),
            [](const Expectation& a, const Expectation& b) { return a.key < b.key; });
  return commit;
}

void Batch::reply_all() {
  for (size_t i = 0; i < orders_.size(); ++i) {
    if (!orders_[i].reply) continue;
    // Taken out first: the reply may lead to whatever, also to the end of this batch.
    const Reply reply = std::exchange(orders_[i].reply, nullptr);
    reply(std::move(answers_[i]));
  }
}

void Batch::fail_all(const Error& error) {
  for (Order& order : orders_) {
    if (!order.reply) continue;
    const Reply reply = std::exchange(order.reply, nullptr);
    reply(tl::unexpected(error));
  }
}

}  // namespace spillway::host
