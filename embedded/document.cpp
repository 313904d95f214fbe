#include "embedded/document.h"

#include <algorithm>

#include <fmt/format.h>

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;
using model::text_node;

Node* own_member(Node& object, std::string_view key) {
  const auto found = std::find_if(object.items.begin(), object.items.end(),
                                  [&](const Node& item) { return item.key == key; });
  return found == object.items.end() ? nullptr : &*found;
}

Node* own_condition(Node& document, std::string_view type) {
  Node* conditions = own_member(model::ensure(document, {"status"}), "conditions");
  if (conditions == nullptr) return nullptr;
  for (Node& condition : conditions->items) {
    if (model::text_at(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

Node& own_list(Node& object, std::string_view key) {
  Node* list = own_member(object, key);
  return list != nullptr && list->kind == Node::Kind::array ? *list
                                                            : put(object, key, model::array_node());
}

}  // namespace

Duration bounded_seconds(int64_t count) {
  return seconds(std::clamp<int64_t>(count, 0, k_longest_seconds));
}

std::string stamp(Instant t) { return to_text(Instant{t.ms - t.ms % 1000}); }

std::string micro_stamp(Instant t) {
  std::string text = stamp(t);
  text.pop_back();
  return fmt::format("{}.{:03}000Z", text, t.ms % 1000);
}

// Whatever is finer than a millisecond is cut off: MicroTime has six digits.
std::optional<Instant> parse_stamp(std::string_view text) {
  std::string shorter(text);
  if (const size_t dot = shorter.find('.'); dot != std::string::npos) {
    const size_t end = shorter.find_first_not_of("0123456789", dot + 1);
    if (end != std::string::npos && end > dot + 4) shorter.erase(dot + 4, end - dot - 4);
  }
  const auto parsed = parse_instant(shorter);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::string new_uid(host::Random& random) {
  const uint64_t a = random.next();
  const uint64_t b = random.next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                     0x8000 | ((b >> 48) & 0x3fff), b & 0xffff'ffff'ffff);
}

std::string new_suffix(host::Random& random, size_t letters) {
  constexpr std::string_view k_letters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (size_t i = 0; i < letters; ++i) suffix += k_letters[host::below(random, k_letters.size())];
  return suffix;
}

Key key_of(const Node& document) {
  return {std::string(model::text_at(document, {"metadata", "namespace"})),
          std::string(name_of(document))};
}

std::string_view name_of(const Node& document) {
  return model::text_at(document, {"metadata", "name"});
}

std::string_view annotation_of(const Node& document, std::string_view name) {
  return model::text_at(document, {"metadata", "annotations", name});
}

bool is_being_deleted(const Node& document) {
  return model::look(document, {"metadata", "deletionTimestamp"}) != nullptr;
}

bool has_finalizer(const Node& document, std::string_view name) {
  const auto& finalizers = model::items_at(document, {"metadata", "finalizers"});
  return std::any_of(finalizers.begin(), finalizers.end(),
                     [&](const Node& item) { return item.text == name; });
}

void add_finalizer(Node& document, std::string_view name) {
  if (has_finalizer(document, name)) return;
  own_list(model::ensure(document, {"metadata"}), "finalizers").items.push_back(text_node(name));
}

void drop_finalizer(Node& document, std::string_view name) {
  Node& metadata = model::ensure(document, {"metadata"});
  Node* finalizers = own_member(metadata, "finalizers");
  if (finalizers == nullptr) return;
  std::erase_if(finalizers->items, [&](const Node& item) { return item.text == name; });
  if (finalizers->items.empty()) model::erase(metadata, "finalizers");
}

const Node* find_condition(const Node& document, std::string_view type) {
  for (const Node& condition : model::items_at(document, {"status", "conditions"})) {
    if (model::text_at(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

bool has_condition(const Node& document, std::string_view type, std::string_view status) {
  const Node* condition = find_condition(document, type);
  return condition != nullptr && model::text_at(*condition, {"status"}) == status;
}

bool set_condition(Node& document, const Condition& wanted, Instant now) {
  Node* condition = own_condition(document, wanted.type);
  const bool is_new = condition == nullptr;
  if (is_new) {
    Node& list = own_list(model::ensure(document, {"status"}), "conditions");
    condition = &list.items.emplace_back(model::object_node());
    put(*condition, "type", text_node(wanted.type));
  }
  const Node was = *condition;
  const bool turns = model::text_at(was, {"status"}) != wanted.status;
  put(*condition, "status", text_node(wanted.status));
  if (turns) put(*condition, "lastTransitionTime", text_node(stamp(now)));
  for (const auto& [key, text] :
       {std::pair("reason", wanted.reason), {"message", wanted.message}}) {
    if (text.empty()) {
      model::erase(*condition, key);
    } else {
      put(*condition, key, text_node(text));
    }
  }
  return is_new || !model::same(was, *condition);
}

const Node* controller_of(const Node& document) {
  for (const Node& owner : model::items_at(document, {"metadata", "ownerReferences"})) {
    if (model::boolean_at(owner, {"controller"})) return &owner;
  }
  return nullptr;
}

Node owner_reference(const Object& owner) {
  Node reference = model::object_node();
  put(reference, "apiVersion", text_node(owner.kind->api_version()));
  put(reference, "kind", text_node(owner.kind->name));
  put(reference, "name", text_node(owner.key.name));
  put(reference, "uid", text_node(owner.uid));
  put(reference, "controller", model::boolean_node(true));
  put(reference, "blockOwnerDeletion", model::boolean_node(true));
  return reference;
}

std::string scalar_text(const Node* node) {
  if (node == nullptr) return {};
  switch (node->kind) {
    case Node::Kind::integer:
      return std::to_string(node->integer);
    case Node::Kind::boolean:
      return node->boolean ? "true" : "false";
    default:
      return node->text;
  }
}

}  // namespace spillway::embedded
