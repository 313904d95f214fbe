#include "embedded/pod_status.h"

#include <fmt/format.h>

#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::integer_node;
using model::Node;
using model::put;
using model::text_node;

Node container_status(const Node& container, std::string_view pod_uid) {
  const std::string_view name = model::text_at(container, {"name"});
  Node status = model::object_node();
  put(status, "name", text_node(name));
  put(status, "image", text_node(model::text_at(container, {"image"})));
  put(status, "imageID", text_node(""));
  put(status, "containerID", text_node(fmt::format("embedded://{}/{}", pod_uid, name)));
  put(status, "lastState", model::object_node());
  put(status, "restartCount", integer_node(0));
  return status;
}

Node list_of(std::string_view key, std::string_view text) {
  Node list = model::array_node();
  put(list.items.emplace_back(model::object_node()), key, text_node(text));
  return list;
}

void set_conditions(Node& pod, bool is_ready, std::string_view reason, Instant now) {
  const std::string_view ready = is_ready ? "True" : "False";
  set_condition(pod, {.type = "PodReadyToStartContainers", .status = "True"}, now);
  set_condition(pod, {.type = "Initialized", .status = "True"}, now);
  set_condition(pod, {.type = "Ready", .status = ready, .reason = reason}, now);
  set_condition(pod, {.type = "ContainersReady", .status = ready, .reason = reason}, now);
  set_condition(pod, {.type = "PodScheduled", .status = "True"}, now);
}

}  // namespace

void set_running(Node& pod, const PodPlace& place, bool is_ready, Instant now) {
  const std::string uid(model::text_at(pod, {"metadata", "uid"}));
  Node statuses = model::array_node();
  for (const Node& container : model::items_at(pod, {"spec", "containers"})) {
    Node& status = statuses.items.emplace_back(container_status(container, uid));
    put(model::ensure(status, {"state", "running"}), "startedAt", text_node(stamp(now)));
    put(status, "ready", model::boolean_node(is_ready));
    put(status, "started", model::boolean_node(true));
  }
  set_conditions(pod, is_ready, is_ready ? "" : "ContainersNotReady", now);
  Node& status = model::ensure(pod, {"status"});
  put(status, "phase", text_node("Running"));
  put(status, "hostIP", text_node(place.host_ip));
  put(status, "hostIPs", list_of("ip", place.host_ip));
  put(status, "podIP", text_node(place.pod_ip));
  put(status, "podIPs", list_of("ip", place.pod_ip));
  put(status, "startTime", text_node(stamp(now)));
  put(status, "containerStatuses", std::move(statuses));
  put(status, "observedGeneration",
      integer_node(model::integer_at(pod, {"metadata", "generation"})));
}

void set_ended(Node& pod, int64_t exit_code, Instant now) {
  const std::string uid(model::text_at(pod, {"metadata", "uid"}));
  const std::string_view reason = exit_code == 0 ? "Completed" : "Error";
  Node statuses = model::array_node();
  for (const Node& container : model::items_at(pod, {"spec", "containers"})) {
    Node& status = statuses.items.emplace_back(container_status(container, uid));
    Node& ended = model::ensure(status, {"state", "terminated"});
    put(ended, "exitCode", integer_node(exit_code));
    put(ended, "reason", text_node(reason));
    put(ended, "startedAt", text_node(model::text_at(pod, {"status", "startTime"})));
    put(ended, "finishedAt", text_node(stamp(now)));
    put(status, "ready", model::boolean_node(false));
    put(status, "started", model::boolean_node(false));
  }
  set_conditions(pod, false, exit_code == 0 ? "PodCompleted" : "PodFailed", now);
  Node& status = model::ensure(pod, {"status"});
  put(status, "phase", text_node(exit_code == 0 ? "Succeeded" : "Failed"));
  put(status, "containerStatuses", std::move(statuses));
}

}  // namespace spillway::embedded
