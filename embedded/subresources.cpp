// What is asked of a part of an object: binding a pod to a node, evicting it, ending a namespace.
#include <fmt/format.h>

#include "embedded/api.h"
#include "embedded/body.h"
#include "embedded/document.h"
#include "embedded/eviction.h"

namespace spillway::embedded {
namespace {

using model::Node;

Reply success(int status) {
  return {status, model::to_json(success_document(nullptr, {}, {})) + "\n"};
}

Node scale_of(const Object& object) {
  const Node document = object.document();
  Node scale = model::object_node();
  model::put(scale, "kind", model::text_node("Scale"));
  model::put(scale, "apiVersion", model::text_node("autoscaling/v1"));
  Node& metadata = model::put(scale, "metadata", model::object_node());
  for (const std::string_view key :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    model::put(metadata, key, model::text_node(model::text_at(document, {"metadata", key})));
  }
  model::put(model::ensure(scale, {"spec"}), "replicas",
             model::integer_node(model::integer_at(document, {"spec", "replicas"})));
  Node& status = model::ensure(scale, {"status"});
  model::put(status, "replicas",
             model::integer_node(model::integer_at(document, {"status", "replicas"})));
  std::string selector;
  for (const Node& label : model::items_at(document, {"spec", "selector", "matchLabels"})) {
    selector += fmt::format("{}{}={}", selector.empty() ? "" : ",", label.key, label.text);
  }
  model::put(status, "selector", model::text_node(selector));
  return scale;
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
  const auto body = read_document(ask);
  if (!body) return Refused(body.error());
  if (name_of(*body) != ask.name) {
    return bad_request("name in URL does not match name in Eviction object");
  }
  DeleteOptions options;
  options.is_dry_run =
      ask.is_dry_run() || !model::items_at(*body, {"deleteOptions", "dryRun"}).empty();
  if (const Node* grace = model::look(*body, {"deleteOptions", "gracePeriodSeconds"})) {
    options.grace_seconds = grace->integer;
  }
  options.uid = model::text_at(*body, {"deleteOptions", "preconditions", "uid"});
  options.version = model::text_at(*body, {"deleteOptions", "preconditions", "resourceVersion"});
  if (auto done = evict_pod(objects_, ask.key(), options); !done) {
    return Refused(std::move(done.error()));
  }
  return success(201);
}

Answer<Reply> Api::scale(const Ask& ask) {
  const ObjectPtr present = objects_.table.find(*ask.kind, ask.key());
  if (present == nullptr) return not_found(*ask.kind, ask.name);
  if (ask.verb == "get") return Reply{200, model::to_json(scale_of(*present)) + "\n"};
  if (ask.verb != "update" && ask.verb != "patch") return not_allowed();
  auto wanted = ask.verb == "patch" ? patched(ask, scale_of(*present)) : read_document(ask);
  if (!wanted) return Refused(std::move(wanted.error()));
  const std::string_view version = model::text_at(*wanted, {"metadata", "resourceVersion"});
  if (!version.empty() && version != std::to_string(present->version)) {
    return stale(*ask.kind, ask.name);
  }
  Node document = present->document();
  model::put(model::ensure(document, {"spec"}), "replicas",
             model::integer_node(model::integer_at(*wanted, {"spec", "replicas"})));
  auto changed =
      objects_.replace(*ask.kind, ask.key(), std::move(document), Part::main, ask.is_dry_run());
  if (!changed) return Refused(std::move(changed.error()));
  return Reply{200, model::to_json(scale_of(**changed)) + "\n"};
}

// Opaque, unlike the real one's: nobody but this server can read anything from it.
Answer<Reply> Api::give_token(const Ask& ask) {
  if (objects_.table.find(*ask.kind, ask.key()) == nullptr) return not_found(*ask.kind, ask.name);
  auto request = read_document(ask);
  if (!request) return Refused(std::move(request.error()));
  const int64_t lasts = model::integer_at(*request, {"spec", "expirationSeconds"}, 3600);
  const Duration lifetime = bounded_seconds(lasts);
  const std::string token = new_suffix(objects_.random, 40);
  access_.add_token(token, service_account(ask.space, ask.name), loop_.now() + lifetime);
  Node& status = model::ensure(*request, {"status"});
  model::put(status, "token", model::text_node(token));
  model::put(status, "expirationTimestamp",
             model::text_node(stamp(objects_.clock.now() + lifetime)));
  return Reply{201, model::to_json(*request) + "\n"};
}

Answer<Reply> Api::finalize(const Ask& ask) {
  auto document = read_object(ask);
  if (!document) return Refused(std::move(document.error()));
  const ObjectPtr present = objects_.table.find(*ask.kind, ask.key());
  if (present == nullptr) return not_found(*ask.kind, ask.name);
  Node wanted = present->document();
  Node& spec = model::ensure(wanted, {"spec"});
  model::erase(spec, "finalizers");
  if (const Node* kept = model::look(*document, {"spec", "finalizers"})) {
    model::put(spec, "finalizers", *kept);
  }
  auto changed =
      objects_.replace(*ask.kind, ask.key(), std::move(wanted), Part::whole, ask.is_dry_run());
  if (!changed) return Refused(std::move(changed.error()));
  return Reply{200, (*changed)->text_as(ask.version) + "\n"};
}

}  // namespace spillway::embedded
