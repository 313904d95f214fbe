// What an API server would show of offloadings after a plan of fabric/spaces.h was done.
#pragma once

#include "fabric/spaces.h"
#include "model/tree.h"

namespace spillway::test {

inline void settle(const fabric::Plan& plan, fabric::SpacesSight& sight) {
  namespace liqo = fabric::liqo;
  for (const fabric::Deed& deed : plan.deeds) {
    if (const auto* made = std::get_if<fabric::Create>(&deed)) {
      auto& slot = sight.spaces.at(made->at.space).offloading;
      if (!slot) slot = liqo::read_namespace_offloading(made->object).value();
    } else if (const auto* gone = std::get_if<fabric::Remove>(&deed)) {
      sight.spaces.at(gone->at.space).offloading.reset();
    } else if (const auto* changed = std::get_if<fabric::Merge>(&deed)) {
      if (changed->at.kind.plural == liqo::k_pods.plural) {
        for (fabric::WaitingPod& pod : sight.waiting) {
          const model::Node* list = model::look(changed->patch, {"spec", "tolerations"});
          if (pod.space == changed->at.space && pod.name == changed->at.name)
            pod.tolerations = *list;
        }
        continue;
      }
      auto& slot = sight.spaces.at(changed->at.space).offloading;
      model::Node object = to_object(*slot);
      model::merge(object, changed->patch);
      slot = liqo::read_namespace_offloading(object).value();
    }
  }
}

}  // namespace spillway::test
