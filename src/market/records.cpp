#include "market/records.h"

#include <algorithm>

#include "base/text.h"

namespace spillway::market {
namespace {

Facets facets(const std::monostate&) { return {}; }

Facets facets(const Shared<PoolRecord>& pool) {
  return {.live = !pool->withdrawn || !pool->committed.is_zero(),
          .group = {},
          .owner = pool->provider.text,
          .due = pool->reclaim_at};
}

Facets facets(const Shared<OfferRecord>& offer) {
  return {.live = !offer->withdrawn,
          .group = offer->offer.pool.text,
          .owner = offer->provider.text,
          .due = {}};
}

Facets facets(const Shared<AccountRecord>&) {
  return {.live = true, .group = {}, .owner = {}, .due = {}};
}

Facets facets(const Shared<model::Contract>& contract) {
  // What never ran comes to nothing: no invoice looks for it.
  if (!contract->is_live() && !contract->started) return {};
  return {
      .live = contract->is_live(),
      .group = contract->pool.text,
      .owner = contract->buyer.text,
      .due = std::min(contract->ending_notice.value_or(contract->deadline), contract->deadline)};
}

Facets facets(const Shared<RequestRecord>& request) {
  return {.live = true, .group = {}, .owner = {}, .due = request->forget_at};
}

Facets facets(const Shared<EpochRecord>&) {
  return {.live = true, .group = {}, .owner = {}, .due = {}};
}

Facets facets(const Shared<HeartRecord>&) {
  return {.live = true, .group = {}, .owner = {}, .due = {}};
}

Facets facets(const Shared<model::Identity>&) {
  return {.live = true, .group = {}, .owner = {}, .due = {}};
}

Facets facets(const Shared<TokenRecord>& token) {
  return {.live = true, .group = {}, .owner = {}, .due = token->forget_at};
}

Facets facets(const Shared<CardRecord>&) {
  return {.live = true, .group = {}, .owner = {}, .due = {}};
}

Facets facets(const Shared<LiqoRecord>&) {
  return {.live = true, .group = {}, .owner = {}, .due = {}};
}

Facets facets(const Shared<AgreementRecord>&) {
  return {.live = true, .group = {}, .owner = {}, .due = {}};
}

Facets facets(const Shared<MailboxRecord>& mailbox) {
  Instant due = mailbox->forget_at;
  for (const Posted& posted : mailbox->posted) {
    if (posted.waiting) due = std::min(due, posted.expires);
  }
  return {.live = true, .group = {}, .owner = {}, .due = due};
}

// Its mailbox knows of it: a message costs no index but that of its key.
Facets facets(const Shared<MessageRecord>&) {
  return {.live = true, .group = {}, .owner = {}, .due = {}};
}

}  // namespace

std::string_view to_text(Kind kind) {
  switch (kind) {
    case Kind::pool:
      return "pool";
    case Kind::offer:
      return "offer";
    case Kind::account:
      return "account";
    case Kind::contract:
      return "contract";
    case Kind::request:
      return "request";
    case Kind::epoch:
      return "epoch";
    case Kind::heart:
      return "heart";
    case Kind::identity:
      return "identity";
    case Kind::token:
      return "token";
    case Kind::card:
      return "card";
    case Kind::liqo:
      return "liqo";
    case Kind::agreement:
      return "agreement";
    case Kind::mailbox:
      return "mailbox";
    case Kind::message:
      return "message";
  }
  return "unknown";
}

Key key_of(const PoolId& id) { return {Kind::pool, id.text}; }
Key key_of(const OfferId& id) { return {Kind::offer, id.text}; }
Key key_of(const ContractId& id) { return {Kind::contract, id.text}; }
Key account_key(const ClusterId& buyer) { return {Kind::account, buyer.text}; }
Key request_key(const ClusterId& buyer, const std::string& key) {
  // A cluster id has no slash, so no two buyers' keys can meet.
  return {Kind::request, buyer.text + "/" + key};
}
Key epoch_key() { return {Kind::epoch, "epoch"}; }
Key heart_key() { return {Kind::heart, "heart"}; }
Key identity_key(const std::string& name) { return {Kind::identity, name}; }
Key token_key(const std::string& id) { return {Kind::token, id}; }
Key card_key(const ClusterId& cluster) { return {Kind::card, cluster.text}; }
Key liqo_key(const std::string& id) { return {Kind::liqo, id}; }
Key agreement_key(const ContractId& id) { return {Kind::agreement, id.text}; }
Key mailbox_key(const ContractId& id, Direction direction) {
  return {Kind::mailbox, fmt::format("{}/{}", id.text, to_text(direction))};
}
Key message_key(const ContractId& id, Direction direction, int64_t sequence) {
  return {Kind::message, fmt::format("{}/{}/{:016}", id.text, to_text(direction), sequence)};
}

Status check_token_id(std::string_view text) {
  const bool well_formed = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (well_formed && !text.empty() && text.size() <= 64) return {};
  return fail(Code::invalid, "token " + in_quotes(text), "it is no id of a token",
              "use 1 to 64 lower-case letters, digits and '-'");
}

Facets facets_of(const Record& record) {
  return std::visit([](const auto& held) { return facets(held); }, record);
}

}  // namespace spillway::market
