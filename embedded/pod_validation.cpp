#include "embedded/pod_validation.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "embedded/amounts.h"
#include "embedded/document.h"
#include "embedded/validation.h"
#include "model/tree.h"

namespace spillway::embedded {
namespace {

using model::Node;
using Causes = std::vector<Cause>;

void check_amounts(const Node& container, std::string_view part, const std::string& path,
                   Causes& causes) {
  for (const Node& item : model::items_at(container, {"resources", part})) {
    const std::string field = fmt::format("{}.resources.{}[{}]", path, part, item.key);
    const std::string text = scalar_text(&item);
    const auto amount = parse_amount(item.key, text);
    if (!amount) {
      causes.push_back(invalid_value(field, fmt::format("\"{}\"", text),
                                     "quantities must match the regular expression "
                                     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
    } else if (*amount < 0) {
      causes.push_back(
          invalid_value(field, fmt::format("\"{}\"", text), "must be greater than or equal to 0"));
    }
    const Node* limit = model::look(container, {"resources", "limits", item.key});
    const auto most = limit == nullptr ? std::nullopt : parse_amount(item.key, scalar_text(limit));
    if (part == "requests" && amount && most && *amount > *most) {
      causes.push_back(invalid_value(field, fmt::format("\"{}\"", text),
                                     fmt::format("must be less than or equal to {} limit of {}",
                                                 item.key, scalar_text(limit))));
    }
  }
}

void check_container(const Node& container, const std::string& path, std::set<std::string>& names,
                     Causes& causes) {
  const std::string name(model::text_at(container, {"name"}));
  if (name.empty()) {
    causes.push_back(required(path + ".name"));
  } else if (!is_label(name)) {
    causes.push_back(invalid_value(path + ".name", fmt::format("\"{}\"", name),
                                   "a lowercase RFC 1123 label must consist of lower case "
                                   "alphanumeric characters or '-'"));
  } else if (!names.insert(name).second) {
    causes.push_back(
        {"FieldValueDuplicate", fmt::format("Duplicate value: \"{}\"", name), path + ".name"});
  }
  if (model::text_at(container, {"image"}).empty()) causes.push_back(required(path + ".image"));
  check_amounts(container, "limits", path, causes);
  check_amounts(container, "requests", path, causes);
}

void check_spec(const Node& spec, const std::string& path, Causes& causes) {
  const auto& containers = model::items_at(spec, {"containers"});
  if (containers.empty()) causes.push_back(required(path + ".containers"));
  std::set<std::string> names;
  for (const std::string_view list : {"initContainers", "containers"}) {
    size_t i = 0;
    for (const Node& container : model::items_at(spec, {list})) {
      check_container(container, fmt::format("{}.{}[{}]", path, list, i++), names, causes);
    }
  }
  const std::string_view policy = model::text_at(spec, {"restartPolicy"});
  if (!policy.empty() && policy != "Always" && policy != "OnFailure" && policy != "Never") {
    causes.push_back(
        unsupported_value(path + ".restartPolicy", policy, R"("Always", "OnFailure", "Never")"));
  }
}

// What may change is made equal; what then still differs may not.
Node without_mutable(const Node& pod) {
  Node spec = model::object_node();
  if (const Node* found = model::look(pod, {"spec"})) spec = *found;
  for (const std::string_view field :
       {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds",
        "ephemeralContainers", "nodeName"}) {
    model::erase(spec, field);
  }
  for (Node& list : spec.items) {
    if (list.key != "containers" && list.key != "initContainers") continue;
    for (Node& container : list.items) {
      model::erase(container, "image");
    }
  }
  return spec;
}

void check_unchanged(const Node& pod, const Node& before, Causes& causes) {
  const std::string_view was_on = model::text_at(before, {"spec", "nodeName"});
  const bool is_moved = !was_on.empty() && was_on != model::text_at(pod, {"spec", "nodeName"});
  if (!is_moved && model::same(without_mutable(pod), without_mutable(before))) return;
  causes.push_back(forbidden_field(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,"
      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
      "to 1 if it was previously negative)"));
}

}  // namespace

void check_pod(const Node& pod, const Node* before, Causes& causes) {
  const Node* spec = model::look(pod, {"spec"});
  check_spec(spec != nullptr ? *spec : model::object_node(), "spec", causes);
  if (before != nullptr) check_unchanged(pod, *before, causes);
}

void check_pod_template(const Node& document, Causes& causes) {
  const Node* spec = model::look(document, {"spec", "template", "spec"});
  check_spec(spec != nullptr ? *spec : model::object_node(), "spec.template.spec", causes);
}

}  // namespace spillway::embedded
