// What the model of the Cluster Autoscaler is connected to: a cloud, by the calls of externalgrpc,
// and its cluster. Behind them may be a connection, a handler or a simulated network. Every call is
// answered once, at any later time or from within the call; a lost one with an error, by whoever
// waits for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "demand/ledger.h"
#include "sim/scaler/expanders.h"
#include "sim/scaler/views.h"

namespace spillway::scaler {

template <class T>
using Then = std::function<void(Result<T>)>;
using Done = std::function<void(Status)>;

class Cloud {
 public:
  virtual ~Cloud() = default;
  virtual void refresh(Done done) = 0;
  // With id, minimum and maximum.
  virtual void node_groups(Then<std::vector<GroupView>> then) = 0;
  virtual void node_group_for_node(const demand::NodeRef& node, Then<std::string> then) = 0;
  virtual void target_size(const std::string& group, Then<int32_t> then) = 0;
  virtual void nodes(const std::string& group, Then<std::vector<Instance>> then) = 0;
  virtual void template_node_info(const std::string& group, Then<NodeView> then) = 0;
  virtual void increase_size(const std::string& group, int32_t delta, Done done) = 0;
  virtual void decrease_target_size(const std::string& group, int32_t delta, Done done) = 0;
  virtual void delete_nodes(const std::string& group, const std::vector<demand::NodeRef>& nodes,
                            Done done) = 0;
  virtual void node_price(const NodeView& node, Instant from, Instant to, Then<double> then) = 0;
  virtual void pod_price(const PodView& pod, Instant from, Instant to, Then<double> then) = 0;
  // The gRPC expander, which has a connection of its own and need not be there: the groups to
  // choose from.
  virtual void best_options(const std::vector<Option>&, Then<std::vector<std::string>> then) {
    then(fail(Code::unavailable, "expander", "nobody said where it listens",
              "choose another expander, or say where"));
  }
};

class Cluster {
 public:
  virtual ~Cluster() = default;
  virtual ClusterView look() const = 0;                        // from memory, as informers have it
  virtual void taint(const std::string& node, Done done) = 0;  // ToBeDeletedByClusterAutoscaler
  virtual void untaint(const std::string& node, Done done) = 0;
  virtual void evict(const PodView& pod, Done done) = 0;
};

}  // namespace spillway::scaler
