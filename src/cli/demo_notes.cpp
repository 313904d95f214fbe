#include "cli/demo_notes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ids.h"

namespace spillway::cli {
namespace {

using Kind = scaler::Action::Kind;

std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

std::string seller_of(const std::string& group) { return std::string(owner_of(group)); }

void PodWaits::look(const scaler::ClusterView& cluster, Instant now) {
  std::map<std::string, Instant> still;
  for (const scaler::PodView& pod : cluster.pods) {
    if (!pod.node.empty()) continue;
    const auto known = waiting_.find(pod.key);
    if (known != waiting_.end()) {
      still.insert(*known);
    } else if (pod.is_unschedulable) {
      still.emplace(pod.key, now);
    }
  }
  for (const auto& [key, since] : waiting_) {
    if (!still.contains(key)) over_.push_back(now - since);  // it was placed, or is gone
  }
  waiting_ = std::move(still);
}

std::vector<Duration> PodWaits::all(Instant now) const {
  std::vector<Duration> all = over_;
  for (const auto& [key, since] : waiting_) all.push_back(now - since);
  return all;
}

std::string Decided::why_this_group() const {
  switch (options_.expander) {
    case scaler::Expander::random:
      return "by chance";
    case scaler::Expander::least_waste:
      return "it leaves the least unused";
    case scaler::Expander::price: {
      std::vector<std::pair<double, std::string>> prices;
      for (const auto& [group, price] : quoted_) prices.emplace_back(price, group);
      std::sort(prices.begin(), prices.end());
      std::vector<std::string> parts;
      for (const auto& [price, group] : prices) {
        parts.push_back(fmt::format("{} {:.2f}", seller_of(group), price));
      }
      return "USD/h: " + listed(parts);
    }
    case scaler::Expander::grpc: {
      std::vector<std::string> parts;
      for (const std::string& group : chosen_from_) parts.push_back(seller_of(group));
      return "the recommender's choice of " + listed(parts);
    }
  }
  return {};
}

std::string Decided::why_not_needed(const std::string& node) const {
  const auto found = tainted_.find(node);
  if (found == tainted_.end()) return "it failed";
  const std::string idle = to_text(options_.scale_down_unneeded_time);
  if (found->second == 0) return "empty for " + idle;
  return fmt::format("little used for {}; {} moved first", idle,
                     found->second == 1 ? "its pod was" : "its pods were");
}

void Decided::note(const scaler::Action& action, const scaler::Outcome& outcome, Duration at) {
  switch (action.kind) {
    case Kind::quote_node:
      if (outcome.status) quoted_[action.group] = outcome.price;
      return;
    case Kind::choose:
      chosen_from_.clear();
      for (const scaler::Option& option : action.options) chosen_from_.push_back(option.group);
      return;
    case Kind::increase:
      all_.push_back({at, outcome.status ? Deed::bought : Deed::refused, action.group, action.delta,
                      outcome.status ? why_this_group() : outcome.status.error().reason});
      quoted_.clear();
      return;
    case Kind::taint:
      if (outcome.status) tainted_[action.node.row.name] = 0;
      return;
    case Kind::evict:
      if (outcome.status && tainted_.contains(action.pod.node)) tainted_[action.pod.node] += 1;
      return;
    case Kind::remove:
      if (!outcome.status) return;
      for (const demand::NodeRef& node : action.nodes) {
        all_.push_back({at, Deed::gave_back, action.group, 1, why_not_needed(node.name)});
        tainted_.erase(node.name);
      }
      return;
    case Kind::decrease:
    case Kind::quote_pod:
    case Kind::untaint:
      return;
  }
}

}  // namespace spillway::cli
