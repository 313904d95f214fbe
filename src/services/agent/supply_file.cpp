#include "services/agent/supply_file.h"

#include <map>
#include <set>

#include "base/text.h"
#include "model/validation.h"
#include "services/agent/supply_fields.h"

namespace spillway::agent {
namespace {

constexpr size_t k_max_bytes = model::k_max_row_bytes;

model::Heading heading(std::string_view source) {
  return {.what = source,
          .version = 1,
          .noun = "supply",
          .pointing = model::Pointing::line,
          .max_bytes = k_max_bytes};
}

Status check_owner(std::string_view step, size_t index, const std::string& id,
                   const ClusterId& cluster) {
  if (owner_of(id) == cluster.text) return {};
  return model::under(step, index,
                      model::refuse("id", in_quotes(id) + " belongs to another cluster",
                                    fmt::format("begin it with {}/", cluster.text)));
}

Status check_owners(const Supply& supply, const ClusterId& cluster) {
  for (size_t i = 0; i < supply.pools.size(); ++i) {
    SPILLWAY_TRY(check_owner("pools", i, supply.pools[i].id.text, cluster));
  }
  for (size_t i = 0; i < supply.offers.size(); ++i) {
    SPILLWAY_TRY(check_owner("offers", i, supply.offers[i].id.text, cluster));
  }
  return {};
}

Status check_offer(const model::Offer& offer, const std::map<PoolId, const model::Pool*>& pools) {
  SPILLWAY_TRY(validate(offer));
  const auto pool = pools.find(offer.pool);
  if (pool == pools.end()) {
    return model::refuse("pool", in_quotes(offer.pool.text) + " is not in this file",
                         "list it under pools, or name one that is");
  }
  if (const auto larger = pool->second->node.first_short(offer.shape); !larger.empty()) {
    return model::refuse(
        "shape", fmt::format("it is larger than one node of {} in {}", offer.pool.text, larger),
        fmt::format("offer at most {}", to_text(pool->second->node)));
  }
  return {};
}

Result<Supply> read(const Result<model::Node>& root, const ClusterId& cluster,
                    std::string_view source) {
  if (!root) return tl::unexpected(root.error());
  auto supply = model::read_node<Supply>(*root, heading(source));
  if (!supply) return supply;
  if (auto owned = check_owners(*supply, cluster); !owned) {
    return tl::unexpected(locate(*root, source, model::Pointing::line, std::move(owned).error()));
  }
  return supply;
}

}  // namespace

Status validate(const Supply& supply) {
  std::map<PoolId, const model::Pool*> pools;
  for (size_t i = 0; i < supply.pools.size(); ++i) {
    const model::Pool& pool = supply.pools[i];
    SPILLWAY_TRY(model::under("pools", i, validate(pool)));
    if (!pools.emplace(pool.id, &pool).second) {
      return model::under("pools", i,
                          model::refuse("id", in_quotes(pool.id.text) + " is there twice",
                                        "give each pool a name of its own"));
    }
  }
  std::set<OfferId> offers;
  for (size_t i = 0; i < supply.offers.size(); ++i) {
    const model::Offer& offer = supply.offers[i];
    SPILLWAY_TRY(model::under("offers", i, check_offer(offer, pools)));
    if (!offers.insert(offer.id).second) {
      return model::under("offers", i,
                          model::refuse("id", in_quotes(offer.id.text) + " is there twice",
                                        "give each offer a name of its own"));
    }
  }
  return {};
}

Result<Supply> supply_from_yaml(std::string_view text, const ClusterId& cluster,
                                std::string_view source) {
  return read(model::parse_yaml(text, source, k_max_bytes), cluster, source);
}

Result<Supply> supply_from_json(std::string_view text, const ClusterId& cluster,
                                std::string_view source) {
  return read(model::parse_json(text, source, k_max_bytes), cluster, source);
}

std::string to_json(const Supply& supply) { return model::write_json(supply); }

}  // namespace spillway::agent
