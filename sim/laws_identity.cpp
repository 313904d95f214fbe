// The laws on who is who: tokens, identities, and who caused what.
#include <algorithm>

#include "sim/laws.h"

namespace spillway::sim {
namespace {

using market::EventKind;
using market::Kind;
using market::TokenRecord;
using model::Identity;

// Whether a commit let somebody join under `name`.
bool joins(const Rows& rows, const Undo& undo, const std::string& name) {
  return std::any_of(undo.rows.begin(), undo.rows.end(), [&](const auto& row) {
    const auto* before = held<TokenRecord>(row.second.record);
    const auto* after = rows.get<TokenRecord>(row.first);
    return after != nullptr && after->name == name && !after->key.empty() &&
           (before == nullptr || before->key.empty());
  });
}

// Whose request leads to an event, where that is certain. Null: it may be anybody's, or nobody's.
const std::string* cause_of(const market::Event& event, const Rows& rows) {
  switch (event.kind) {
    case EventKind::contract_confirmed: {
      // By the second signature, where there are two.
      const auto* contract = rows.get<model::Contract>(market::key_of(ContractId(event.subject)));
      if (contract == nullptr) return nullptr;
      return contract->agreement.empty() ? &event.buyer.text : &event.provider.text;
    }
    case EventKind::contract_held:
    case EventKind::contract_extended:
    case EventKind::contract_signed:
    case EventKind::contract_renewed:
      return &event.buyer.text;
    case EventKind::pool_published:
    case EventKind::offer_published:
      return &event.provider.text;
    case EventKind::identity_joined:
    case EventKind::identity_renewed:
      return &event.subject;
    default:
      return nullptr;
  }
}

}  // namespace

void Laws::check_token(const market::Record& before, const market::Record& after, Instant at) {
  const auto* was = held<TokenRecord>(before);
  const auto* is = held<TokenRecord>(after);
  if (was == nullptr) return;
  if (was->key.empty()) {
    expect(is == nullptr || is->key.empty() || at < was->expires, 5,
           fmt::format("token {} served after its end", was->id));
    return;
  }
  expect(is != nullptr || at >= was->forget_at, 2,
         fmt::format("token {} was forgotten too soon", was->id));
  expect(is == nullptr || (is->key == was->key && is->certificate == was->certificate), 5,
         fmt::format("token {} served two keys", was->id));
}

void Laws::check_identity(const std::string& name, const market::Record& before,
                          const host::Commit& commit, const Undo& undo) {
  const auto* was = held<Identity>(before);
  const auto* is = rows_.get<Identity>(market::identity_key(name));
  expect(is != nullptr, 3, fmt::format("identity {} was deleted", name));
  if (is == nullptr) return;
  expect(std::any_of(commit.events.begin(), commit.events.end(),
                     [&](const market::Event& event) { return event.subject == name; }),
         7, fmt::format("identity {} changed without an event", name));
  const bool by_token = joins(rows_, undo, name);
  const bool may_change = was != nullptr && !was->revoked;
  const bool renewed = was == nullptr || was->certificate != is->certificate;
  expect(!renewed || may_change || by_token, 5,
         fmt::format("{} got a certificate though it was {}", name,
                     was == nullptr ? "unknown" : "revoked"));
  expect(by_token || (was != nullptr && was->since == is->since && was->roles == is->roles), 5,
         fmt::format("{} became another without a token", name));
  if (is->revoked && (was == nullptr || !was->revoked)) revoked_at_[name] = clock_();
  expect(by_token || was == nullptr || !was->revoked || is->revoked, 5,
         fmt::format("{} is no longer revoked, without a token", name));
  host::Scan scan;
  scan.kind = Kind::pool;
  scan.by = host::Scan::By::owner;
  scan.name = name;
  for (const host::Row& row : rows_.scan(scan)) {
    if (const auto* pool = held<market::PoolRecord>(row.record)) check_seller(*pool);
  }
}

// In no commit, also when one broker revokes while another publishes.
void Laws::check_seller(const market::PoolRecord& pool) {
  const auto* seller = rows_.get<Identity>(market::identity_key(pool.provider.text));
  expect(seller == nullptr || !seller->revoked || pool.withdrawn, 5,
         fmt::format("pool {} is on sale by one who is revoked", pool.pool.id.text));
}

void Laws::check_origin(const market::Event& event) {
  const std::string* cause = cause_of(event, rows_);
  expect(cause == nullptr || event.by == *cause, 7,
         fmt::format("event {} on {} is put down to '{}'", to_text(event.kind), event.subject,
                     event.by));
  expect(event.by.empty() == event.request.empty(), 7, "an event has half an origin");
}

void Laws::on_event(const market::Event& event) {
  const int64_t first = rows_.first_event();
  if (event.sequence < first) return;  // forgotten meanwhile
  expect(event.sequence <= rows_.last_event(), 2, "an event was told that is not there");
  if (event.sequence > rows_.last_event()) return;
  expect(rows_.events()[static_cast<size_t>(event.sequence - first)] == event, 2,
         fmt::format("event {} was told otherwise than it is", event.sequence));
}

void Laws::on_identity_answer(const market::Command& command, const market::Answer& answer) {
  if (const auto* join = std::get_if<market::Join>(&command)) {
    const auto known = joined_.try_emplace(join->token, join->key).first;
    expect(known->second == join->key, 5,
           fmt::format("token {} gave a certificate to two keys", join->token));
    expect(answer.identity && answer.identity->key == join->key, 5,
           fmt::format("token {}: the answer is for another key", join->token));
  }
  if (const auto* revoke = std::get_if<market::Revoke>(&command)) {
    if (!answer.identity || !answer.identity->revoked) {
      expect(false, 2, fmt::format("{} was revoked, and is not", revoke->name));
      return;
    }
    Instant& since = revoked_[revoke->name];
    since = std::max(since, *answer.identity->revoked);
  }
  if (answer.identity) check_acknowledged_identities();
}

void Laws::check_acknowledged_identities() {
  for (const auto& [id, key] : joined_) {
    const auto* token = rows_.get<TokenRecord>(market::token_key(id));
    expect(token == nullptr || token->key == key, 2,
           fmt::format("token {} was used, and is not", id));
  }
  for (const auto& [name, since] : revoked_) {
    const auto* identity = rows_.get<Identity>(market::identity_key(name));
    expect(identity != nullptr && (identity->revoked || identity->since >= since), 2,
           fmt::format("{} was revoked, and is not", name));
  }
}

}  // namespace spillway::sim
