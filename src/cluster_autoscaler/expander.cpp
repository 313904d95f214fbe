#include "cluster_autoscaler/expander.h"

#include <optional>

#include "base/text.h"
#include "cluster_autoscaler/protobuf.h"

namespace spillway::cluster_autoscaler {
namespace {

// BestOptionsRequest and -Response: the options. Templates (2, 3) are our own: they are not read.
constexpr uint32_t k_options = 1;
// Option
constexpr uint32_t k_group_id = 1;
constexpr uint32_t k_node_count = 2;
constexpr uint32_t k_debug = 3;
constexpr uint32_t k_pod_old = 4;  // up to 1.34 the pod itself, from 1.34 on its bytes
constexpr uint32_t k_pod = 5;

// A pod in full is hundreds of bytes. Whoever sends millions of small ones is no Cluster
// Autoscaler.
constexpr size_t k_most_pods = 200'000;
// As long as Kubernetes lets them be, and more.
constexpr size_t k_longest_name = 253;

struct WireOption {
  Option option;
  std::string debug;
  std::vector<std::string_view> old_pods;
  std::vector<std::string_view> pods;
};

// 1.34 sends every pod twice: those in the new place are enough.
bool read_pods(WireOption& wire) {
  const auto& pods = wire.pods.empty() ? wire.old_pods : wire.pods;
  if (pods.size() > k_most_pods) return false;
  for (const std::string_view bytes : pods) {
    auto pod = unmarshal_pod(bytes);
    const bool is_named = pod && pod->name.size() <= k_longest_name &&
                          pod->space.size() <= k_longest_name && pod->uid.size() <= k_longest_name;
    if (!is_named) return false;
    wire.option.pods.push_back(std::move(*pod));
  }
  return true;
}

bool read_option(std::string_view bytes, WireOption& wire) {
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) {
    if (field.number == k_group_id) wire.option.group = OfferId(std::string(field.bytes));
    if (field.number == k_node_count) wire.option.nodes = field.integer32();
    if (field.number == k_debug) wire.debug = field.bytes;
    if (field.number == k_pod_old) wire.old_pods.push_back(field.bytes);
    if (field.number == k_pod) wire.pods.push_back(field.bytes);
  }
  return !reader.is_broken() && read_pods(wire);
}

std::optional<std::vector<WireOption>> read_options(std::string_view bytes) {
  std::vector<WireOption> all;
  size_t pods = 0;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) {
    if (field.number != k_options) continue;
    if (!read_option(field.bytes, all.emplace_back())) return {};
    pods += all.back().option.pods.size();
    if (pods > k_most_pods || all.size() > k_most_pods) return {};
  }
  if (reader.is_broken()) return {};
  return all;
}

}  // namespace

std::string best_options_message(const std::vector<Option>& options) {
  ProtoWriter message;
  for (const Option& option : options) {
    ProtoWriter one;
    one.text(k_group_id, option.group.text).integer(k_node_count, option.nodes);
    for (const PodAsk& pod : option.pods) one.bytes(k_pod, marshal_pod(pod));
    message.message(k_options, one);
  }
  return message.take();
}

Result<std::vector<OfferId>> groups_of_best_options(std::string_view message) {
  const auto options = read_options(message);
  if (!options) {
    return fail(Code::invalid, "expander", "these bytes are no BestOptionsResponse",
                "look what listens there");
  }
  std::vector<OfferId> groups;
  for (const WireOption& one : *options) groups.push_back(one.option.group);
  return groups;
}

void Expander::handle(net::GrpcCall call, Reply reply) {
  if (call.method != k_expander_call) {
    return reply({net::GrpcCode::unimplemented, "there is no call " + in_quotes(call.method), {}});
  }
  auto wire = read_options(call.message);
  if (!wire) {
    return reply({net::GrpcCode::invalid_argument, "these bytes are no BestOptionsRequest", {}});
  }
  std::vector<Option> options;
  for (WireOption& one : *wire) options.push_back(std::move(one.option));
  ProtoWriter answer;
  for (const size_t place : chooser_.choose(options)) {
    const Option& option = options.at(place);
    answer.message(k_options, ProtoWriter()
                                  .text(k_group_id, option.group.text)
                                  .integer(k_node_count, option.nodes)
                                  .text(k_debug, wire->at(place).debug));
  }
  reply({net::GrpcCode::ok, {}, answer.take()});
}

}  // namespace spillway::cluster_autoscaler
