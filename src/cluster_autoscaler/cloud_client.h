// CloudClient: externalgrpc from the Cluster Autoscaler's side, for whoever wants to try a server:
// both generations of fields are sent, either is read. It asks by a Caller, which may be a
// connection or the handler itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "demand/ledger.h"
#include "model/labels.h"
#include "net/grpc.h"

namespace spillway::cluster_autoscaler {

using Caller = std::function<net::GrpcAnswer(const std::string& method, std::string message)>;

template <class T>
using Told = tl::expected<T, net::GrpcAnswer>;  // what the server refused with

struct GroupSeen {
  std::string id;
  int32_t min = 0;
  int32_t max = 0;
};

struct InstanceSeen {
  std::string id;
  int64_t state = 0;  // 1 running, 2 creating, 3 deleting
  std::string error_code;
  int64_t error_class = 0;
};

struct TemplateSeen {
  std::string node;      // as bytes: from 1.34 on
  std::string node_old;  // as a message: up to 1.34
};

class CloudClient {
 public:
  explicit CloudClient(Caller caller) : caller_(std::move(caller)) {}

  Told<std::vector<GroupSeen>> groups();
  // Empty: not one of theirs.
  Told<std::string> group_of(const demand::NodeRef& node, const model::Labels& labels = {});
  Told<int32_t> target(const std::string& group);
  Told<std::vector<InstanceSeen>> nodes(const std::string& group);
  Told<TemplateSeen> template_node(const std::string& group);
  Told<void> increase(const std::string& group, int32_t delta);
  Told<void> decrease(const std::string& group, int32_t delta);
  Told<void> remove(const std::string& group, const demand::NodeRef& node);
  Told<void> remove(const std::string& group, const std::vector<demand::NodeRef>& nodes);
  Told<void> refresh();
  Told<void> options(const std::string& group);
  // For so many seconds from now on.
  Told<double> node_price(const model::Labels& labels, Instant now, int64_t seconds);
  Told<double> pod_price(std::string_view pod, Instant now, int64_t seconds);
  Told<std::string> gpu_label();
  Told<std::vector<std::string>> gpu_types();

 private:
  Told<std::string> call(const char* name, std::string message);

  Caller caller_;
};

// Of a marshalled core/v1 Node what it is called and wants of pods, and the amounts that it says
// are allocatable.
struct NodeSeen {
  bool is_whole = false;
  std::string name;
  std::string provider_id;
  model::Labels labels;
  std::vector<model::Taint> taints;
  std::vector<std::pair<std::string, std::string>> allocatable;
};
NodeSeen read_node_bytes(std::string_view node);

}  // namespace spillway::cluster_autoscaler
