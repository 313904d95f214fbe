// ExplainDoor: one more call on the Cluster Autoscaler's port, for people: spillway explain.
// Whoever may buy here may also ask why.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "net/grpc.h"

namespace spillway::autoscaler {

inline constexpr std::string_view k_explain_call = "/spillway.v1.Autoscaler/Explain";

// Message: {name 1} → {text 1}; an empty text: nothing is known of it.
std::string explain_message(std::string_view text);
std::string text_of_explain_message(std::string_view message);

class ExplainDoor final : public net::GrpcHandler {
 public:
  using Explain = std::function<std::string(const std::string& name)>;
  // All other calls go on to `next`, which outlives this.
  ExplainDoor(net::GrpcHandler& next, Explain explain)
      : next_(next), explain_(std::move(explain)) {}

  void handle(net::GrpcCall call, Reply reply) override;

 private:
  net::GrpcHandler& next_;
  Explain explain_;
};

}  // namespace spillway::autoscaler
