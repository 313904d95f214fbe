#include "embedded/objects.h"

#include <fmt/format.h>

#include "embedded/defaults.h"
#include "embedded/document.h"
#include "embedded/validation.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;
using model::text_node;

// Members of metadata that are the server's, whatever the caller writes there.
constexpr std::string_view k_own_metadata[] = {"uid", "creationTimestamp", "generation",
                                               "deletionTimestamp", "deletionGracePeriodSeconds"};

void keep_member(Node& target, const Node& source, std::string_view key) {
  const Node* kept = model::look(source, {key});
  if (kept != nullptr) {
    put(target, key, *kept);
  } else {
    model::erase(target, key);
  }
}

void keep_own_metadata(Node& wanted, const Node& before) {
  Node& metadata = model::ensure(wanted, {"metadata"});
  const Node& old = *model::look(before, {"metadata"});
  for (const std::string_view key : k_own_metadata) keep_member(metadata, old, key);
  for (const std::string_view key : {"name", "namespace", "generateName"}) {
    if (model::look(metadata, {key}) == nullptr) keep_member(metadata, old, key);
  }
  model::erase(metadata, "selfLink");
}

// Pods and nodes let labels and annotations change together with the status; others do not.
Node with_status_of(const Kind& kind, const Node& before, const Node& wanted) {
  Node result = before;
  keep_member(result, wanted, "status");
  Node& metadata = model::ensure(result, {"metadata"});
  const Node* asked = model::look(wanted, {"metadata"});
  if (asked == nullptr) return result;
  keep_member(metadata, *asked, "managedFields");
  if (!kind.is_custom && (kind.name == "Pod" || kind.name == "Node")) {
    keep_member(metadata, *asked, "labels");
    keep_member(metadata, *asked, "annotations");
    keep_member(metadata, *asked, "finalizers");
  }
  return result;
}

Node without_metadata_and_status(const Node& document) {
  Node rest = document;
  model::erase(rest, "metadata");
  model::erase(rest, "status");
  model::erase(rest, "apiVersion");
  return rest;
}

void count_generation(const Kind& kind, Node& wanted, const Node& before) {
  if (!kind.counts_generation) return;
  const bool changes =
      !model::same(without_metadata_and_status(wanted), without_metadata_and_status(before));
  if (!changes) return;
  const int64_t was = model::integer_at(before, {"metadata", "generation"});
  put(model::ensure(wanted, {"metadata"}), "generation", model::integer_node(was + 1));
}

bool same_but_for_version(Node a, Node b) {
  for (Node* node : {&a, &b}) {
    model::erase(*node, "apiVersion");
    model::erase(model::ensure(*node, {"metadata"}), "resourceVersion");
  }
  return model::same(a, b);
}

Done check_origin(const Kind& kind, const Object& present, const Node& wanted) {
  const std::string_view uid = model::text_at(wanted, {"metadata", "uid"});
  if (!uid.empty() && uid != present.uid) {
    return conflict(kind, present.key.name,
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: "
                                "{}",
                                uid, present.uid));
  }
  const std::string_view version = model::text_at(wanted, {"metadata", "resourceVersion"});
  if (!version.empty() && version != "0" && version != std::to_string(present.version)) {
    return stale(kind, present.key.name);
  }
  return {};
}

}  // namespace

Done Objects::check_space(const Kind& kind, const Node& document) const {
  if (!kind.is_namespaced) return {};
  const std::string_view space = model::text_at(document, {"metadata", "namespace"});
  const Kind& spaces = registry.built_in("namespaces");
  const ObjectPtr found = table.find(spaces, {"", std::string(space)});
  if (found == nullptr) return not_found(spaces, space);
  const std::string* phase = find_pair(found->fields, "status.phase");
  if (phase != nullptr && *phase == "Terminating") {
    return forbidden(
        kind, name_of(document),
        fmt::format("unable to create new content in namespace {} because it is being terminated",
                    space),
        {{"NamespaceTerminating", fmt::format("namespace {} is being terminated", space),
          "metadata.namespace"}});
  }
  return {};
}

Answer<ObjectPtr> Objects::create(const Kind& kind, Node document, bool is_dry_run) {
  Node& metadata = model::ensure(document, {"metadata"});
  if (const auto version = model::text_at(metadata, {"resourceVersion"});
      !version.empty() && version != "0") {
    return internal_error("resourceVersion should not be set on objects to be created");
  }
  if (!kind.is_namespaced) model::erase(metadata, "namespace");
  for (const std::string_view key : k_own_metadata) model::erase(metadata, key);
  model::erase(metadata, "selfLink");
  const std::string_view prefix = model::text_at(metadata, {"generateName"});
  if (name_of(document).empty() && !prefix.empty()) {
    put(metadata, "name", text_node(std::string(prefix) + new_suffix(random)));
  }
  if (auto done = check_space(kind, document); !done) return Refused(std::move(done.error()));
  if (on_create) on_create(kind, document);
  return create_whole(kind, std::move(document), is_dry_run);
}

Answer<ObjectPtr> Objects::create_whole(const Kind& kind, Node document, bool is_dry_run) {
  Node& metadata = model::ensure(document, {"metadata"});
  put(metadata, "uid", text_node(new_uid(random)));
  put(metadata, "creationTimestamp", text_node(stamp(clock.now())));
  if (kind.counts_generation) put(metadata, "generation", model::integer_node(1));
  set_first_status(kind, document);
  set_defaults(kind, document);
  const Key key = key_of(document);
  if (auto causes = validate(kind, document, nullptr); !causes.empty()) {
    return invalid(kind, key.name, std::move(causes));
  }
  if (table.find(kind, key) != nullptr) return already_exists(kind, key.name);
  if (is_dry_run) return make_object(kind, std::move(document), 0);
  return table.write(kind, std::move(document));
}

Answer<ObjectPtr> Objects::replace(const Kind& kind, const Key& key, Node wanted, Part part,
                                   bool is_dry_run) {
  const ObjectPtr present = table.find(kind, key);
  if (present == nullptr) return not_found(kind, key.name);
  if (auto done = check_origin(kind, *present, wanted); !done) {
    return Refused(std::move(done.error()));
  }
  const Node before = present->document();
  if (part == Part::status) wanted = with_status_of(kind, before, wanted);
  if (part == Part::main && kind.has("status")) keep_member(wanted, before, "status");
  const int64_t counted = model::integer_at(wanted, {"metadata", "generation"});
  keep_own_metadata(wanted, before);
  // Controllers count for themselves: see change().
  if (part == Part::whole && counted > 0) {
    put(model::ensure(wanted, {"metadata"}), "generation", model::integer_node(counted));
  }
  // Its finalizers change by `finalize` only.
  if (part == Part::main && kind.name == "Namespace") keep_member(wanted, before, "spec");
  if (part == Part::main) {
    set_defaults(kind, wanted);
    count_generation(kind, wanted, before);
  }
  if (part != Part::whole) {
    if (auto causes = validate(kind, wanted, &before); !causes.empty()) {
      return invalid(kind, key.name, std::move(causes));
    }
  }
  if (same_but_for_version(wanted, before)) return present;
  if (is_dry_run) return make_object(kind, std::move(wanted), present->version);
  const bool ends = ends_now(wanted);
  ObjectPtr object = table.write(kind, std::move(wanted));
  return ends ? table.remove(kind, key) : object;
}

ObjectPtr Objects::change(const Kind& kind, const Key& key, const std::function<void(Node&)>& how) {
  const ObjectPtr present = table.find(kind, key);
  if (present == nullptr) return nullptr;
  Node document = present->document();
  how(document);
  if (kind.counts_generation) count_generation(kind, document, present->document());
  auto changed = replace(kind, key, std::move(document), Part::whole);
  return changed ? *changed : nullptr;
}

// Not by change(): being bound is no new generation.
void bind_pod(Objects& objects, const Key& pod, const std::string& node) {
  const Kind& pods = objects.registry.built_in("pods");
  const ObjectPtr present = objects.table.find(pods, pod);
  if (present == nullptr) return;
  Node document = present->document();
  put(model::ensure(document, {"spec"}), "nodeName", text_node(node));
  set_condition(document, {.type = "PodScheduled", .status = "True"}, objects.clock.now());
  (void)objects.replace(pods, pod, std::move(document), Part::whole);
}

}  // namespace spillway::embedded
