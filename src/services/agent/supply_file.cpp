#include "services/agent/supply_file.h"

#include "base/text.h"
#include "model/validation.h"
#include "supply/supply_fields.h"

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
