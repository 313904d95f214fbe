#include "model/offer.h"

#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {

std::string_view to_text(Enforcement enforcement) {
  switch (enforcement) {
    case Enforcement::unknown:
      return "unknown";
    case Enforcement::none:
      return "none";
    case Enforcement::partial:
      return "partial";
    case Enforcement::full:
      return "full";
  }
  return "unknown";
}

Status validate(const Terms& terms) {
  SPILLWAY_TRY(check_range("lease", terms.lease, k_shortest_lease, k_longest_lease));
  SPILLWAY_TRY(check_range("notice", terms.notice, Duration{0}, k_longest_wait));
  SPILLWAY_TRY(check_range("drain", terms.drain, Duration{0}, k_longest_wait));
  SPILLWAY_TRY(check_range("grace", terms.grace, Duration{0}, k_longest_wait));
  return check_range("fence", terms.fence, Duration{0}, k_longest_wait);
}

Status validate(const Offer& offer) {
  SPILLWAY_TRY(at("id", check_owned_id(offer.id.text)));
  SPILLWAY_TRY(at("pool", check_owned_id(offer.pool.text)));
  const std::string_view owner = owner_of(offer.id.text);
  if (owner_of(offer.pool.text) != owner) {
    return refuse("pool", in_quotes(offer.pool.text) + " is not " + in_quotes(owner) + "'s",
                  "sell from a pool of the cluster that the offer's id names");
  }
  SPILLWAY_TRY(under("shape", validate(offer.shape)));
  if (offer.shape.is_zero()) {
    return refuse("shape", "it has no resource at all", "give cpu and memory at least");
  }
  SPILLWAY_TRY(under("price", validate(offer.price)));
  if (!try_hourly_rate(offer.price, offer.shape)) {
    return refuse("price",
                  "a unit would cost more than " + micros_to_text(k_max_price) + " an hour",
                  "check the unit prices and the shape");
  }
  SPILLWAY_TRY(under("labels", validate(offer.labels)));
  SPILLWAY_TRY(under("taints", validate(offer.taints)));
  SPILLWAY_TRY(under("place", validate(offer.place)));
  SPILLWAY_TRY(under("network", validate(offer.network)));
  if (offer.energy) SPILLWAY_TRY(under("energy", validate(*offer.energy)));
  SPILLWAY_TRY(under("visibility", validate(offer.visibility)));
  SPILLWAY_TRY(under("terms", validate(offer.terms)));
  if (offer.until) SPILLWAY_TRY(check_time("until", *offer.until));
  return {};
}

std::string_view immutable_difference(const Offer& current, const Offer& next) {
  if (current.id != next.id) return "id";
  if (current.pool != next.pool) return "pool";
  if (current.kind != next.kind) return "kind";
  if (current.shape != next.shape) return "shape";
  if (current.labels != next.labels) return "labels";
  if (current.taints != next.taints) return "taints";
  return {};
}

}  // namespace spillway::model
