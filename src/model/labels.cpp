#include "model/labels.h"

#include <algorithm>

#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {

const std::string* find_label(const Labels& labels, std::string_view key) {
  const auto at =
      std::lower_bound(labels.begin(), labels.end(), key,
                       [](const Label& label, std::string_view k) { return label.key < k; });
  return at != labels.end() && at->key == key ? &at->value : nullptr;
}

bool contains_all(const Labels& labels, const Labels& wanted) {
  auto at = labels.begin();
  for (const Label& label : wanted) {
    while (at != labels.end() && at->key < label.key) ++at;
    if (at == labels.end() || *at != label) return false;
  }
  return true;
}

Status validate(const Labels& labels) {
  SPILLWAY_TRY(check_size("", labels.size(), k_max_names));
  const std::string* last = nullptr;
  for (const Label& label : labels) {
    SPILLWAY_TRY(check_label_key("", label.key));
    SPILLWAY_TRY(check_label_value(label.key, label.value));
    if (last != nullptr && *last >= label.key) {
      return refuse("", in_quotes(label.key) + " is out of order or there twice",
                    "sort by key, each once");
    }
    last = &label.key;
  }
  return {};
}

Status validate(const std::vector<Taint>& taints) {
  SPILLWAY_TRY(check_size("", taints.size(), k_max_names));
  for (size_t i = 0; i < taints.size(); ++i) {
    SPILLWAY_TRY(under("", i, check_label_key("key", taints[i].key)));
    SPILLWAY_TRY(under("", i, check_label_value("value", taints[i].value)));
    // Kubernetes holds a taint to be the same by key and effect, whatever its value.
    for (size_t j = 0; j < i; ++j) {
      if (taints[j].key == taints[i].key && taints[j].effect == taints[i].effect) {
        return under("", i,
                     refuse("", in_quotes(taints[i].key) + " is there twice with one effect",
                            "keep one of them"));
      }
    }
  }
  return {};
}

}  // namespace spillway::model
