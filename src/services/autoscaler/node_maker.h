// NodeMaker: how units become nodes of the consumer's cluster. A back end of the autoscaler; one
// for each way to make them (docs/autoscaler.md shows how to write another).
//
// All of it is level-triggered: whoever asks looks at what is there and asks for what is missing,
// perhaps again, perhaps after a restart. So both verbs must do when repeated what they do once.
// They answer once, later, on the loop; never from within the call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "demand/node_image.h"

namespace spillway::autoscaler {

enum class NodeSight {
  unknown,  // nothing is known of any node, not yet or not now
  absent,
  coming,  // there, not Ready
  ready,
};

class NodeMaker {
 public:
  using Then = std::function<void(Status)>;
  using Knows = std::function<bool(const std::string& name)>;

  virtual ~NodeMaker() = default;
  // `changed` is called, on the loop, when look() may answer otherwise for any node.
  virtual void start(std::function<void()> changed) = 0;
  virtual NodeSight look(const std::string& name) const = 0;
  // A unit of that name is in the ledger. Where somebody else makes the nodes, too, this is how to
  // tell ours from those of others. Told again and again.
  virtual void claim(const std::string& /*name*/) {}
  // Names of all nodes that this back end has made or claimed and can see, also before a restart.
  virtual std::vector<std::string> names() const = 0;
  // Answers once the node is on its way; one that is there already is no error. An error that is
  // "not now" is tried again, with growing waits; any other one fails the unit.
  virtual void make(const demand::NodeImage& image, Then then) = 0;
  // Of a back end that keeps spares: nodes of the cluster that the Cluster Autoscaler may count as
  // unready, but for those that `ledger` knows. None: it keeps no spares, or knows nothing yet.
  virtual std::optional<int32_t> others_unready(const Knows& /*ledger*/) const {
    return std::nullopt;
  }
  // Answers once nothing runs there any more; one that is not there is no error.
  virtual void remove(const std::string& name, Then then) = 0;
};

}  // namespace spillway::autoscaler
