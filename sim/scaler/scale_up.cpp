#include "sim/scaler/scale_up.h"

#include <algorithm>

#include "sim/scaler/snapshot.h"

namespace spillway::scaler {
namespace {

constexpr size_t k_most_lots_of_an_owner = 10;

double share_of(const PodView& pod, const NodeView& node) {
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  return share(pod.requests.cpu_millis, node.row.allocatable.cpu_millis) +
         share(pod.requests.memory_bytes, node.row.allocatable.memory_bytes);
}

// New nodes of one group, and what has been packed on them.
class Packing {
 public:
  Packing(const NodeView& node, int32_t most) : node_(node), most_(most) {}

  void pack(const std::vector<PodView>& lot) {
    size_t next = 0;
    for (; next < lot.size(); ++next) {
      Place* place = nodes_.find_fitting(lot[next], [](const Place&) { return true; });
      if (place == nullptr) break;
      put(lot[next], *place);
    }
    for (; next < lot.size(); ++next) {
      if (!pack_on_newest(lot[next])) return;
    }
  }

  int32_t count() const {
    const auto& places = nodes_.places();
    return static_cast<int32_t>(std::count_if(
        places.begin(), places.end(), [](const Place& place) { return !place.pods.empty(); }));
  }
  std::vector<PodView> take_pods() { return std::move(pods_); }

 private:
  bool pack_on_newest(const PodView& pod) {
    Place* newest = opened_ == 0 ? nullptr : nodes_.find(name_of(opened_));
    if (newest != nullptr && fits(pod, *newest)) {
      put(pod, *newest);
      return true;
    }
    if (newest != nullptr && newest->pods.empty()) return false;
    if (opened_ == most_) return false;
    nodes_.add(as_template(node_, name_of(++opened_)));
    newest = nodes_.find(name_of(opened_));
    if (!fits(pod, *newest)) return false;
    put(pod, *newest);
    return true;
  }

  void put(const PodView& pod, Place& place) {
    nodes_.put(pod, place);
    pods_.push_back(pod);
  }
  static std::string name_of(int32_t number) { return "new-" + std::to_string(number); }

  const NodeView& node_;
  int32_t most_;
  int32_t opened_ = 0;
  Snapshot nodes_;
  std::vector<PodView> pods_;
};

}  // namespace

Lots lots_of(const std::vector<PodView>& pods) {
  Lots lots;
  std::map<std::string, std::vector<size_t>> of_owner;
  for (const PodView& pod : pods) {
    auto& its = of_owner[pod.owner];
    const auto alike = std::find_if(its.begin(), its.end(),
                                    [&](size_t lot) { return are_alike(lots[lot].front(), pod); });
    if (!pod.owner.empty() && alike != its.end()) {
      lots[*alike].push_back(pod);
      continue;
    }
    if (its.size() < k_most_lots_of_an_owner) its.push_back(lots.size());
    lots.push_back({pod});
  }
  return lots;
}

Option estimate(const std::string& group, const NodeView& node, const Lots& lots, int32_t most) {
  const Place empty{node, node.row.allocatable};
  Lots fitting;
  for (const std::vector<PodView>& lot : lots) {
    if (fits(lot.front(), empty)) fitting.push_back(lot);
  }
  std::stable_sort(fitting.begin(), fitting.end(), [&node](const auto& a, const auto& b) {
    return share_of(a.front(), node) > share_of(b.front(), node);
  });
  Packing packing(node, most);
  for (const std::vector<PodView>& lot : fitting) packing.pack(lot);
  return {group, node, packing.count(), packing.take_pods()};
}

}  // namespace spillway::scaler
