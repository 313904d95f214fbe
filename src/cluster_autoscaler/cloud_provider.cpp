#include "cluster_autoscaler/cloud_provider.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cluster_autoscaler/kube_proto.h"
#include "cluster_autoscaler/messages.h"

namespace spillway::cluster_autoscaler {
namespace {

using net::GrpcAnswer;
using net::GrpcCode;
using Reply = net::GrpcHandler::Reply;

constexpr double k_micros = 1'000'000;

GrpcAnswer ok(ProtoWriter message = {}) { return {GrpcCode::ok, {}, message.take()}; }

void answer_status(const Reply& reply, const Status& status) {
  reply(status ? ok() : net::to_grpc(status.error()));
}

GrpcAnswer no_group(const std::string& id) {
  return {GrpcCode::not_found, "group " + in_quotes(id) + ": there is none of this name", {}};
}

// An empty id: not one of ours.
void group_for_node(Provider& provider, const Asked& asked, const Reply& reply) {
  ProtoWriter group;
  const auto id =
      asked.nodes.empty() ? std::nullopt : provider.ledger().group_of(asked.nodes.front().ref);
  if (id) group = group_message(*id, *provider.ledger().find(*id));
  reply(ok(std::move(ProtoWriter().message(1, group))));
}

void target_size(Provider& provider, const Asked& asked, const Reply& reply) {
  const demand::GroupState* group = provider.ledger().find(OfferId(asked.group));
  if (group == nullptr) return reply(no_group(asked.group));
  reply(ok(std::move(ProtoWriter().integer(1, group->target()))));
}

void nodes(Provider& provider, const Asked& asked, const Reply& reply) {
  if (provider.ledger().find(OfferId(asked.group)) == nullptr) return reply(no_group(asked.group));
  ProtoWriter all;
  for (const demand::Instance& instance : provider.ledger().instances(OfferId(asked.group))) {
    all.message(1, instance_message(instance));
  }
  reply(ok(std::move(all)));
}

// As a message for clients up to 1.34, as bytes for those from 1.34 on: on the wire it is the same.
void template_node(Provider& provider, const Asked& asked, const Reply& reply) {
  const demand::GroupState* group = provider.ledger().find(OfferId(asked.group));
  if (group == nullptr) return reply(no_group(asked.group));
  const std::string node = marshal_node(demand::node_image(group->offer, "template", {}));
  reply(ok(std::move(ProtoWriter().bytes(1, node).bytes(2, node))));
}

void increase_size(Provider& provider, const Asked& asked, const Reply& reply) {
  provider.increase(OfferId(asked.group), asked.delta,
                    [reply](const Status& status) { answer_status(reply, status); });
}

void delete_nodes(Provider& provider, const Asked& asked, const Reply& reply) {
  std::vector<demand::NodeRef> refs;
  for (const WireNode& node : asked.nodes) refs.push_back(node.ref);
  provider.remove(OfferId(asked.group), std::move(refs),
                  [reply](const Status& status) { answer_status(reply, status); });
}

void decrease_target(Provider& provider, const Asked& asked, const Reply& reply) {
  provider.cancel(OfferId(asked.group), asked.delta,
                  [reply](const Status& status) { answer_status(reply, status); });
}

bool is_window(const Window& window) { return window.from <= window.to; }

GrpcAnswer no_window() {
  return {GrpcCode::invalid_argument, "the window ends before it begins", {}};
}

GrpcAnswer price_of(int64_t micros) {
  return ok(std::move(ProtoWriter().real(1, static_cast<double>(micros) / k_micros)));
}

void node_price(Provider& provider, const Asked& asked, const Reply& reply) {
  if (!is_window(asked.window)) return reply(no_window());
  const WireNode node = asked.nodes.empty() ? WireNode{} : asked.nodes.front();
  const auto price = provider.node_price(node.labels, node.ref.provider_id, asked.window);
  reply(price ? price_of(*price) : net::to_grpc(price.error()));
}

void pod_price(Provider& provider, const Asked& asked, const Reply& reply) {
  if (!is_window(asked.window)) return reply(no_window());
  const auto pod = unmarshal_pod(asked.pod);
  if (!pod) return reply(net::to_grpc(pod.error()));
  // Never nothing: the caller divides by it.
  reply(price_of(std::max<int64_t>(provider.pod_price(pod->requests, asked.window), 1)));
}

void gpu_label(Provider&, const Asked&, const Reply& reply) {
  reply(ok(std::move(ProtoWriter().text(1, demand::k_gpu_label))));
}

void gpu_types(Provider& provider, const Asked&, const Reply& reply) {
  ProtoWriter all;
  for (const std::string& model : provider.gpu_models()) all.entry(1, model, ProtoWriter());
  reply(ok(std::move(all)));
}

void refresh(Provider& provider, const Asked&, const Reply& reply) {
  provider.refresh();
  reply(ok());
}

void cleanup(Provider&, const Asked&, const Reply& reply) { reply(ok()); }

// From 1.35 on a caller takes an option that this message cannot carry for zero: unless nobody
// answers, and then for its own default (kubernetes/autoscaler#10245).
void get_options(Provider&, const Asked&, const Reply& reply) {
  reply({GrpcCode::unimplemented, "the autoscaler's own options hold for every group", {}});
}

struct Route {
  std::string_view name;
  AskedFields fields;
  void (*run)(Provider&, const Asked&, const Reply&);  // null: all groups, as they were written
};

constexpr AskedFields k_nothing{};
constexpr AskedFields k_group_only{.group = 1};
constexpr AskedFields k_node_only{.node = 1};
constexpr AskedFields k_delta{.group = 2, .delta = 1};
constexpr AskedFields k_nodes{.group = 2, .node = 1};
constexpr AskedFields k_node_price{.node = 1, .from_old = 2, .from = 4, .to_old = 3, .to = 5};
constexpr AskedFields k_pod_price{
    .pod_old = 1, .pod = 4, .from_old = 2, .from = 5, .to_old = 3, .to = 6};

constexpr std::array<Route, 15> k_routes{
    {{"NodeGroups", k_nothing, nullptr},
     {"NodeGroupForNode", k_node_only, group_for_node},
     {"NodeGroupTargetSize", k_group_only, target_size},
     {"NodeGroupIncreaseSize", k_delta, increase_size},
     {"NodeGroupDeleteNodes", k_nodes, delete_nodes},
     {"NodeGroupDecreaseTargetSize", k_delta, decrease_target},
     {"NodeGroupNodes", k_group_only, nodes},
     {"NodeGroupTemplateNodeInfo", k_group_only, template_node},
     {"NodeGroupGetOptions", k_group_only, get_options},
     {"PricingNodePrice", k_node_price, node_price},
     {"PricingPodPrice", k_pod_price, pod_price},
     {"GPULabel", k_nothing, gpu_label},
     {"GetAvailableGPUTypes", k_nothing, gpu_types},
     {"Refresh", k_nothing, refresh},
     {"Cleanup", k_nothing, cleanup}}};

}  // namespace

CloudProvider::CloudProvider(Provider& provider)
    : provider_(provider), groups_(std::make_unique<GroupMessages>()) {}
CloudProvider::~CloudProvider() = default;

void CloudProvider::handle(net::GrpcCall call, Reply reply) {
  std::string_view name = call.method;
  const bool is_ours = name.starts_with(k_cloud_provider_service);
  if (is_ours) name.remove_prefix(k_cloud_provider_service.size());
  const auto route = std::find_if(k_routes.begin(), k_routes.end(),
                                  [name](const Route& one) { return one.name == name; });
  if (!is_ours || route == k_routes.end()) {
    return reply({GrpcCode::unimplemented, "there is no call " + in_quotes(call.method), {}});
  }
  const auto asked = read_asked(call.message, route->fields);
  if (!asked) {
    return reply({GrpcCode::invalid_argument,
                  fmt::format("these bytes are no message of {}", route->name),
                  {}});
  }
  if (route->run != nullptr) return route->run(provider_, *asked, reply);
  reply({GrpcCode::ok, {}, groups_->all(provider_.ledger().state())});
}

}  // namespace spillway::cluster_autoscaler
