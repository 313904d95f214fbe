#include "fabric/granted_labels.h"

#include "model/reserved.h"

namespace spillway::fabric {
namespace {

bool is_liqos(std::string_view label) {
  const size_t slash = label.find('/');
  return slash != std::string_view::npos && label.substr(0, slash).ends_with("liqo.io");
}

}  // namespace

bool may_be_granted(std::string_view label) {
  return !model::is_reserved_label(label) && !model::is_label_of_kubernetes(label);
}

std::vector<std::string> labels_beyond(const liqo::Texts& bought, const liqo::Texts& granted) {
  std::vector<std::string> beyond;
  for (const auto& [key, value] : granted) {
    const auto found = bought.find(key);
    const bool is_fine = found == bought.end() ? may_be_granted(key) : found->second == value;
    if (!is_fine) beyond.push_back(key);
  }
  return beyond;
}

std::vector<std::string> labels_to_remove(const liqo::Texts& bought, const liqo::Texts& granted,
                                          const liqo::Texts& seen) {
  std::vector<std::string> removed;
  for (const auto& [key, value] : seen) {
    if (bought.contains(key) || may_be_granted(key)) continue;
    if (!is_liqos(key) || granted.contains(key)) removed.push_back(key);
  }
  return removed;
}

}  // namespace spillway::fabric
