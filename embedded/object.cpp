#include "embedded/object.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::embedded {
namespace {

using model::Node;

// apiVersion, kind, metadata, and then the rest as it was.
void order_members(Node& document) {
  const auto rank = [](const Node& member) {
    constexpr std::array<std::string_view, 3> k_first = {"apiVersion", "kind", "metadata"};
    return std::find(k_first.begin(), k_first.end(), member.key) - k_first.begin();
  };
  std::stable_sort(document.items.begin(), document.items.end(),
                   [&](const Node& a, const Node& b) { return rank(a) < rank(b); });
}

Pairs labels_of(const Node& document) {
  Pairs pairs;
  for (const Node& label : model::items_at(document, {"metadata", "labels"})) {
    pairs.emplace_back(label.key, label.text);
  }
  return pairs;
}

Pairs fields_of(const Kind& kind, const Node& document, const Key& key) {
  Pairs fields = {{"metadata.name", key.name}};
  if (kind.is_namespaced) fields.emplace_back("metadata.namespace", key.space);
  const auto add = [&](std::string name, std::string_view value) {
    fields.emplace_back(std::move(name), value);
  };
  if (kind.name == "Pod") {
    add("spec.nodeName", model::text_at(document, {"spec", "nodeName"}));
    add("spec.restartPolicy", model::text_at(document, {"spec", "restartPolicy"}));
    add("spec.schedulerName", model::text_at(document, {"spec", "schedulerName"}));
    add("spec.serviceAccountName", model::text_at(document, {"spec", "serviceAccountName"}));
    add("status.phase", model::text_at(document, {"status", "phase"}));
    add("status.podIP", model::text_at(document, {"status", "podIP"}));
  } else if (kind.name == "Node") {
    add("spec.unschedulable",
        model::boolean_at(document, {"spec", "unschedulable"}) ? "true" : "false");
  } else if (kind.name == "Namespace") {
    add("status.phase", model::text_at(document, {"status", "phase"}));
  } else if (kind.name == "Secret") {
    add("type", model::text_at(document, {"type"}));
  } else if (kind.name == "Event") {
    add("involvedObject.name", model::text_at(document, {"involvedObject", "name"}));
    add("involvedObject.namespace", model::text_at(document, {"involvedObject", "namespace"}));
    add("involvedObject.kind", model::text_at(document, {"involvedObject", "kind"}));
    add("involvedObject.uid", model::text_at(document, {"involvedObject", "uid"}));
    add("reason", model::text_at(document, {"reason"}));
    add("type", model::text_at(document, {"type"}));
  }
  return fields;
}

constexpr std::string_view k_beginning = R"({"apiVersion":")";

}  // namespace

Node Object::document() const {
  auto parsed = model::parse_json(text, "object", text.size(), model::k_max_foreign_depth + 8);
  SPILLWAY_CHECK(parsed.has_value(), "a stored object cannot be read");
  return std::move(*parsed);
}

std::string Object::text_as(std::string_view wanted) const {
  const size_t end = text.find('"', k_beginning.size());
  const std::string_view written =
      std::string_view(text).substr(k_beginning.size(), end - k_beginning.size());
  const std::string api =
      kind->group.empty() ? std::string(wanted) : fmt::format("{}/{}", kind->group, wanted);
  if (wanted.empty() || written == api) return text;
  return std::string(k_beginning) + api + text.substr(end);
}

ObjectPtr make_object(const Kind& kind, Node document, int64_t version) {
  model::put(document, "apiVersion", model::text_node(kind.api_version()));
  model::put(document, "kind", model::text_node(kind.name));
  Node& metadata = model::ensure(document, {"metadata"});
  if (version > 0) {
    model::put(metadata, "resourceVersion", model::text_node(std::to_string(version)));
  } else {
    model::erase(metadata, "resourceVersion");
  }
  order_members(document);
  auto object = std::make_shared<Object>();
  object->kind = &kind;
  object->key = {std::string(model::text_at(document, {"metadata", "namespace"})),
                 std::string(model::text_at(document, {"metadata", "name"}))};
  object->uid = model::text_at(document, {"metadata", "uid"});
  object->version = version;
  object->labels = labels_of(document);
  object->fields = fields_of(kind, document, object->key);
  for (const Node& owner : model::items_at(document, {"metadata", "ownerReferences"})) {
    object->owners.emplace_back(model::text_at(owner, {"uid"}));
  }
  object->is_deleting = model::look(document, {"metadata", "deletionTimestamp"}) != nullptr;
  for (const Node& condition : model::items_at(document, {"status", "conditions"})) {
    if (model::text_at(condition, {"type"}) != "Ready") continue;
    object->is_ready = model::text_at(condition, {"status"}) == "True";
  }
  object->text = model::to_json(document);
  object->text.shrink_to_fit();
  return object;
}

const std::string* find_pair(const Pairs& pairs, std::string_view key) {
  const auto found =
      std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == key; });
  return found == pairs.end() ? nullptr : &found->second;
}

}  // namespace spillway::embedded
