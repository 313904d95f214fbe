// create, update, patch, delete, deletecollection.
#include <fmt/format.h>

#include "base/text.h"
#include "embedded/api.h"
#include "embedded/apply.h"
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

// Who does not name itself is called by the beginning of its User-Agent.
Writer writer_of(const Ask& ask, Instant now) {
  std::string_view name = ask.parameter("fieldManager");
  if (name.empty()) {
    const std::string_view agent = ask.header("User-Agent");
    name = agent.substr(0, std::min<size_t>(agent.find('/'), 128));
    if (!is_printable(name)) name = {};
  }
  const std::string api =
      ask.kind->group.empty() ? ask.version : ask.kind->group + "/" + ask.version;
  return {std::string(name.empty() ? "unknown" : name), ask.subresource, api, now};
}

// As far as this request may change it, so that nobody comes to own what it did not write.
Node allowed_part(const Ask& ask, const Node& wanted, const Node& before) {
  Node result = part_of(ask) == Part::status ? before : wanted;
  const Node& source = part_of(ask) == Part::status ? wanted : before;
  if (!ask.kind->has("status")) return wanted;
  model::erase(result, "status");
  if (const Node* status = model::look(source, {"status"})) model::put(result, "status", *status);
  if (const Node* sent = model::look(wanted, {"metadata"});
      sent != nullptr && part_of(ask) == Part::status) {
    model::put(result, "metadata", *sent);
  }
  return result;
}

Refused invalid_patch_options(Cause cause) {
  static const Kind k_options{
      .group = "meta.k8s.io", .version = "v1", .plural = "", .name = "PatchOptions"};
  return invalid(k_options, "", {std::move(cause)});
}

}  // namespace

Answer<Reply> Api::create(const Ask& ask) {
  if (ask.kind->is_namespaced && ask.space.empty()) return not_allowed();
  auto document = read_object(ask);
  if (!document) return Refused(std::move(document.error()));
  return create_from(ask, std::move(*document));
}

Answer<Reply> Api::create_from(const Ask& ask, Node document) {
  model::erase(model::ensure(document, {"metadata"}), "managedFields");
  if (auto done = admission_(ask, document, nullptr); !done) return Refused(done.error());
  track_update(*ask.kind, nullptr, document, writer_of(ask, objects_.clock.now()));
  auto made = objects_.create(*ask.kind, std::move(document), ask.is_dry_run());
  if (!made) return Refused(std::move(made.error()));
  return reply_with(ask, **made, 201);
}

// What a caller wants an object to become, with its ownership noted.
Answer<Reply> Api::replace_with(const Ask& ask, const Object& present, const Node& wanted) {
  const Node before = present.document();
  Node document = allowed_part(ask, wanted, before);
  if (auto done = admission_(ask, document, &present); !done) return Refused(done.error());
  track_update(*ask.kind, &before, document, writer_of(ask, objects_.clock.now()));
  auto changed =
      objects_.replace(*ask.kind, ask.key(), std::move(document), part_of(ask), ask.is_dry_run());
  if (!changed) return Refused(std::move(changed.error()));
  return reply_with(ask, **changed);
}

Answer<Reply> Api::update(const Ask& ask) {
  auto document = read_object(ask);
  if (!document) return Refused(std::move(document.error()));
  const ObjectPtr present = objects_.table.find(*ask.kind, ask.key());
  const std::string_view version = model::text_at(*document, {"metadata", "resourceVersion"});
  if (present == nullptr && ask.kind->creates_on_update && ask.subresource.empty()) {
    // Only something that is there can be of a version.
    if (!version.empty()) return stale(*ask.kind, ask.name);
    return create_from(ask, std::move(*document));
  }
  if (present == nullptr) return not_found(*ask.kind, ask.name);
  if (version.empty() && ask.kind->needs_version) {
    return invalid(
        *ask.kind, ask.name,
        {invalid_value("metadata.resourceVersion", "0", "must be specified for an update")});
  }
  return replace_with(ask, *present, *document);
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
  if (ask.content_type() == "application/apply-patch+yaml") return apply_patch(ask);
  if (!ask.parameter("force").empty()) {
    return invalid_patch_options(
        forbidden_field("force", "may not be specified for non-apply patch"));
  }
  const ObjectPtr present = objects_.table.find(*ask.kind, ask.key());
  if (present == nullptr) return not_found(*ask.kind, ask.name);
  auto wanted = patched(ask, present->document());
  if (!wanted) return Refused(std::move(wanted.error()));
  if (auto done = check_texts(*wanted); !done) return Refused(std::move(done.error()));
  if (auto done = check_names(ask, *wanted); !done) return Refused(std::move(done.error()));
  return replace_with(ask, *present, *wanted);
}

Answer<Reply> Api::apply_patch(const Ask& ask) {
  if (ask.parameter("fieldManager").empty()) {
    return invalid_patch_options(required("fieldManager", "is required for apply patch"));
  }
  auto wanted = read_object(ask);
  if (!wanted) return Refused(std::move(wanted.error()));
  if (model::look(*wanted, {"metadata", "managedFields"}) != nullptr) {
    return bad_request("metadata.managedFields must be nil");
  }
  const ObjectPtr present = objects_.table.find(*ask.kind, ask.key());
  if (present == nullptr && !ask.subresource.empty()) return not_found(*ask.kind, ask.name);
  const Node live = present == nullptr ? model::object_node() : present->document();
  Node document = *wanted;
  if (ask.kind->has("status")) {
    document = allowed_part(ask, *wanted, model::object_node());
    if (part_of(ask) == Part::status)
      model::put(document, "metadata", *model::look(*wanted, {"metadata"}));
  }
  auto result = apply(*ask.kind, present == nullptr ? nullptr : &live, document,
                      writer_of(ask, objects_.clock.now()), ask.is_set("force"));
  if (!result) return Refused(std::move(result.error()));
  if (auto done = admission_(ask, *result, present.get()); !done) return Refused(done.error());
  auto written = present == nullptr
                     ? objects_.create(*ask.kind, std::move(*result), ask.is_dry_run())
                     : objects_.replace(*ask.kind, ask.key(), std::move(*result), part_of(ask),
                                        ask.is_dry_run());
  if (!written) return Refused(std::move(written.error()));
  return reply_with(ask, **written, present == nullptr ? 201 : 200);
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
