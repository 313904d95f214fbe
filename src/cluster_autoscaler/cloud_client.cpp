#include "cluster_autoscaler/cloud_client.h"

#include <algorithm>
#include <bit>

#include "cluster_autoscaler/cloud_provider.h"
#include "cluster_autoscaler/protobuf.h"
#include "model/fields.h"

namespace spillway::cluster_autoscaler {
namespace {

net::GrpcAnswer unreadable_answer() {
  return {net::GrpcCode::internal, "its answer is no message", {}};
}

ProtoWriter node_message(const demand::NodeRef& node, const model::Labels& labels = {}) {
  ProtoWriter message;
  message.text(1, node.provider_id).text(2, node.name);
  for (const model::Label& label : labels) message.entry(3, label.key, label.value);
  return message;
}

ProtoWriter time_message(Instant at) { return std::move(ProtoWriter().integer(1, at.ms / 1000)); }

std::string group_request(const std::string& group) { return ProtoWriter().text(1, group).take(); }

std::string delta_request(const std::string& group, int32_t delta) {
  return ProtoWriter().integer(1, delta).text(2, group).take();
}

template <class Visit>
bool each_field(std::string_view bytes, Visit visit) {
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) visit(field);
  return !reader.is_broken();
}

GroupSeen read_group(std::string_view bytes) {
  GroupSeen group;
  each_field(bytes, [&group](const ProtoField& field) {
    if (field.number == 1) group.id = field.bytes;
    if (field.number == 2) group.min = field.integer32();
    if (field.number == 3) group.max = field.integer32();
  });
  return group;
}

InstanceSeen read_instance(std::string_view bytes) {
  InstanceSeen instance;
  std::string_view status;
  std::string_view error;
  each_field(bytes, [&](const ProtoField& field) {
    if (field.number == 1) instance.id = field.bytes;
    if (field.number == 2) status = field.bytes;
  });
  each_field(status, [&](const ProtoField& field) {
    if (field.number == 1) instance.state = field.integer();
    if (field.number == 2) error = field.bytes;
  });
  each_field(error, [&](const ProtoField& field) {
    if (field.number == 1) instance.error_code = field.bytes;
    if (field.number == 3) instance.error_class = field.integer();
  });
  return instance;
}

// The first two fields of a message: an entry of a map, or a name and what comes after it.
std::pair<std::string, std::string> read_pair(std::string_view bytes) {
  std::string_view first;
  std::string_view second;
  read_entry(bytes, first, second);
  return {std::string(first), std::string(second)};
}

model::Taint read_taint(std::string_view bytes) {
  model::Taint taint;
  each_field(bytes, [&taint](const ProtoField& field) {
    if (field.number == 1) taint.key = field.bytes;
    if (field.number == 2) taint.value = field.bytes;
    if (field.number != 3) return;
    for (const auto& known : words_of(taint.effect)) {
      if (known.word == field.bytes) taint.effect = known.value;
    }
  });
  return taint;
}

Told<double> read_price(const Told<std::string>& told) {
  if (!told) return tl::unexpected(told.error());
  double price = 0;
  each_field(*told, [&price](const ProtoField& field) {
    if (field.number == 1) price = std::bit_cast<double>(field.value);
  });
  return price;
}

Told<void> without_answer(const Told<std::string>& told) {
  if (!told) return tl::unexpected(told.error());
  return {};
}

}  // namespace

Told<std::string> CloudClient::call(const char* name, std::string message) {
  net::GrpcAnswer told = caller_(std::string(k_cloud_provider_service) + name, std::move(message));
  if (told.code != net::GrpcCode::ok) return tl::unexpected(std::move(told));
  if (!each_field(told.message, [](const ProtoField&) {})) {
    return tl::unexpected(unreadable_answer());
  }
  return std::move(told.message);
}

Told<std::vector<GroupSeen>> CloudClient::groups() {
  const auto told = call("NodeGroups", {});
  if (!told) return tl::unexpected(told.error());
  std::vector<GroupSeen> all;
  each_field(*told, [&all](const ProtoField& field) {
    if (field.number == 1) all.push_back(read_group(field.bytes));
  });
  return all;
}

Told<std::string> CloudClient::group_of(const demand::NodeRef& node, const model::Labels& labels) {
  const auto told =
      call("NodeGroupForNode", ProtoWriter().message(1, node_message(node, labels)).take());
  if (!told) return tl::unexpected(told.error());
  std::string id;
  each_field(*told, [&id](const ProtoField& field) {
    if (field.number == 1) id = read_group(field.bytes).id;
  });
  return id;
}

Told<int32_t> CloudClient::target(const std::string& group) {
  const auto told = call("NodeGroupTargetSize", group_request(group));
  if (!told) return tl::unexpected(told.error());
  int32_t size = 0;
  each_field(*told, [&size](const ProtoField& field) {
    if (field.number == 1) size = field.integer32();
  });
  return size;
}

Told<std::vector<InstanceSeen>> CloudClient::nodes(const std::string& group) {
  const auto told = call("NodeGroupNodes", group_request(group));
  if (!told) return tl::unexpected(told.error());
  std::vector<InstanceSeen> all;
  each_field(*told, [&all](const ProtoField& field) {
    if (field.number == 1) all.push_back(read_instance(field.bytes));
  });
  return all;
}

Told<TemplateSeen> CloudClient::template_node(const std::string& group) {
  const auto told = call("NodeGroupTemplateNodeInfo", group_request(group));
  if (!told) return tl::unexpected(told.error());
  TemplateSeen seen;
  each_field(*told, [&seen](const ProtoField& field) {
    if (field.number == 1) seen.node_old = field.bytes;
    if (field.number == 2) seen.node = field.bytes;
  });
  return seen;
}

Told<void> CloudClient::increase(const std::string& group, int32_t delta) {
  return without_answer(call("NodeGroupIncreaseSize", delta_request(group, delta)));
}

Told<void> CloudClient::decrease(const std::string& group, int32_t delta) {
  return without_answer(call("NodeGroupDecreaseTargetSize", delta_request(group, delta)));
}

Told<void> CloudClient::remove(const std::string& group, const demand::NodeRef& node) {
  return remove(group, std::vector{node});
}

Told<void> CloudClient::remove(const std::string& group,
                               const std::vector<demand::NodeRef>& nodes) {
  ProtoWriter request;
  for (const demand::NodeRef& node : nodes) request.message(1, node_message(node));
  return without_answer(call("NodeGroupDeleteNodes", request.text(2, group).take()));
}

Told<void> CloudClient::refresh() { return without_answer(call("Refresh", {})); }

Told<void> CloudClient::options(const std::string& group) {
  return without_answer(call("NodeGroupGetOptions", group_request(group)));
}

Told<double> CloudClient::node_price(const model::Labels& labels, Instant now, int64_t count) {
  const ProtoWriter from = time_message(now);
  const ProtoWriter to = time_message(now + seconds(count));
  return read_price(call("PricingNodePrice", ProtoWriter()
                                                 .message(1, node_message({"", "template"}, labels))
                                                 .message(2, from)
                                                 .message(3, to)
                                                 .message(4, from)
                                                 .message(5, to)
                                                 .take()));
}

Told<double> CloudClient::pod_price(std::string_view pod, Instant now, int64_t count) {
  const ProtoWriter from = time_message(now);
  const ProtoWriter to = time_message(now + seconds(count));
  return read_price(call("PricingPodPrice", ProtoWriter()
                                                .bytes(1, pod)
                                                .message(2, from)
                                                .message(3, to)
                                                .bytes(4, pod)
                                                .message(5, from)
                                                .message(6, to)
                                                .take()));
}

Told<std::string> CloudClient::gpu_label() {
  const auto told = call("GPULabel", {});
  if (!told) return tl::unexpected(told.error());
  return read_pair(*told).first;
}

Told<std::vector<std::string>> CloudClient::gpu_types() {
  const auto told = call("GetAvailableGPUTypes", {});
  if (!told) return tl::unexpected(told.error());
  std::vector<std::string> all;
  each_field(*told, [&all](const ProtoField& field) {
    if (field.number == 1) all.push_back(read_pair(field.bytes).first);
  });
  return all;
}

NodeSeen read_node_bytes(std::string_view node) {
  NodeSeen seen;
  std::string_view metadata;
  std::string_view spec;
  std::string_view status;
  seen.is_whole = each_field(node, [&](const ProtoField& field) {
    if (field.number == 1) metadata = field.bytes;
    if (field.number == 2) spec = field.bytes;
    if (field.number == 3) status = field.bytes;
  });
  each_field(spec, [&seen](const ProtoField& field) {
    if (field.number == 3) seen.provider_id = field.bytes;
    if (field.number == 5) seen.taints.push_back(read_taint(field.bytes));
  });
  each_field(metadata, [&seen](const ProtoField& field) {
    if (field.number == 1) seen.name = field.bytes;
    if (field.number != 11) return;
    auto [key, value] = read_pair(field.bytes);
    seen.labels.push_back({std::move(key), std::move(value)});
  });
  each_field(status, [&seen](const ProtoField& field) {
    if (field.number != 2) return;
    auto [name, quantity] = read_pair(field.bytes);
    seen.allocatable.emplace_back(std::move(name), read_pair(quantity).first);
  });
  std::sort(seen.labels.begin(), seen.labels.end(),
            [](const model::Label& a, const model::Label& b) { return a.key < b.key; });
  return seen;
}

}  // namespace spillway::cluster_autoscaler
