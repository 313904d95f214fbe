#include "sim/scaler/grpc_cloud.h"

#include <utility>

#include "cluster_autoscaler/cloud_client.h"
#include "cluster_autoscaler/expander.h"
#include "cluster_autoscaler/kube_proto.h"
#include "model/tree.h"
#include "supply/requests.h"

namespace spillway::scaler {
namespace {

using cluster_autoscaler::CloudClient;
using cluster_autoscaler::Told;

tl::unexpected<Error> refusal(const net::GrpcAnswer& answer) {
  const bool is_lost =
      answer.code == net::GrpcCode::unavailable || answer.code == net::GrpcCode::deadline_exceeded;
  return fail(is_lost ? Code::unavailable : Code::conflict, "cloud", answer.reason,
              "look at the log of spillway autoscaler");
}

Instance::State state_of(int64_t number) {
  const bool is_known = number >= 1 && number <= 3;
  return is_known ? static_cast<Instance::State>(number) : Instance::State::unspecified;
}

Instance instance_of(const cluster_autoscaler::InstanceSeen& seen) {
  Instance instance{seen.id, state_of(seen.state), std::nullopt};
  if (!seen.error_code.empty()) instance.error_code = seen.error_code;
  return instance;
}

Result<NodeView> node_of(const cluster_autoscaler::TemplateSeen& seen) {
  auto told = cluster_autoscaler::read_node_bytes(seen.node.empty() ? seen.node_old : seen.node);
  model::Node amounts = model::object_node();
  for (const auto& [name, quantity] : told.allocatable) {
    model::put(amounts, name, model::text_node(quantity));
  }
  const auto allocatable = supply::read_allocatable(amounts);
  if (!told.is_whole || !allocatable) {
    return fail(Code::invalid, "template", "these bytes are no core/v1 Node",
                "hold the server to `spillway conformance externalgrpc`");
  }
  NodeView node;
  node.row.name = std::move(told.name);
  node.row.allocatable = *allocatable;
  node.row.labels = std::move(told.labels);
  node.row.taints = std::move(told.taints);
  node.row.ready = true;
  node.provider_id = std::move(told.provider_id);
  node.capacity = *allocatable;
  return node;
}

cluster_autoscaler::PodAsk ask_of(const PodView& pod) {
  const size_t slash = pod.key.find('/');
  return {pod.key.substr(0, slash), pod.key.substr(slash + 1), {}, {}, pod.requests};
}

int64_t seconds_between(Instant from, Instant to) { return (to - from).ms / 1000; }

}  // namespace

// The client knows how to ask and how to read the answer, and waits in between; this does not wait.
// So it asks twice: once for the message alone, and once it is answered for what that means.
template <class Ask, class Tell>
void GrpcCloud::call(Ask ask, Tell tell) {
  std::string method;
  std::string message;
  CloudClient writer([&](const std::string& name, std::string bytes) {
    method = name;
    message = std::move(bytes);
    return net::GrpcAnswer{net::GrpcCode::cancelled, {}, {}};
  });
  ask(writer);
  caller_(
      method, std::move(message),
      [ask = std::move(ask), tell = std::move(tell)](const net::GrpcAnswer& answer) {
        CloudClient reader([&answer](const std::string&, const std::string&) { return answer; });
        tell(ask(reader));
      });
}

void GrpcCloud::refresh(Done done) {
  call([](CloudClient& client) { return client.refresh(); },
       [done = std::move(done)](const Told<void>& told) {
         done(told ? Status() : refusal(told.error()));
       });
}

void GrpcCloud::node_groups(Then<std::vector<GroupView>> then) {
  call([](CloudClient& client) { return client.groups(); },
       [then = std::move(then)](const auto& told) {
         if (!told) return then(refusal(told.error()));
         std::vector<GroupView> groups;
         for (const auto& seen : *told) groups.push_back({seen.id, seen.min, seen.max, 0});
         then(std::move(groups));
       });
}

void GrpcCloud::node_group_for_node(const demand::NodeRef& node, Then<std::string> then) {
  call([node](CloudClient& client) { return client.group_of(node); },
       [then = std::move(then)](const Told<std::string>& told) {
         then(told ? Result<std::string>(*told) : refusal(told.error()));
       });
}

void GrpcCloud::target_size(const std::string& group, Then<int32_t> then) {
  call([group](CloudClient& client) { return client.target(group); },
       [then = std::move(then)](const Told<int32_t>& told) {
         then(told ? Result<int32_t>(*told) : refusal(told.error()));
       });
}

void GrpcCloud::nodes(const std::string& group, Then<std::vector<Instance>> then) {
  call([group](CloudClient& client) { return client.nodes(group); },
       [then = std::move(then)](const auto& told) {
         if (!told) return then(refusal(told.error()));
         std::vector<Instance> instances;
         for (const auto& seen : *told) instances.push_back(instance_of(seen));
         then(std::move(instances));
       });
}

void GrpcCloud::template_node_info(const std::string& group, Then<NodeView> then) {
  call([group](CloudClient& client) { return client.template_node(group); },
       [then = std::move(then)](const auto& told) {
         then(told ? node_of(*told) : refusal(told.error()));
       });
}

void GrpcCloud::increase_size(const std::string& group, int32_t delta, Done done) {
  call([group, delta](CloudClient& client) { return client.increase(group, delta); },
       [done = std::move(done)](const Told<void>& told) {
         done(told ? Status() : refusal(told.error()));
       });
}

void GrpcCloud::decrease_target_size(const std::string& group, int32_t delta, Done done) {
  call([group, delta](CloudClient& client) { return client.decrease(group, delta); },
       [done = std::move(done)](const Told<void>& told) {
         done(told ? Status() : refusal(told.error()));
       });
}

void GrpcCloud::delete_nodes(const std::string& group, const std::vector<demand::NodeRef>& nodes,
                             Done done) {
  call([group, nodes](CloudClient& client) { return client.remove(group, nodes); },
       [done = std::move(done)](const Told<void>& told) {
         done(told ? Status() : refusal(told.error()));
       });
}

void GrpcCloud::node_price(const NodeView& node, Instant from, Instant to, Then<double> then) {
  call(
      [labels = node.row.labels, from, to](CloudClient& client) {
        return client.node_price(labels, from, seconds_between(from, to));
      },
      [then = std::move(then)](const Told<double>& told) {
        then(told ? Result<double>(*told) : refusal(told.error()));
      });
}

void GrpcCloud::pod_price(const PodView& pod, Instant from, Instant to, Then<double> then) {
  const std::string bytes = cluster_autoscaler::marshal_pod(ask_of(pod));
  call(
      [bytes, from, to](CloudClient& client) {
        return client.pod_price(bytes, from, seconds_between(from, to));
      },
      [then = std::move(then)](const Told<double>& told) {
        then(told ? Result<double>(*told) : refusal(told.error()));
      });
}

void GrpcCloud::best_options(const std::vector<Option>& options,
                             Then<std::vector<std::string>> then) {
  if (!expander_) return Cloud::best_options(options, std::move(then));
  std::vector<cluster_autoscaler::Option> asked;
  for (const Option& option : options) {
    auto& one = asked.emplace_back();
    one.group = OfferId(option.group);
    one.nodes = option.count;
    for (const PodView& pod : option.pods) one.pods.push_back(ask_of(pod));
  }
  expander_(std::string(cluster_autoscaler::k_expander_call),
            cluster_autoscaler::best_options_message(asked),
            [then = std::move(then)](const net::GrpcAnswer& answer) {
              if (answer.code != net::GrpcCode::ok) return then(refusal(answer));
              const auto groups = cluster_autoscaler::groups_of_best_options(answer.message);
              if (!groups) return then(tl::unexpected(groups.error()));
              std::vector<std::string> names;
              for (const OfferId& group : *groups) names.push_back(group.text);
              then(std::move(names));
            });
}

}  // namespace spillway::scaler
