#include "services/autoscaler/fabric_nodes.h"

#include <algorithm>
#include <utility>

#include "fabric/buyer.h"
#include "services/autoscaler/node_document.h"
#include "services/fabric/resource.h"

namespace spillway::autoscaler {
namespace {

using fabric::liqo::k_node_type_label;
using fabric::liqo::k_slices;
using fabric::liqo::k_virtual_node_type;

// So long the Cluster Autoscaler takes a node for one that is only starting.
constexpr Duration k_start = minutes(15);

model::Node saying(std::string_view annotation, std::string_view text) {
  model::Node patch = model::object_node();
  model::put(model::ensure(patch, {"metadata", "annotations"}), annotation,
             model::text_node(std::string(text)));
  return patch;
}

}  // namespace

FabricNodes::FabricNodes(kube::Api& api, services::Log& log)
    : api_(api),
      log_(log),
      slice_watch_(api, agent::resource_of(k_slices),
                   {.labels = std::string(fabric::k_contract_label)},
                   calls_of(
                       "slices", [this](const kube::Object& slice) { put_slice(slice); },
                       [this](const std::string& name) { slice_is_gone(name); })),
      node_watch_(api, kube::k_nodes,
                  {.labels = fmt::format("{}={}", k_node_type_label, k_virtual_node_type)},
                  calls_of(
                      "nodes",
                      [this](const kube::Object& node) {
                        see(nodes_[std::string(kube::name_in(node))], node);
                      },
                      [this](const std::string& name) { node_is_gone(name); })),
      others_watch_(api, kube::k_nodes,
                    {.labels = fmt::format("{}!={}", k_node_type_label, k_virtual_node_type)},
                    calls_of(
                        "other nodes",
                        [this](const kube::Object& node) {
                          see(others_[std::string(kube::name_in(node))], node);
                        },
                        [this](const std::string& name) { others_.erase(name); })) {}

kube::WatchCalls FabricNodes::calls_of(std::string what,
                                       std::function<void(const kube::Object&)> put,
                                       std::function<void(const std::string&)> gone) {
  kube::WatchCalls calls;
  calls.on_put = [this, put = std::move(put)](const kube::Object& object) {
    put(object);
    changed_();
  };
  calls.on_gone = [this, gone = std::move(gone)](const kube::Name& name) {
    gone(name.name);
    changed_();
  };
  calls.on_synced = [this] { changed_(); };
  calls.on_trouble = [this, what](const Error& why) {
    log_.write(services::Level::warning, "the cluster's virtual nodes cannot be seen",
               {{"of", what}, {"why", why.message()}});
  };
  calls.on_open = [this, what] {
    log_.write(services::Level::info, "the cluster's virtual nodes are seen", {{"of", what}});
    changed_();
  };
  return calls;
}

void FabricNodes::start(std::function<void()> changed) {
  changed_ = std::move(changed);
  slice_watch_.start();
  node_watch_.start();
  others_watch_.start();
}

void FabricNodes::put_slice(const kube::Object& slice) {
  slices_[std::string(kube::name_in(slice))] = {
      std::string(kube::space_in(slice)),
      kube::annotation_in(slice, k_back_end) == k_fabric_back_end};
}

void FabricNodes::see(NodeSeen& seen, const kube::Object& node) {
  const auto& taints = model::items_at(node, {"spec", "taints"});
  const bool is_ending = std::any_of(taints.begin(), taints.end(), [](const auto& taint) {
    return model::text_at(taint, {"key"}) == fabric::k_deleted_taint;
  });
  seen.is_ready = is_ready(node);
  seen.is_ending = is_ending;
  seen.was_ready = seen.was_ready || seen.is_ready;
  seen.made =
      parse_instant(model::text_at(node, {"metadata", "creationTimestamp"})).value_or(Instant{});
}

void FabricNodes::slice_is_gone(const std::string& name) {
  const auto slice = slices_.extract(name);
  if (!slice.empty() && slice.mapped().is_ours && nodes_.contains(name)) parting_.insert(name);
  const auto waiting = removing_.extract(name);
  if (waiting.empty()) return;
  for (const Then& then : waiting.mapped()) then({});
}

void FabricNodes::node_is_gone(const std::string& name) {
  nodes_.erase(name);
  parting_.erase(name);
}

NodeSight FabricNodes::look(const std::string& name) const {
  for (const kube::Watch* watch : {&slice_watch_, &node_watch_}) {
    if (!watch->is_synced() || watch->is_in_trouble()) return NodeSight::unknown;
  }
  const auto node = nodes_.find(name);
  if (node != nodes_.end() && node->second.is_ready) return NodeSight::ready;
  return node != nodes_.end() || slices_.contains(name) ? NodeSight::coming : NodeSight::absent;
}

std::vector<std::string> FabricNodes::names() const {
  std::vector<std::string> all;
  for (const auto& [name, slice] : slices_) {
    if (slice.is_ours) all.push_back(name);
  }
  return all;
}

// One that fails is told again, with the next change of anything.
void FabricNodes::claim(const std::string& name) {
  const auto found = slices_.find(name);
  if (found == slices_.end() || found->second.is_ours || claiming_.contains(name)) return;
  claiming_.insert(name);
  api_.patch(agent::resource_of(k_slices), {found->second.space, name}, kube::PatchKind::merge,
             saying(k_back_end, k_fabric_back_end),
             life_.guard([this, name](const Result<kube::Object>&) { claiming_.erase(name); }));
}

// Virtual ones, too: held by hand, made by liqoctl, ordered from a driver. A node of ours may
// outlive its slice for a moment, when the ledger knows it no more: counted, each spare that is
// given back would take the next with it.
std::optional<int32_t> FabricNodes::others_unready(const Knows& ledger) const {
  const bool is_known = others_watch_.is_synced() && !others_watch_.is_in_trouble() &&
                        node_watch_.is_synced() && !node_watch_.is_in_trouble();
  if (!is_known) return std::nullopt;
  const Instant now = api_.loop().now();
  const auto counts = [&](const auto& one) {
    const auto& [name, node] = one;
    const bool is_starting = !node.was_ready && now - node.made < k_start;
    return !node.is_ready && !is_starting && !node.is_ending && !parting_.contains(name) &&
           !ledger(name);
  };
  return static_cast<int32_t>(std::count_if(others_.begin(), others_.end(), counts) +
                              std::count_if(nodes_.begin(), nodes_.end(), counts));
}

void FabricNodes::make(const demand::NodeImage&, Then then) {
  api_.loop().post(life_.guard([then = std::move(then)] { then({}); }));
}

// Of a unit that has no slice yet there is nothing to end: it is given back before it is made.
void FabricNodes::remove(const std::string& name, Then then) {
  const auto found = slices_.find(name);
  if (found == slices_.end()) {
    return api_.loop().post(life_.guard([then = std::move(then)] { then({}); }));
  }
  std::vector<Then>& waiting = removing_[name];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1) return;  // it is said already
  api_.patch(agent::resource_of(k_slices), {found->second.space, name}, kube::PatchKind::merge,
             saying(fabric::k_end_annotation, "true"),
             life_.guard([this, name](const Result<kube::Object>& said) {
               if (said) return;  // on_gone tells the rest
               if (said.error().code == Code::not_found) return slice_is_gone(name);
               const auto refused = removing_.extract(name);
               if (refused.empty()) return;
               for (const Then& one : refused.mapped()) one(tl::unexpected(said.error()));
             }));
}

}  // namespace spillway::autoscaler
