#include "supply/pod_row.h"

#include <algorithm>

#include "supply/document.h"

namespace spillway::supply {
namespace {

using model::Node;

bool is_guest(const Node& document, const GuestRule& guests) {
  const std::string_view in = text_at(document, {"metadata", "namespace"});
  const auto& namespaces = guests.namespaces;
  if (std::find(namespaces.begin(), namespaces.end(), in) != namespaces.end()) return true;
  if (guests.labels.empty()) return false;
  return std::all_of(guests.labels.begin(), guests.labels.end(), [&](const model::Label& label) {
    const Node* found = find(document, {"metadata", "labels", label.key});
    return found != nullptr && found->kind == Node::Kind::string && found->text == label.value;
  });
}

PodState state_of(const Node& document) {
  const std::string_view phase = text_at(document, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return PodState::over;
  if (find(document, {"spec", "nodeName"}) != nullptr) {
    const bool none = find(document, {"spec", "nodeName"})->kind == Node::Kind::string &&
                      text_at(document, {"spec", "nodeName"}).empty();
    if (!none) return PodState::bound;
  }
  if (find(document, {"metadata", "deletionTimestamp"}) != nullptr) return PodState::over;
  return items_of(find(document, {"spec", "schedulingGates"})).empty() ? PodState::pending
                                                                       : PodState::gated;
}

}  // namespace

Result<std::string> pod_key(const Node& document) {
  const std::string_view name = text_at(document, {"metadata", "name"});
  const std::string_view in = text_at(document, {"metadata", "namespace"});
  if (name.empty() || in.empty()) return unreadable("pod", "it has no name or no namespace");
  return fmt::format("{}/{}", in, name);
}

Result<PodRow> pod_row(const Node& document, const GuestRule& guests) {
  auto key = pod_key(document);
  if (!key) return tl::unexpected(key.error());
  PodRow row;
  row.key = std::move(*key);
  row.state = state_of(document);
  row.guest = is_guest(document, guests);
  if (row.guest || row.state == PodState::over) return row;
  if (row.state == PodState::bound) {
    row.node = text_at(document, {"spec", "nodeName"});
  } else {
    row.placement = std::make_shared<const Placement>(read_placement(document));
  }
  if (auto requests = pod_requests(document)) {
    row.requests = std::move(*requests);
  } else {
    row.problem = requests.error().message();
  }
  if (row.state == PodState::bound && row.node.empty()) row.problem = "spec.nodeName: no string";
  return row;
}

}  // namespace spillway::supply
