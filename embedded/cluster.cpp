#include "embedded/cluster.h"

#include <fmt/format.h>

#include "base/check.h"
#include "embedded/annotations.h"
#include "embedded/cluster_parts.h"
#include "embedded/debug.h"
#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;

constexpr std::string_view k_first_spaces[] = {"default", "kube-system", "kube-public",
                                               "kube-node-lease"};

Node named(std::string_view name) {
  Node document = model::object_node();
  model::put(model::ensure(document, {"metadata"}), "name", model::text_node(name));
  return document;
}

}  // namespace

Cluster::Cluster(host::Loop& loop, host::Random& random, ClusterOptions options)
    : options_(std::move(options)), parts_(std::make_unique<Parts>(loop, random, options_)) {
  if (options_.trusts_strangers) {
    parts_->access.admit_strangers({"admin", {"system:masters", "system:authenticated"}});
  }
  if (options_.has_debug_paths) {
    parts_->api.on_debug([this](const Ask& ask) { return debug(*this, ask); });
  }
  found();
  if (options_.liqo) add_liqo();
}

// Its name is a label, so there is an authority of that name.
void Cluster::add_liqo() {
  const Status made = parts_->need_authority(options_.name);
  SPILLWAY_CHECK(made.has_value(), "a cluster's authority cannot be made");
  if (options_.liqo->id.empty()) options_.liqo->id = options_.name;
  parts_->liqo = std::make_unique<Liqo>(parts_->objects, parts_->access, parts_->api, parts_->loop,
                                        *options_.liqo, *parts_->authority);
}

Cluster::~Cluster() {
  if (serving_ != nullptr) serving_->server.reset();
}

void Cluster::found() {
  const Kind& spaces = parts_->registry.built_in("namespaces");
  for (const std::string_view name : k_first_spaces) {
    (void)parts_->objects.create(spaces, named(name));
  }
  for (int i = 1; i <= options_.nodes; ++i) {
    NodeWish wish = options_.node;
    wish.name = fmt::format("{}-{}", wish.name.empty() ? "node" : wish.name, i);
    (void)add_node(wish);
  }
}

Status Cluster::add_node(const NodeWish& wish) {
  Node node = named(wish.name);
  Node& labels = model::ensure(node, {"metadata", "labels"});
  model::put(labels, "kubernetes.io/hostname", model::text_node(wish.name));
  model::put(labels, "kubernetes.io/os", model::text_node("linux"));
  model::put(labels, "kubernetes.io/arch", model::text_node("amd64"));
  for (const auto& [key, value] : wish.labels) model::put(labels, key, model::text_node(value));
  model::put(model::ensure(node, {"metadata", "annotations"}), k_kubelet, model::text_node("on"));
  Node& capacity = model::ensure(node, {"status", "capacity"});
  model::put(capacity, "cpu", model::text_node(wish.cpu));
  model::put(capacity, "memory", model::text_node(wish.memory));
  model::put(capacity, "pods", model::text_node(wish.pods));
  for (const auto& [key, value] : wish.more_resources) {
    model::put(capacity, key, model::text_node(value));
  }
  const auto made = parts_->objects.create(parts_->registry.built_in("nodes"), std::move(node));
  if (made) return {};
  return fail(made.error().code == 409 ? Code::conflict : Code::invalid, "node " + wish.name,
              made.error().message, "choose another name or shape");
}

void Cluster::set_kubelet(const std::string& node, bool is_on) {
  parts_->objects.change(parts_->registry.built_in("nodes"), {"", node}, [&](Node& document) {
    model::put(model::ensure(document, {"metadata", "annotations"}), k_kubelet,
               model::text_node(is_on ? "on" : "off"));
  });
}

net::Handler& Cluster::handler() { return parts_->api; }
Objects& Cluster::objects() { return parts_->objects; }
Faults& Cluster::faults() { return parts_->faults; }
void Cluster::on_cut(Api::Cut cut) { parts_->api.on_cut(std::move(cut)); }

void Cluster::forget_history() { parts_->table.forget_history(); }

void Cluster::set_clock_skew(Duration skew) {
  const Duration most = seconds(k_longest_seconds);
  parts_->clock.skew = std::clamp(skew, Duration{} - most, most);
}

void Cluster::restart(Duration down, int64_t lost_versions) {
  parts_->api.set_down(true);
  if (serving_ != nullptr) serving_->server->cut([](const net::Peer&) { return true; });
  // One that begins while it is down makes it no shorter: who is up never loses versions.
  ++restarts_;
  parts_->loop.after(down, parts_->lifeline.guard([this, lost_versions] {
    parts_->table.fall_back(std::max<int64_t>(0, lost_versions));
    if (--restarts_ == 0) parts_->api.set_down(false);
  }));
}

}  // namespace spillway::embedded
