// GrpcCloud: a cloud behind externalgrpc. How a message gets there is for whoever makes it: over a
// connection, straight to the handler, or over a simulated network.
#pragma once

#include <functional>
#include <string>

#include "net/grpc.h"
#include "sim/scaler/ports.h"

namespace spillway::scaler {

class GrpcCloud final : public Cloud {
 public:
  using Answered = std::function<void(net::GrpcAnswer)>;
  // `method` with its service. Answered once; what is lost, with an error.
  using Caller =
      std::function<void(const std::string& method, std::string message, Answered answered)>;

  // `expander`: where the gRPC expander listens; empty: nowhere.
  explicit GrpcCloud(Caller caller, Caller expander = {})
      : caller_(std::move(caller)), expander_(std::move(expander)) {}

  void refresh(Done done) override;
  void node_groups(Then<std::vector<GroupView>> then) override;
  void node_group_for_node(const demand::NodeRef& node, Then<std::string> then) override;
  void target_size(const std::string& group, Then<int32_t> then) override;
  void nodes(const std::string& group, Then<std::vector<Instance>> then) override;
  void template_node_info(const std::string& group, Then<NodeView> then) override;
  void increase_size(const std::string& group, int32_t delta, Done done) override;
  void decrease_target_size(const std::string& group, int32_t delta, Done done) override;
  void delete_nodes(const std::string& group, const std::vector<demand::NodeRef>& nodes,
                    Done done) override;
  void node_price(const NodeView& node, Instant from, Instant to, Then<double> then) override;
  void pod_price(const PodView& pod, Instant from, Instant to, Then<double> then) override;
  void best_options(const std::vector<Option>& options,
                    Then<std::vector<std::string>> then) override;

 private:
  template <class Ask, class Tell>
  void call(Ask ask, Tell tell);

  Caller caller_;
  Caller expander_;
};

}  // namespace spillway::scaler
