#include "embedded/definitions.h"

#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;

constexpr std::string_view k_cleanup = "customresourcecleanup.apiextensions.k8s.io";
constexpr std::string_view k_extensions = "apiextensions.k8s.io";

}  // namespace

Definitions::Definitions(Objects& objects, host::Loop& loop)
    : objects_(objects), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) {
    const Object& object = *change.object;
    const bool is_definition =
        object.kind == &objects_.registry.built_in("customresourcedefinitions", k_extensions);
    if (is_definition) changed_.insert(object.key);
    if (ending_.contains(object.kind)) {
      changed_.insert({"", object.kind->plural + "." + object.kind->group});
    } else if (!is_definition) {
      return;
    }
    turn_.soon();
  });
}

void Definitions::work() {
  const Kind& kind = objects_.registry.built_in("customresourcedefinitions", k_extensions);
  for (const Key& key : std::exchange(changed_, {})) {
    const ObjectPtr object = objects_.table.find(kind, key);
    if (object == nullptr) continue;
    const Node definition = object->document();
    if (is_being_deleted(definition)) {
      clean_up(key, definition);
    } else {
      establish(key, definition);
    }
  }
}

void Definitions::establish(const Key& key, const Node& definition) {
  const Kind& made = objects_.registry.define(definition, objects_.table.version());
  ending_.erase(&made);
  objects_.change(objects_.registry.built_in("customresourcedefinitions", k_extensions), key,
                  [&](Node& document) {
                    const Instant now = objects_.clock.now();
                    add_finalizer(document, k_cleanup);
                    set_condition(document,
                                  {.type = "NamesAccepted",
                                   .status = "True",
                                   .reason = "NoConflicts",
                                   .message = "no conflicts found"},
                                  now);
                    set_condition(document,
                                  {.type = "Established",
                                   .status = "True",
                                   .reason = "InitialNamesAccepted",
                                   .message = "the initial names have been accepted"},
                                  now);
                    Node& status = model::ensure(document, {"status"});
                    put(status, "acceptedNames", *model::look(document, {"spec", "names"}));
                    Node& stored = put(status, "storedVersions", model::array_node());
                    stored.items.push_back(model::text_node(made.version));
                  });
}

void Definitions::clean_up(const Key& key, const Node& definition) {
  const std::string_view group = model::text_at(definition, {"spec", "group"});
  const std::string_view plural = model::text_at(definition, {"spec", "names", "plural"});
  const std::string_view name = model::text_at(definition, {"spec", "names", "kind"});
  const Kind* kind = objects_.registry.find_named(group, name);
  if (kind != nullptr) {
    ending_.insert(kind);
    const Shelf shelf = objects_.table.shelf(*kind);
    for (const auto& [one, object] : shelf) (void)objects_.remove(*kind, one);
    if (!objects_.table.shelf(*kind).empty()) return;  // what goes later tells us
    ending_.erase(kind);
  }
  objects_.registry.withdraw(group, plural);
  objects_.change(objects_.registry.built_in("customresourcedefinitions", k_extensions), key,
                  [&](Node& document) { drop_finalizer(document, k_cleanup); });
}

}  // namespace spillway::embedded
