// Random nouns for property tests, every one of them valid: what validate() takes and stores keep.
// They reach for the corners (empty, one, the limits) as well as for the plain middle.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "model/cluster.h"
#include "model/contract.h"
#include "model/intent.h"
#include "model/limits.h"
#include "model/offer.h"
#include "model/pool.h"

namespace spillway::test {

// [low, high], with both ends likely.
rc::Gen<int64_t> any_between(int64_t low, int64_t high);

rc::Gen<int32_t> any_between_32(int32_t low, int32_t high);

template <class T>
rc::Gen<std::optional<T>> maybe_of(rc::Gen<T> gen) {
  return rc::gen::oneOf(
      rc::gen::just(std::optional<T>{}),
      rc::gen::map(std::move(gen), [](T value) { return std::optional<T>(std::move(value)); }));
}

// At most `most` elements.
template <class T>
rc::Gen<std::vector<T>> few_of(size_t most, rc::Gen<T> gen) {
  return rc::gen::mapcat(rc::gen::inRange<size_t>(0, most + 1), [gen](size_t count) {
    return rc::gen::container<std::vector<T>>(count, gen);
  });
}

// A DNS label, short enough to collide now and then.
rc::Gen<std::string> any_dns_label();

rc::Gen<std::string> any_label_value();
rc::Gen<std::string> any_label_key();

// Printable UTF-8 with all that needs care in JSON.
rc::Gen<std::string> any_text();

rc::Gen<Instant> any_instant();
rc::Gen<Duration> any_duration(Duration low, Duration high);
rc::Gen<Currency> any_currency();
rc::Gen<ClusterId> any_cluster_id();

// Sorted by name, without repetition; amounts from `low` on.
rc::Gen<model::Counts> any_counts(std::string prefix, int64_t low, int64_t high);

rc::Gen<model::Labels> any_labels();

// Amounts up to `most` of everything.
rc::Gen<model::Resources> any_resources(int64_t most = model::k_max_amount);

rc::Gen<model::Resources> any_shape();

// With shapes of any_shape() the rate stays below k_max_price.
rc::Gen<model::Price> any_price();

rc::Gen<model::Place> any_place();
rc::Gen<model::Energy> any_energy();
rc::Gen<model::Visibility> any_visibility();
rc::Gen<model::Terms> any_terms();
rc::Gen<std::vector<model::Taint>> any_taints();
rc::Gen<model::Pool> any_pool();
rc::Gen<model::Offer> any_offer();
rc::Gen<model::Cluster> any_cluster();
rc::Gen<ContractId> any_contract_id();

// Anywhere on the ladder.
rc::Gen<model::Use> any_use();
rc::Gen<model::Contract> any_contract();

rc::Gen<model::LabelConstraint> any_label_constraint();
rc::Gen<model::Intent> any_intent();

}  // namespace spillway::test
