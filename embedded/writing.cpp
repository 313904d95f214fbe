// create, update, patch, delete, deletecollection.
#include <fmt/format.h>

#include "embedded/api.h"
#include "embedded/body.h"
#include "embedded/document.h"
#include "embedded/patch.h"

namespace spillway::embedded {
namespace {

using model::Node;

Reply reply_with(const Ask& ask, const Object& object, int status = 200) {
  return {status, object.text_as(ask.version) + "\n"};
}

Part part_of(const Ask& ask) { return ask.subresource == "status" ? Part::status : Part::main; }

}  // namespace

Answer<Reply> Api::create(const Ask& ask) {
  if (ask.kind->is_namespaced && ask.space.empty()) return not_allowed();
  auto document = read_object(ask);
  if (!document) return Refused(std::move(document.error()));
  auto made = objects_.create(*ask.kind, std::move(*document), ask.is_dry_run());
  if (!made) return Refused(std::move(made.error()));
  return reply_with(ask, **made, 201);
}

Answer<Reply> Api::update(const Ask& ask) {
  auto document = read_object(ask);
  if (!document) return Refused(std::move(document.error()));
  const ObjectPtr present = objects_.table.find(*ask.kind, ask.key());
  const std::string_view version = model::text_at(*document, {"metadata", "resourceVersion"});
  if (present == nullptr && ask.kind->creates_on_update && ask.subresource.empty()) {
    // Only something that is there can be of a version.
    if (!version.empty()) return stale(*ask.kind, ask.name);
    auto made = objects_.create(*ask.kind, std::move(*document), ask.is_dry_run());
    if (!made) return Refused(std::move(made.error()));
    return reply_with(ask, **made, 201);
  }
  if (present != nullptr && version.empty() && ask.kind->needs_version) {
    return invalid(
        *ask.kind, ask.name,
        {invalid_value("metadata.resourceVersion", "0", "must be specified for an update")});
  }
  auto changed =
      objects_.replace(*ask.kind, ask.key(), std::move(*document), part_of(ask), ask.is_dry_run());
  if (!changed) return Refused(std::move(changed.error()));
  return reply_with(ask, **changed);
}

Answer<Node> Api::patched(const Ask& ask, const Node& present) {
  const std::string type = ask.content_type();
  const bool is_strategic = type == "application/strategic-merge-patch+json";
  if (type != "application/json-patch+json" && type != "application/merge-patch+json" &&
      (!is_strategic || ask.kind->is_custom)) {
    return unsupported_media(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
  }
  auto patch = read_document(ask);
  if (!patch) return patch;
  if (type == "application/json-patch+json") return json_patch(present, *patch);
  if (is_strategic) return strategic_merge(present, *patch);
  Node result = present;
  model::merge(result, *patch);
  return result;
}

Answer<Reply> Api::patch(const Ask& ask) {
  const ObjectPtr present = objects_.table.find(*ask.kind, ask.key());
  if (present == nullptr) return not_found(*ask.kind, ask.name);
  auto wanted = patched(ask, present->document());
  if (!wanted) return Refused(std::move(wanted.error()));
  if (auto done = check_names(ask, *wanted); !done) return Refused(std::move(done.error()));
  auto changed =
      objects_.replace(*ask.kind, ask.key(), std::move(*wanted), part_of(ask), ask.is_dry_run());
  if (!changed) return Refused(std::move(changed.error()));
  return reply_with(ask, **changed);
}

Answer<Reply> Api::remove(const Ask& ask) {
  const auto options = read_delete_options(ask);
  if (!options) return Refused(options.error());
  auto deleted = objects_.remove(*ask.kind, ask.key(), *options);
  if (!deleted) return Refused(std::move(deleted.error()));
  const Object& object = *deleted->object;
  if (!deleted->is_gone) {
    return reply_with(ask, object, options->propagation == "Foreground" ? 202 : 200);
  }
  if (ask.kind->returns_deleted) return reply_with(ask, object);
  return Reply{200, model::to_json(success_document(ask.kind, ask.name, object.uid)) + "\n"};
}

Answer<Reply> Api::remove_all(const Ask& ask) {
  if (ask.kind->is_namespaced && ask.space.empty()) return not_allowed();
  const auto options = read_delete_options(ask);
  if (!options) return Refused(options.error());
  const auto filter = read_filter(ask);
  if (!filter) return Refused(filter.error());
  const Shelf shelf = objects_.table.shelf(*ask.kind);
  Node items = model::array_node();
  for (const auto& [key, object] : shelf) {
    if (!filter->matches(*object)) continue;
    const auto deleted = objects_.remove(*ask.kind, key, *options);
    if (deleted) items.items.push_back(deleted->object->document());
  }
  Node list = model::object_node();
  model::put(list, "kind", model::text_node(ask.kind->list_name()));
  model::put(list, "apiVersion", model::text_node(ask.kind->api_version()));
  model::put(model::ensure(list, {"metadata"}), "resourceVersion",
             model::text_node(std::to_string(objects_.table.version())));
  model::put(list, "items", std::move(items));
  return Reply{200, model::to_json(list) + "\n"};
}

}  // namespace spillway::embedded
