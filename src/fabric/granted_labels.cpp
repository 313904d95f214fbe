#include "fabric/granted_labels.h"

#include "fabric/liqo/names.h"
#include "model/reserved.h"

namespace spillway::fabric {

liqo::Texts said_by_kubelet(const std::string& unit) {
  return {{"kubernetes.io/hostname", unit},
          {std::string(liqo::k_node_type_label), std::string(liqo::k_virtual_node_type)}};
}

std::vector<std::string> labels_beyond(const liqo::Texts& bought, const liqo::Texts& granted) {
  std::vector<std::string> beyond;
  for (const auto& [key, value] : granted) {
    const auto found = bought.find(key);
    const bool is_fine = found == bought.end() ? model::is_free_label(key) : found->second == value;
    if (!is_fine) beyond.push_back(key);
  }
  return beyond;
}

std::vector<std::string> labels_to_remove(const liqo::Texts& bought, const liqo::Texts& seen) {
  std::vector<std::string> removed;
  for (const auto& [key, value] : seen) {
    if (!bought.contains(key) && !model::is_free_label(key)) removed.push_back(key);
  }
  return removed;
}

}  // namespace spillway::fabric
