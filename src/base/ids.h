// Names of things, one type each, so that a pool's name cannot be passed for an offer's.
//
// A cluster id is a DNS label. Pools and offers belong to a cluster and say so: "edge-1/standard".
// A contract's id is its hold's id: 26 characters, in order of time, so that new rows are
// neighbours in the store whatever its history.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace spillway {

template <class Tag>
struct Id {
  std::string text;

  Id() = default;
  explicit Id(std::string t) : text(std::move(t)) {}
  auto operator<=>(const Id&) const = default;
  bool empty() const { return text.empty(); }
};

using ClusterId = Id<struct ClusterTag>;
using PoolId = Id<struct PoolTag>;
using OfferId = Id<struct OfferTag>;
using ContractId = Id<struct ContractTag>;

Status check_cluster_id(std::string_view text);   // DNS label, at most 63
Status check_owned_id(std::string_view text);     // <cluster id>/<DNS label>
Status check_contract_id(std::string_view text);  // as make_contract_id makes them

// The cluster in "<cluster>/<name>"; all of it when there is no slash.
std::string_view owner_of(std::string_view owned_id);

// 48 bits of time, 80 of randomness, in 26 characters of lower-case base 32 (no i, l, o, u).
ContractId make_contract_id(Instant now, uint64_t random_high, uint64_t random_low);

// A unit exists by name before its contract is signed; both names stay within 50 characters.
std::string unit_name(const ContractId& contract, int32_t unit);         // sw-<id>-<n>
std::string unit_provider_id(const ContractId& contract, int32_t unit);  // spillway://<id>/<n>

}  // namespace spillway

template <class Tag>
struct std::hash<spillway::Id<Tag>> {
  size_t operator()(const spillway::Id<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.text);
  }
};
