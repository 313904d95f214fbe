#include "sim/scaler/views.h"

#include <algorithm>
#include <charconv>

namespace spillway::scaler {
namespace {

constexpr Duration k_deletion_takes = minutes(5);  // at most
constexpr std::string_view k_candidate = "DeletionCandidateOfClusterAutoscaler";

bool comes_and_goes(const model::Taint& taint) {
  return taint.key == k_to_be_deleted || taint.key == k_candidate || supply::is_of_health(taint) ||
         taint.key == "node.kubernetes.io/unschedulable";
}

template <class Groups>
auto find_group(Groups& groups, const std::string& id) {
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&id](const GroupView& group) { return group.id == id; });
  return found == groups.end() ? nullptr : &*found;
}

}  // namespace

GroupView* CloudView::find(const std::string& group) { return find_group(groups, group); }

const GroupView* CloudView::find(const std::string& group) const {
  return find_group(groups, group);
}

const GroupView* CloudView::owner_of(const std::string& node) const {
  const auto found = group_of.find(node);
  return found == group_of.end() || found->second.empty() ? nullptr : find(found->second);
}

bool has_taint(const NodeView& node, std::string_view key) {
  const auto& taints = node.row.taints;
  return std::any_of(taints.begin(), taints.end(),
                     [key](const model::Taint& taint) { return taint.key == key; });
}

bool is_being_deleted(const NodeView& node, Instant now) {
  for (const model::Taint& taint : node.row.taints) {
    if (taint.key != k_to_be_deleted) continue;
    int64_t since = 0;  // in seconds; what is no number is long ago
    std::from_chars(taint.value.data(), taint.value.data() + taint.value.size(), since);
    if (now.ms / 1000 - since < k_deletion_takes.ms / 1000) return true;
  }
  return false;
}

int64_t gpus_of(const model::Resources& resources) {
  int64_t gpus = 0;
  for (const model::Count& count : resources.extended) {
    if (count.name == "nvidia.com/gpu") gpus += count.amount;
  }
  return gpus;
}

NodeView as_template(const NodeView& node, const std::string& name) {
  NodeView made = node;
  made.row.name = name;
  made.row.cordoned = false;
  made.row.ready = true;
  std::erase_if(made.row.taints, comes_and_goes);
  for (model::Label& label : made.row.labels) {
    if (label.key == "kubernetes.io/hostname") label.value = name;
  }
  return made;
}

}  // namespace spillway::scaler
