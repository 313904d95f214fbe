// What is asked of a part of an object: binding a pod to a node, evicting it, ending a namespace.
#include <fmt/format.h>

#include "embedded/api.h"
#include "embedded/body.h"
#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;

Reply success(int status) {
  return {status, model::to_json(success_document(nullptr, {}, {})) + "\n"};
}

}  // namespace

Answer<Reply> Api::bind(const Ask& ask) {
  const auto body = read_document(ask);
  if (!body) return Refused(body.error());
  const std::string node(model::text_at(*body, {"target", "name"}));
  if (node.empty()) return bad_request("target.name: Required value");
  const ObjectPtr present = objects_.table.find(*ask.kind, ask.key());
  if (present == nullptr) return not_found(*ask.kind, ask.name);
  Node pod = present->document();
  const std::string_view bound = model::text_at(pod, {"spec", "nodeName"});
  if (is_being_deleted(pod)) {
    return conflict(*ask.kind, ask.name,
                    fmt::format("pod {} is being deleted, cannot be assigned to a host", ask.name));
  }
  if (!bound.empty()) {
    return conflict(*ask.kind, ask.name,
                    fmt::format("pod {} is already assigned to node \"{}\"", ask.name, bound));
  }
  bind_pod(objects_, ask.key(), node);
  return success(201);
}

Answer<Reply> Api::evict(const Ask& ask) {
  (void)ask;
  return not_allowed();
}

Answer<Reply> Api::finalize(const Ask& ask) {
  auto document = read_object(ask);
  if (!document) return Refused(std::move(document.error()));
  auto changed =
      objects_.replace(*ask.kind, ask.key(), std::move(*document), Part::main, ask.is_dry_run());
  if (!changed) return Refused(std::move(changed.error()));
  return Reply{200, (*changed)->text_as(ask.version) + "\n"};
}

}  // namespace spillway::embedded
