#include "model/visibility.h"

#include <algorithm>

#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {

bool may_see(const Visibility& visibility, const ClusterId& buyer, const Labels& operator_labels) {
  if (visibility.everyone) return true;
  if (std::binary_search(visibility.clusters.begin(), visibility.clusters.end(), buyer))
    return true;
  return !visibility.selector.empty() && contains_all(operator_labels, visibility.selector);
}

Status validate(const Visibility& visibility) {
  if (visibility.everyone && !(visibility.clusters.empty() && visibility.selector.empty())) {
    return refuse("", "everyone and a list of some contradict each other", "keep one of them");
  }
  SPILLWAY_TRY(check_size("clusters", visibility.clusters.size(), k_max_listed));
  for (size_t i = 0; i < visibility.clusters.size(); ++i) {
    SPILLWAY_TRY(under("clusters", i, at("", check_cluster_id(visibility.clusters[i].text))));
    if (i > 0 && visibility.clusters[i - 1] >= visibility.clusters[i]) {
      return under(
          "clusters", i,
          refuse("", in_quotes(visibility.clusters[i].text) + " is out of order or there twice",
                 "sort them, each once"));
    }
  }
  return under("labels", validate(visibility.selector));
}

}  // namespace spillway::model
