#include "embedded/rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;
using model::text_node;

// After NAME; those of low importance show with -o wide only.
struct Column {
  std::string name;
  bool is_wide = false;
};

std::string age_of(const Node& document, Instant now) {
  const auto since = parse_stamp(model::text_at(document, {"metadata", "creationTimestamp"}));
  return since ? age_text(now - *since) : "<unknown>";
}

std::string or_none(std::string_view text) { return text.empty() ? "<none>" : std::string(text); }

std::string number_at(const Node& document, model::Path path) {
  return std::to_string(model::integer_at(document, path));
}

std::string pod_status(const Node& pod) {
  if (is_being_deleted(pod)) return "Terminating";
  if (const auto reason = model::text_at(pod, {"status", "reason"}); !reason.empty()) {
    return std::string(reason);
  }
  for (const Node& status : model::items_at(pod, {"status", "containerStatuses"})) {
    for (const std::string_view state : {"waiting", "terminated"}) {
      const auto reason = model::text_at(status, {"state", state, "reason"});
      if (!reason.empty()) return std::string(reason);
    }
  }
  return std::string(model::text_at(pod, {"status", "phase"}));
}

std::vector<std::string> pod_cells(const Node& pod, const std::string& age) {
  int64_t ready = 0;
  int64_t restarts = 0;
  for (const Node& status : model::items_at(pod, {"status", "containerStatuses"})) {
    ready += model::boolean_at(status, {"ready"}) ? 1 : 0;
    restarts += model::integer_at(status, {"restartCount"});
  }
  return {fmt::format("{}/{}", ready, model::items_at(pod, {"spec", "containers"}).size()),
          pod_status(pod),
          std::to_string(restarts),
          age,
          or_none(model::text_at(pod, {"status", "podIP"})),
          or_none(model::text_at(pod, {"spec", "nodeName"}))};
}

std::vector<std::string> node_cells(const Node& node, const std::string& age) {
  std::string status = has_condition(node, "Ready", "True") ? "Ready" : "NotReady";
  if (model::boolean_at(node, {"spec", "unschedulable"})) status += ",SchedulingDisabled";
  std::string roles;
  constexpr std::string_view k_role = "node-role.kubernetes.io/";
  for (const Node& label : model::items_at(node, {"metadata", "labels"})) {
    if (!label.key.starts_with(k_role)) continue;
    roles += (roles.empty() ? "" : ",") + label.key.substr(k_role.size());
  }
  return {status, or_none(roles), age,
          or_none(model::text_at(node, {"status", "nodeInfo", "kubeletVersion"}))};
}

std::vector<std::string> budget_cells(const Node& budget, const std::string& age) {
  const auto or_absent = [](std::string text) { return text.empty() ? "N/A" : text; };
  return {or_absent(scalar_text(model::look(budget, {"spec", "minAvailable"}))),
          or_absent(scalar_text(model::look(budget, {"spec", "maxUnavailable"}))),
          number_at(budget, {"status", "disruptionsAllowed"}), age};
}

struct Layout {
  std::string kind;
  std::vector<Column> columns;
  std::vector<std::string> (*cells)(const Node&, const std::string& age);
};

const std::vector<Layout>& layouts() {
  using Cells = std::vector<std::string>;
  static const std::vector<Layout> k_all = {
      {"Pod",
       {{"Ready"}, {"Status"}, {"Restarts"}, {"Age"}, {"IP", true}, {"Node", true}},
       pod_cells},
      {"Node", {{"Status"}, {"Roles"}, {"Age"}, {"Version"}}, node_cells},
      {"Namespace",
       {{"Status"}, {"Age"}},
       [](const Node& it, const std::string& age) {
         return Cells{std::string(model::text_at(it, {"status", "phase"})), age};
       }},
      {"Deployment",
       {{"Ready"}, {"Up-to-date"}, {"Available"}, {"Age"}},
       [](const Node& it, const std::string& age) {
         return Cells{
             number_at(it, {"status", "readyReplicas"}) + "/" + number_at(it, {"spec", "replicas"}),
             number_at(it, {"status", "updatedReplicas"}),
             number_at(it, {"status", "availableReplicas"}), age};
       }},
      {"ReplicaSet",
       {{"Desired"}, {"Current"}, {"Ready"}, {"Age"}},
       [](const Node& it, const std::string& age) {
         return Cells{number_at(it, {"spec", "replicas"}), number_at(it, {"status", "replicas"}),
                      number_at(it, {"status", "readyReplicas"}), age};
       }},
      {"Lease",
       {{"Holder"}, {"Age"}},
       [](const Node& it, const std::string& age) {
         return Cells{std::string(model::text_at(it, {"spec", "holderIdentity"})), age};
       }},
      {"Secret",
       {{"Type"}, {"Data"}, {"Age"}},
       [](const Node& it, const std::string& age) {
         return Cells{std::string(model::text_at(it, {"type"})),
                      std::to_string(model::items_at(it, {"data"}).size()), age};
       }},
      {"ConfigMap",
       {{"Data"}, {"Age"}},
       [](const Node& it, const std::string& age) {
         return Cells{std::to_string(model::items_at(it, {"data"}).size()), age};
       }},
      {"PodDisruptionBudget",
       {{"Min Available"}, {"Max Unavailable"}, {"Allowed Disruptions"}, {"Age"}},
       budget_cells},
      {"CustomResourceDefinition",
       {{"Created At"}},
       [](const Node& it, const std::string&) {
         return Cells{std::string(model::text_at(it, {"metadata", "creationTimestamp"}))};
       }},
  };
  return k_all;
}

const Layout& layout_of(const Kind& kind) {
  static const Layout k_plain{"", {{"Age"}}, [](const Node&, const std::string& age) {
                                return std::vector<std::string>{age};
                              }};
  const auto found = std::find_if(layouts().begin(), layouts().end(),
                                  [&](const Layout& one) { return one.kind == kind.name; });
  return kind.is_custom || found == layouts().end() ? k_plain : *found;
}

Node column_node(const Column& column) {
  Node node = model::object_node();
  put(node, "name", text_node(column.name));
  put(node, "type", text_node("string"));
  put(node, "format", text_node(column.name == "Name" ? "name" : ""));
  put(node, "description", text_node(""));
  put(node, "priority", model::integer_node(column.is_wide ? 1 : 0));
  return node;
}

Node row_of(const Layout& layout, const Object& object, Instant now) {
  const Node document = object.document();
  Node row = model::object_node();
  Node& cells = put(row, "cells", model::array_node());
  cells.items.push_back(text_node(object.key.name));
  for (const std::string& text : layout.cells(document, age_of(document, now))) {
    cells.items.push_back(text_node(text));
  }
  Node& shown = put(row, "object", model::object_node());
  put(shown, "kind", text_node("PartialObjectMetadata"));
  put(shown, "apiVersion", text_node("meta.k8s.io/v1"));
  put(shown, "metadata", *model::look(document, {"metadata"}));
  return row;
}

Node columns_of(const Layout& layout) {
  Node columns = model::array_node();
  columns.items.push_back(column_node({"Name"}));
  for (const Column& column : layout.columns) columns.items.push_back(column_node(column));
  return columns;
}

}  // namespace

std::string table_text(const Kind& kind, const std::vector<ObjectPtr>& objects,
                       const std::string& next, int64_t version, Instant now) {
  const Layout& layout = layout_of(kind);
  Node table = model::object_node();
  put(table, "kind", text_node("Table"));
  put(table, "apiVersion", text_node("meta.k8s.io/v1"));
  Node& metadata = put(table, "metadata", model::object_node());
  put(metadata, "resourceVersion", text_node(std::to_string(version)));
  if (!next.empty()) put(metadata, "continue", text_node(next));
  put(table, "columnDefinitions", columns_of(layout));
  Node& rows = put(table, "rows", model::array_node());
  for (const ObjectPtr& object : objects) rows.items.push_back(row_of(layout, *object, now));
  return model::to_json(table);
}

std::string age_text(Duration age) {
  const int64_t s = std::max<int64_t>(0, age.ms / 1000);
  const auto with_rest = [](int64_t whole, char unit, int64_t rest, char smaller) {
    return rest == 0 ? fmt::format("{}{}", whole, unit)
                     : fmt::format("{}{}{}{}", whole, unit, rest, smaller);
  };
  if (s < 120) return fmt::format("{}s", s);
  if (s < 600) return with_rest(s / 60, 'm', s % 60, 's');
  if (s < 3 * 3600) return fmt::format("{}m", s / 60);
  if (s < 8 * 3600) return with_rest(s / 3600, 'h', s / 60 % 60, 'm');
  if (s < 48 * 3600) return fmt::format("{}h", s / 3600);
  if (s < 8 * 86400) return with_rest(s / 86400, 'd', s / 3600 % 24, 'h');
  return fmt::format("{}d", s / 86400);
}

}  // namespace spillway::embedded
