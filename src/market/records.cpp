#include "market/records.h"

namespace spillway::market {
namespace {

Facets facets(const std::monostate&) { return {}; }

Facets facets(const Shared<PoolRecord>& pool) {
  return {.live = !pool->withdrawn || !pool->committed.is_zero(),
          .group = {},
          .owner = {},
          .due = pool->reclaim_at};
}

Facets facets(const Shared<OfferRecord>& offer) {
  return {.live = !offer->withdrawn, .group = offer->offer.pool.text, .owner = {}, .due = {}};
}

Facets facets(const Shared<AccountRecord>&) {
  return {.live = true, .group = {}, .owner = {}, .due = {}};
}

Facets facets(const Shared<model::Contract>& contract) {
  if (!contract->is_live()) return {};
  return {.live = true,
          .group = contract->pool.text,
          .owner = contract->buyer.text,
          .due = contract->deadline};
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

Facets facets_of(const Record& record) {
  return std::visit([](const auto& held) { return facets(held); }, record);
}

}  // namespace spillway::market
