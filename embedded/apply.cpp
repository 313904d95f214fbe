#include "embedded/apply.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "embedded/document.h"
#include "embedded/field_set.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;
using model::text_node;

struct Entry {
  Node node;  // as in managedFields
  std::string_view at(std::string_view key) const { return model::text_at(node, {key}); }
  FieldSet fields() const {
    const Node* found = model::look(node, {"fieldsV1"});
    return found == nullptr ? model::object_node() : *found;
  }
  bool is_of(const Writer& writer, std::string_view operation) const {
    return at("manager") == writer.name && at("operation") == operation &&
           at("subresource") == writer.subresource;
  }
};

std::vector<Entry> entries_of(const Node* document) {
  std::vector<Entry> entries;
  if (document == nullptr) return entries;
  for (const Node& node : model::items_at(*document, {"metadata", "managedFields"})) {
    entries.push_back({node});
  }
  return entries;
}

void write_entries(Node& document, const std::vector<Entry>& entries) {
  Node list = model::array_node();
  for (const Entry& entry : entries) {
    if (!entry.fields().items.empty()) list.items.push_back(entry.node);
  }
  Node& metadata = model::ensure(document, {"metadata"});
  model::erase(metadata, "managedFields");
  if (!list.items.empty()) put(metadata, "managedFields", std::move(list));
}

Entry new_entry(const Writer& writer, std::string_view operation, FieldSet fields) {
  Entry entry{model::object_node()};
  put(entry.node, "manager", text_node(writer.name));
  put(entry.node, "operation", text_node(operation));
  put(entry.node, "apiVersion", text_node(writer.api_version));
  put(entry.node, "time", text_node(stamp(writer.now)));
  put(entry.node, "fieldsType", text_node("FieldsV1"));
  put(entry.node, "fieldsV1", std::move(fields));
  if (!writer.subresource.empty()) put(entry.node, "subresource", text_node(writer.subresource));
  return entry;
}

std::string described(const Entry& entry) {
  std::string text = fmt::format("\"{}\"", entry.at("manager"));
  if (!entry.at("subresource").empty()) {
    text += fmt::format(" with subresource \"{}\"", entry.at("subresource"));
  }
  if (entry.at("operation") == "Update") {
    text += fmt::format(" using {} at {}", entry.at("apiVersion"), entry.at("time"));
  }
  return text;
}

struct Conflict {
  std::string owner;
  Steps steps;
};

Refused refuse(const std::vector<Conflict>& conflicts) {
  Refusal refusal{409, "Conflict", ""};
  std::map<std::string, std::string> by_owner;
  for (const Conflict& conflict : conflicts) {
    const std::string path = path_text(conflict.steps);
    refusal.causes.push_back({"FieldManagerConflict", "conflict with " + conflict.owner, path});
    by_owner[conflict.owner] += "\n- " + path;
  }
  if (conflicts.size() == 1) {
    refusal.message = fmt::format("Apply failed with 1 conflict: conflict with {}: {}",
                                  conflicts[0].owner, path_text(conflicts[0].steps));
    return Refused(std::move(refusal));
  }
  std::string said;
  for (const auto& [owner, paths] : by_owner) {
    said += fmt::format("{}conflicts with {}:{}", said.empty() ? "" : "\n", owner, paths);
  }
  refusal.message = fmt::format("Apply failed with {} conflicts: {}", conflicts.size(), said);
  return Refused(std::move(refusal));
}

bool is_owned(const std::vector<Entry>& entries, const Steps& steps) {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    const FieldSet fields = entry.fields();
    const FieldSet* at = &fields;
    for (const std::string& step : steps) {
      at = at->find(step);
      if (at == nullptr) return false;
    }
    return true;
  });
}

}  // namespace

Answer<Node> apply(const Kind& kind, const Node* live, const Node& wanted, const Writer& writer,
                   bool is_forced) {
  const FieldSet applied = fields_of(kind, wanted);
  std::vector<Entry> others = entries_of(live);
  FieldSet before = model::object_node();
  Node own;
  std::erase_if(others, [&](const Entry& entry) {
    if (!entry.is_of(writer, "Apply")) return false;
    before = entry.fields();
    own = entry.node;
    return true;
  });
  std::vector<Conflict> conflicts;
  for (Entry& entry : others) {
    const FieldSet disputed = filter_fields(
        intersection(applied, entry.fields()),
        [&](const Steps& steps) { return live != nullptr && !agree_at(*live, wanted, steps); });
    for (const Steps& steps : leaves_of(disputed)) conflicts.push_back({described(entry), steps});
    put(entry.node, "fieldsV1", difference(entry.fields(), disputed));
  }
  if (!conflicts.empty() && !is_forced) return refuse(conflicts);

  Node result = live != nullptr ? *live : model::object_node();
  for (const Steps& steps : leaves_of(difference(before, applied))) {
    if (!is_owned(others, steps)) remove_at(result, steps);
  }
  merge_fields(kind, result, wanted);
  const bool is_idle =
      live != nullptr && model::same(result, *live) && model::same(before, applied);
  Entry entry = new_entry(writer, "Apply", applied);
  if (is_idle) entry.node = std::move(own);
  others.push_back(std::move(entry));
  // Where it was, so that applying the same twice changes nothing.
  std::stable_sort(others.begin(), others.end(), [](const Entry& a, const Entry& b) {
    return a.at("operation") < b.at("operation");
  });
  write_entries(result, others);
  return result;
}

void track_update(const Kind& kind, const Node* before, Node& after, const Writer& writer) {
  const Node* sent = model::look(after, {"metadata", "managedFields"});
  // Sending an empty list is how a client resets them.
  const bool is_reset = sent != nullptr && before != nullptr &&
                        (sent->items.empty() || sent->items.front().items.empty());
  std::vector<Entry> entries = is_reset ? std::vector<Entry>{} : entries_of(before);
  static const Node k_nothing = model::object_node();
  const Node& old = before != nullptr ? *before : k_nothing;
  const FieldSet changed = filter_fields(
      fields_of(kind, after), [&](const Steps& steps) { return !agree_at(old, after, steps); });
  bool is_known = false;
  for (Entry& entry : entries) {
    FieldSet fields = entry.fields();
    if (entry.is_of(writer, "Update")) {
      is_known = true;
      if (!changed.items.empty()) put(entry.node, "time", text_node(stamp(writer.now)));
      unite(fields, changed);
    } else {
      fields = difference(fields, changed);
    }
    put(entry.node, "fieldsV1", filter_fields(fields, [&](const Steps& steps) {
          return value_at(after, steps) != nullptr;
        }));
  }
  if (!is_known && !changed.items.empty()) entries.push_back(new_entry(writer, "Update", changed));
  write_entries(after, entries);
}

}  // namespace spillway::embedded
