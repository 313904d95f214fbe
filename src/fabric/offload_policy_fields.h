// How an OffloadPolicy is written (model/codec.h).
#pragma once

#include <array>

#include "fabric/offload_policy.h"
#include "model/fields.h"

namespace spillway::fabric {

constexpr std::array<model::Word<PodPlaces>, 2> words_of(PodPlaces) {
  return {{{PodPlaces::local_and_remote, "local-and-remote"}, {PodPlaces::remote, "remote"}}};
}

template <class F>
void fields(F& f, TrustedProviders& trusted) {
  f.with_default("clusters", trusted.clusters);
  f.with_default("pinned", trusted.pinned);
}

template <class F>
void fields(F& f, OffloadPolicy& policy) {
  f.with_default("namespaces", policy.namespaces);
  f.with_default("labels", policy.labels);
  f.with_default("pods", policy.pods);
  f.with_default("trusted", policy.trusted);
}

}  // namespace spillway::fabric
