// Action: one thing that the Cluster Autoscaler asks of the cloud or of its cluster. Each is
// answered before the next one of the same loop; deletions of nodes run beside the loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "demand/ledger.h"
#include "sim/scaler/expanders.h"

namespace spillway::scaler {

struct Action {
  enum class Kind : uint8_t {
    increase,    // NodeGroupIncreaseSize
    decrease,    // NodeGroupDecreaseTargetSize; `delta` < 0
    remove,      // NodeGroupDeleteNodes
    quote_node,  // PricingNodePrice of `node`, a new one of `group`, for an hour
    quote_pod,   // PricingPodPrice of `pod`, for an hour
    choose,      // BestOptions of the gRPC expander, among `options`
    taint,       // the node is to be deleted
    untaint,     //
    evict,       // `pod`, from its node
  };
  Kind kind = Kind::increase;
  std::string group = {};
  int32_t delta = 0;
  std::vector<demand::NodeRef> nodes = {};
  NodeView node = {};
  PodView pod = {};
  std::vector<Option> options = {};
};

struct Outcome {
  Status status = {};
  double price = 0;                      // of a quote
  std::vector<std::string> groups = {};  // that were chosen
};

}  // namespace spillway::scaler
