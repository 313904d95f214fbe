// Who may see an offer, and so buy it: everyone, named clusters, or clusters with the labels that
// the *operator* gave them (never labels that a cluster gave itself). Nothing listed: nobody.
#pragma once

#include <vector>

#include "base/ids.h"
#include "model/labels.h"

namespace spillway::model {

struct Visibility {
  bool everyone = false;
  std::vector<ClusterId> clusters;  // sorted
  Labels selector;                  // all of them; empty selects nobody
  bool operator==(const Visibility&) const = default;
};

bool may_see(const Visibility& visibility, const ClusterId& buyer, const Labels& operator_labels);
Status validate(const Visibility& visibility);

}  // namespace spillway::model
