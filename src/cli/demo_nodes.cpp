#include "cli/demo_nodes.h"

#include <algorithm>

#include <fmt/format.h>

#include "fabric/buyer.h"
#include "services/autoscaler/node_document.h"
#include "services/fabric/resource.h"
#include "supply/guest_rule.h"

namespace spillway::cli {
namespace {

using fabric::UnitStep;
namespace liqo = fabric::liqo;

std::string guest_selector() {
  std::string text;
  for (const model::Label& label : supply::liqo_guest_labels()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", label.key, label.value);
  }
  return text;
}

}  // namespace

DemoNodes::DemoNodes(kube::Api& buyer)
    : slice_watch_(buyer, agent::resource_of(liqo::k_slices),
                   {.labels = std::string(fabric::k_contract_label)},
                   {[this](const kube::Object& slice) { put_slice(slice); },
                    [this](const kube::Name& name) { slices_.erase(name.name); }}),
      node_watch_(
          buyer, kube::k_nodes,
          {.labels = fmt::format("{}={}", liqo::k_node_type_label, liqo::k_virtual_node_type)},
          {[this](const kube::Object& node) {
             nodes_[std::string(kube::name_in(node))] = {
                 std::string(model::text_at(node, {"spec", "providerID"})),
                 autoscaler::is_ready(node)};
           },
           [this](const kube::Name& name) { nodes_.erase(name.name); }}) {}

void DemoNodes::start() {
  slice_watch_.start();
  node_watch_.start();
}

void DemoNodes::watch_guests(const std::string& seller, kube::Api& api) {
  Guests& guests = guests_[seller];
  guests.watch = std::make_unique<kube::Watch>(
      api, kube::k_pods, kube::Wanted{.labels = guest_selector()},
      kube::WatchCalls{[&guests](const kube::Object& pod) {
                         const std::string name(kube::name_in(pod));
                         const bool runs = model::text_at(pod, {"status", "phase"}) == "Running";
                         runs ? void(guests.running.insert(name))
                              : void(guests.running.erase(name));
                       },
                       [&guests](const kube::Name& name) { guests.running.erase(name.name); }});
  guests.watch->start();
}

bool DemoNodes::is_synced() const {
  return slice_watch_.is_synced() && node_watch_.is_synced() &&
         std::all_of(guests_.begin(), guests_.end(),
                     [](const auto& one) { return one.second.watch->is_synced(); });
}

void DemoNodes::put_slice(const kube::Object& slice) {
  const auto read = liqo::read_slice(slice);
  if (!read) return;
  slices_[std::string(kube::name_in(slice))] = {
      read->provider, ContractId(std::string(kube::label_in(slice, fabric::k_contract_label))),
      read->is_accepted(liqo::k_resources_condition),
      !kube::annotation_in(slice, fabric::k_end_annotation).empty()};
}

// As the fabric calls them; those before there is a slice cannot be seen in a cluster.
UnitStep DemoNodes::step_of(const std::string& name) const {
  const auto slice = slices_.find(name);
  const auto node = nodes_.find(name);
  if (slice == slices_.end()) return node == nodes_.end() ? UnitStep::gone : UnitStep::ending;
  if (slice->second.is_to_end) return node == nodes_.end() ? UnitStep::ending : UnitStep::draining;
  if (node != nodes_.end()) return node->second.is_ready ? UnitStep::ready : UnitStep::made;
  return slice->second.is_granted ? UnitStep::granted : UnitStep::carried;
}

int32_t DemoNodes::guests_of(const UnitNode& unit, const scaler::ClusterView& cluster) const {
  const auto guests = guests_.find(unit.seller);
  if (guests == guests_.end()) return 0;
  return static_cast<int32_t>(
      std::count_if(cluster.pods.begin(), cluster.pods.end(), [&](const scaler::PodView& pod) {
        return pod.node == unit.name &&
               guests->second.running.contains(pod.key.substr(pod.key.find('/') + 1));
      }));
}

void DemoNodes::look(const scaler::ClusterView& cluster, Instant now) {
  for (const auto& [name, slice] : slices_) {
    const bool is_known = std::any_of(all_.begin(), all_.end(),
                                      [&](const UnitNode& one) { return one.name == name; });
    if (!is_known) all_.push_back({name, slice.seller, {}, slice.contract});
  }
  int32_t guests = 0;
  for (UnitNode& unit : all_) {
    if (unit.gone) continue;
    unit.step = step_of(unit.name);
    if (const auto node = nodes_.find(unit.name); node != nodes_.end()) {
      unit.provider_id = node->second.provider_id;
    }
    unit.guests = guests_of(unit, cluster);
    unit.most_guests = std::max(unit.most_guests, unit.guests);
    if (unit.is_ready() && !unit.first_ready) unit.first_ready = now;
    if (unit.step == UnitStep::gone) unit.gone = now;
    guests += unit.guests;
  }
  most_guests_ = std::max(most_guests_, guests);
}

}  // namespace spillway::cli
