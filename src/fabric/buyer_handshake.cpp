// The handshake at the buyer: what its provider does not know yet, and what it answers.
#include <algorithm>

#include "fabric/buying.h"

namespace spillway::fabric {
namespace {

// Some at a time: a message has its bounds, and a request some hundred bytes.
constexpr size_t k_most_requests = 32;

// Ours is of another key than Liqo has now, and the provider has signed one for that; or of another
// Tenant than it has now. Liqo was forbidden to copy our slices while there was none, and tries no
// more before it has another Identity.
bool is_certificate_stale(const Buying& b, const liqo::Identity& known, const IdentityTalk& heard) {
  if (known.access.certificate == heard.access.certificate) return false;
  if (b.wish.is_waiting) return true;
  return std::any_of(b.sight.units.begin(), b.sight.units.end(), [](const auto& unit) {
    const auto& slice = unit.second.slice;
    return slice &&
           status_of(slice->conditions, liqo::k_authentication_condition) == liqo::k_denied;
  });
}

}  // namespace

// What the provider does not have yet. It says itself when it needs to know our control plane.
void ask(Buying& b, const Purchase& purchase) {
  const bool is_known = b.sight.identity || purchase.recorded;
  if (!is_known && !purchase.proof) return;
  RequestTalk talk{purchase.proof, {}};
  for (const BoughtUnit& unit : purchase.units) {
    const auto seen = b.sight.units.find(unit.name);
    const bool has_slice = seen != b.sight.units.end() && seen->second.slice;
    if (unit.drained_by || has_slice || is_recorded(purchase, unit.name)) continue;
    if (talk.units.size() < k_most_requests) talk.units[unit.name] = unit.request;
  }
  if (talk.units.empty() && !talk.proof) return;
  b.plan.deeds.emplace_back(Say{purchase.contract, std::string(k_request_step), to_body(talk)});
}

void settle_identity(Buying& b) {
  const auto& heard = b.wish.identity;
  if (!heard) return;
  if (!b.sight.identity) {
    if (!clear_remnants(b)) return;
    liqo::Identity made = liqo::new_identity(b.wish.provider, heard->access, heard->space);
    made.meta.labels.emplace(k_owner_label, k_owner_fabric);
    return b.create(b.at(liqo::k_identities, made.meta.name), to_object(made));
  }
  const liqo::Identity& known = *b.sight.identity;
  const bool is_same = known.access.authority == heard->access.authority &&
                       known.access.api_server == heard->access.api_server &&
                       known.access.proxy == heard->access.proxy && known.space == heard->space &&
                       !is_certificate_stale(b, known, *heard);
  // Liqo makes nothing of a change: it goes, and the next look makes another.
  if (!is_same && known.meta.deleted.empty()) {
    b.plan.troubles.push_back({"Identity " + known.meta.name,
                               "it is not, or no longer, as its provider says",
                               "it is made anew, which takes up to a minute"});
    b.remove(b.at(liqo::k_identities, known.meta.name), known.meta.uid);
  }
}

}  // namespace spillway::fabric
