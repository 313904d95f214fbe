#include "supply/document.h"
#include "supply/pod_row.h"

namespace spillway::supply {
namespace {

using model::Node;

Status raise_to_list(Requests& requests, const Node* list) {
  if (list == nullptr) return {};
  Requests other;
  SPILLWAY_TRY(read_requests(other, *list));
  requests.raise_to(other);
  return {};
}

// What is limited and not requested is requested up to the limit, as the API server would fill in.
Result<Requests> read_container(const Node& container, const Node* statuses) {
  if (container.kind != Node::Kind::object) return unreadable("container", "no object");
  Requests requests;
  const Node* wanted = find(container, {"resources", "requests"});
  if (const Node* limits = find(container, {"resources", "limits"})) {
    if (limits->kind != Node::Kind::object) return unreadable("limits", "no object");
    Node others = *limits;
    std::erase_if(others.items, [wanted](const Node& limit) {
      return wanted != nullptr && wanted->find(limit.key) != nullptr;
    });
    SPILLWAY_TRY(read_requests(requests, others));
  }
  if (wanted != nullptr) SPILLWAY_TRY(read_requests(requests, *wanted));
  const std::string_view name = text_at(container, {"name"});
  for (const Node& status : items_of(statuses)) {
    if (text_at(status, {"name"}) != name) continue;
    SPILLWAY_TRY(raise_to_list(requests, find(status, {"allocatedResources"})));
    SPILLWAY_TRY(raise_to_list(requests, find(status, {"resources", "requests"})));
  }
  return requests;
}

// A list that is there must be one: its containers would be missed.
Result<const Node*> containers_in(const Node& pod, std::string_view name) {
  const Node* list = find(pod, {"spec", name});
  if (list != nullptr && list->kind != Node::Kind::array) {
    return unreadable("spec." + std::string(name), "no list");
  }
  return list;
}

Result<Requests> sum_of_containers(const Node& pod) {
  const auto list = containers_in(pod, "containers");
  if (!list) return tl::unexpected(list.error());
  Requests sum;
  for (const Node& container : items_of(*list)) {
    auto requests = read_container(container, find(pod, {"status", "containerStatuses"}));
    if (!requests) return requests;
    sum.add(*requests);
  }
  return sum;
}

// Adds sidecars to `running`, and answers the most that any moment of the start takes.
Result<Requests> most_at_start(const Node& pod, Requests& running) {
  const auto list = containers_in(pod, "initContainers");
  if (!list) return tl::unexpected(list.error());
  Requests sidecars;
  Requests most;
  for (const Node& container : items_of(*list)) {
    auto requests = read_container(container, find(pod, {"status", "initContainerStatuses"}));
    if (!requests) return requests;
    if (text_at(container, {"restartPolicy"}) == "Always") {
      running.add(*requests);
      sidecars.add(*requests);
      most.raise_to(sidecars);
    } else {
      requests->add(sidecars);
      most.raise_to(*requests);
    }
  }
  return most;
}

}  // namespace

Result<Requests> pod_requests(const Node& document) {
  auto requests = sum_of_containers(document);
  if (!requests) return requests;
  auto start = most_at_start(document, *requests);
  if (!start) return start;
  requests->raise_to(*start);
  SPILLWAY_TRY(raise_to_list(*requests, find(document, {"spec", "resources", "requests"})));
  if (const Node* overhead = find(document, {"spec", "overhead"})) {
    Requests more;
    SPILLWAY_TRY(read_requests(more, *overhead));
    requests->add(more);
  }
  return requests;
}

}  // namespace spillway::supply
