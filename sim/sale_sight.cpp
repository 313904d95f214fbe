#include "sim/sale_sight.h"

namespace spillway::sim {
namespace {

using market::EventKind;

bool is_sale(EventKind kind) {
  return kind == EventKind::contract_held || kind == EventKind::units_bought;
}

bool is_publication(EventKind kind) {
  return kind == EventKind::pool_published || kind == EventKind::pool_withdrawn ||
         kind == EventKind::offer_published || kind == EventKind::offer_withdrawn;
}

}  // namespace

SaleSight::Published SaleSight::when_published(const std::string& subject, const PoolId& pool,
                                               const std::string& contract) const {
  Published published;
  for (const market::Event& event : commit_.events) {
    const bool is_it = event.pool == pool && (contract.empty() || event.subject == contract);
    if (is_sale(event.kind) && is_it) {
      published.is_before = published.is_before || published.is_after;
      published.is_after = false;
    } else if (is_publication(event.kind) && event.subject == subject) {
      published.is_after = true;
    }
  }
  return published;
}

}  // namespace spillway::sim
