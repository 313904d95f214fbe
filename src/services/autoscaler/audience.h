// Audience: the people of the cluster that buys. They hear what was decided about their pods and
// nodes where they look first: kubectl describe.
#pragma once

#include <string>
#include <vector>

#include "model/labels.h"

namespace spillway::autoscaler {

struct Announcement {
  enum class Kind { pod, node };
  Kind kind = Kind::pod;
  std::string space;  // of a pod
  std::string name;
  std::string uid;     // of a pod
  std::string reason;  // a word: "SpillwayChose"
  std::string message;
  bool is_warning = false;
  std::string gist = {};  // what it comes to, without figures that change with the time
  bool operator==(const Announcement&) const = default;
};

// One that no node of the cluster has room for.
struct PendingPod {
  std::string space;
  std::string name;
  std::string uid;
  model::Labels labels;
};

class Audience {
 public:
  virtual ~Audience() = default;
  virtual void tell(const Announcement& announcement) = 0;
  virtual std::vector<PendingPod> pending() const = 0;
};

// For who has none.
class NoAudience final : public Audience {
 public:
  void tell(const Announcement&) override {}
  std::vector<PendingPod> pending() const override { return {}; }
};

}  // namespace spillway::autoscaler
