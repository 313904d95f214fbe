#include "services/autoscaler/explain_door.h"

#include <utility>

#include "cluster_autoscaler/protobuf.h"

namespace spillway::autoscaler {

std::string explain_message(std::string_view text) {
  return cluster_autoscaler::ProtoWriter().text(1, text).take();
}

std::string text_of_explain_message(std::string_view message) {
  std::string text;
  cluster_autoscaler::ProtoReader reader(message);
  for (cluster_autoscaler::ProtoField field; reader.next(field);) {
    if (field.number == 1) text = field.bytes;
  }
  return reader.is_broken() ? std::string() : text;
}

void ExplainDoor::handle(net::GrpcCall call, Reply reply) {
  if (call.method != k_explain_call) return next_.handle(std::move(call), std::move(reply));
  reply({net::GrpcCode::ok, {}, explain_message(explain_(text_of_explain_message(call.message)))});
}

}  // namespace spillway::autoscaler
