// How a GrantPolicy is written (model/codec.h).
#pragma once

#include <array>

#include "fabric/grant_policy.h"
#include "model/fields.h"

namespace spillway::fabric {

constexpr std::array<model::Word<PodSecurity>, 2> words_of(PodSecurity) {
  return {{{PodSecurity::baseline, to_text(PodSecurity::baseline)},
           {PodSecurity::restricted, to_text(PodSecurity::restricted)}}};
}

template <class F>
void fields(F& f, GrantPolicy& policy) {
  f.with_default("node_labels", policy.node_labels);
  f.with_default("node_selector", policy.node_selector);
  f.with_default("ingress_classes", policy.ingress_classes);
  f.with_default("load_balancer_classes", policy.load_balancer_classes);
  f.with_default("security", policy.security);
  f.with_default("closed_networks", policy.closed_networks);
}

}  // namespace spillway::fabric
