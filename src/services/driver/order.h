// What is asked of a driver: units, and peerings that are to stay without any. An order takes the
// place of a contract: whoever gives it has both clusters in hand.
//
// A unit's name is its contract's and its number: sw-<contract>-<n>. Units of one contract are
// alike, for one offer describes them all to both machines of the fabric.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/fields.h"
#include "model/labels.h"
#include "model/offer.h"
#include "model/resources.h"

namespace spillway::driver {

// Whether what there is between these two may be shown to whoever asks.
using MaySee = std::function<bool(const std::string& consumer, const std::string& provider)>;

struct UnitOrder {
  std::string consumer;  // names of the driver's clusters
  std::string provider;  //
  model::Resources resources;
  model::Labels labels = {};  // of the node
  std::map<std::string, std::string> annotations = {};
  std::vector<model::Taint> taints = {};
  std::string provider_id = {};  // of the node; empty: spillway://<contract>/<n>
  bool spare = false;            // accepted, at zero; one order without it from being Ready
  Duration fence = model::Terms{}.fence;
  bool operator==(const UnitOrder&) const = default;
};
Status validate(const UnitOrder& order);
// Of a new one, besides: those that were taken before there was such a bound stay good.
Status check_annotation_bytes(const UnitOrder& order);

template <class F>
void fields(F& f, UnitOrder& o) {
  f.required("consumer", o.consumer);
  f.required("provider", o.provider);
  f.required("resources", o.resources);
  f.with_default("labels", o.labels);
  f.with_default("annotations", o.annotations);
  f.with_default("taints", o.taints);
  f.with_default("provider_id", o.provider_id);
  f.with_default("spare", o.spare);
  f.with_default("fence", o.fence, model::Terms{}.fence);
}

struct PeeringOrder {
  std::optional<Instant> until = {};  // none: until it is deleted
  bool operator==(const PeeringOrder&) const = default;
};
Status validate(const PeeringOrder& order);

template <class F>
void fields(F& f, PeeringOrder& o) {
  f.optional("until", o.until);
}

// "sw-<contract>-<n>", as unit_name() writes it.
struct UnitName {
  ContractId contract;
  int32_t number = 0;
};
Result<UnitName> parse_unit(std::string_view text);

// Which field keeps `next` from being the same order; empty: none does, or it only buys a spare.
std::string_view difference(const UnitOrder& known, const UnitOrder& next);
// Its own, or the one that follows from its name.
std::string provider_id_of(const std::string& unit, const UnitOrder& order);
// Which field keeps two from being units of one contract.
std::string_view unlikeness(const UnitOrder& one, const UnitOrder& other);

}  // namespace spillway::driver
