#include "embedded/validation.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "embedded/document.h"
#include "embedded/pod_validation.h"
#include "embedded/selector.h"
#include "model/tree.h"

namespace spillway::embedded {
namespace {

using model::Node;
using Causes = std::vector<Cause>;

constexpr std::string_view k_subdomain_rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view k_label_rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_word(std::string_view text) {
  const auto is_good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && is_good(text.front()) && is_good(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_good(c) || c == '-'; });
}

void check_name(const Kind& kind, const Node& document, Causes& causes) {
  const std::string_view name = name_of(document);
  if (name.empty()) {
    causes.push_back(required("metadata.name", "name or generateName is required"));
  } else if (kind.group == "rbac.authorization.k8s.io") {
    if (name.find_first_of("/%") == std::string_view::npos && name != "." && name != "..") return;
    causes.push_back(invalid_value("metadata.name", quoted(name), "may not contain '/' or '%'"));
  } else if (kind.name == "Namespace") {
    if (!is_label(name)) {
      causes.push_back(invalid_value("metadata.name", quoted(name), k_label_rule));
    }
  } else if (!is_subdomain(name)) {
    causes.push_back(invalid_value("metadata.name", quoted(name), k_subdomain_rule));
  }
}

bool is_label_value(std::string_view value) {
  if (value.empty()) return true;
  return value.size() <= 63 && is_alphanumeric(value.front()) && is_alphanumeric(value.back()) &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

void check_labels(const Node& document, Causes& causes) {
  for (const Node& label : model::items_at(document, {"metadata", "labels"})) {
    if (is_label_value(label.text)) continue;
    causes.push_back(invalid_value(
        "metadata.labels", quoted(label.text),
        label.text.size() > 63
            ? "must be no more than 63 characters"
            : "a valid label must be an empty string or consist of alphanumeric characters, '-', "
              "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  "
              "or 'my_value',  or '12345', regex used for validation is "
              "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"));
  }
}

void check_owners(const Node& document, Causes& causes) {
  size_t i = 0;
  for (const Node& owner : model::items_at(document, {"metadata", "ownerReferences"})) {
    for (const std::string_view field : {"apiVersion", "kind", "name", "uid"}) {
      if (!model::text_at(owner, {field}).empty()) continue;
      causes.push_back(invalid_value(fmt::format("metadata.ownerReferences[{}].{}", i, field),
                                     "\"\"", "must not be empty"));
    }
    ++i;
  }
}

void check_new_finalizers(const Node& document, const Node* before, Causes& causes) {
  if (before == nullptr || !is_being_deleted(*before)) return;
  for (const Node& item : model::items_at(document, {"metadata", "finalizers"})) {
    if (has_finalizer(*before, item.text)) continue;
    causes.push_back(forbidden_field(
        "metadata.finalizers",
        fmt::format("no new finalizers can be added if the object is being deleted, found new "
                    "finalizers []string{{\"{}\"}}",
                    item.text)));
  }
}

void check_replicas(const Node& document, const Node* before, Causes& causes) {
  const int64_t replicas = model::integer_at(document, {"spec", "replicas"});
  if (replicas < 0 || replicas > INT32_MAX) {
    causes.push_back(invalid_value("spec.replicas", std::to_string(replicas),
                                   "must be greater than or equal to 0"));
  }
  const auto selector = read_selector(model::look(document, {"spec", "selector"}));
  if (!selector) return causes.push_back(required("spec.selector"));
  const Node* labels = model::look(document, {"spec", "template", "metadata", "labels"});
  if (!selector->matches(read_labels(labels))) {
    causes.push_back(invalid_value("spec.template.metadata.labels",
                                   labels == nullptr ? "null" : model::to_json(*labels),
                                   "`selector` does not match template `labels`"));
  }
  const Node* wanted = model::look(document, {"spec", "selector"});
  const Node* was = before == nullptr ? nullptr : model::look(*before, {"spec", "selector"});
  if (was != nullptr && !model::same(*wanted, *was)) {
    causes.push_back(invalid_value("spec.selector", model::to_json(*wanted), "field is immutable"));
  }
  check_pod_template(document, causes);
}

void check_lease(const Node& document, Causes& causes) {
  const Node* seconds = model::look(document, {"spec", "leaseDurationSeconds"});
  if (seconds != nullptr && seconds->integer <= 0) {
    causes.push_back(
        invalid_value("spec.leaseDurationSeconds", scalar_text(seconds), "must be greater than 0"));
  }
}

void check_definition(const Node& document, Causes& causes) {
  for (const std::string_view field : {"group", "scope"}) {
    if (model::text_at(document, {"spec", field}).empty()) {
      causes.push_back(required(fmt::format("spec.{}", field)));
    }
  }
  for (const std::string_view field : {"plural", "kind"}) {
    if (model::text_at(document, {"spec", "names", field}).empty()) {
      causes.push_back(required(fmt::format("spec.names.{}", field)));
    }
  }
  const std::string name =
      fmt::format("{}.{}", model::text_at(document, {"spec", "names", "plural"}),
                  model::text_at(document, {"spec", "group"}));
  if (name_of(document) != name) {
    causes.push_back(invalid_value("metadata.name", quoted(name_of(document)),
                                   "must be spec.names.plural+\".\"+spec.group"));
  }
  const auto& versions = model::items_at(document, {"spec", "versions"});
  const auto stored = std::count_if(versions.begin(), versions.end(), [](const Node& version) {
    return model::boolean_at(version, {"storage"});
  });
  if (stored != 1) {
    causes.push_back(invalid_value("spec.versions", "[]",
                                   "must have exactly one version marked as storage version"));
  }
}

}  // namespace

bool is_label(std::string_view text) { return text.size() <= 63 && is_word(text); }

bool is_subdomain(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const size_t dot = text.find('.');
    if (!is_word(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

Causes validate(const Kind& kind, const Node& document, const Node* before) {
  Causes causes;
  check_name(kind, document, causes);
  check_labels(document, causes);
  check_owners(document, causes);
  check_new_finalizers(document, before, causes);
  if (kind.is_custom) return causes;
  if (kind.name == "Pod") check_pod(document, before, causes);
  if (kind.name == "Deployment" || kind.name == "ReplicaSet") {
    check_replicas(document, before, causes);
  }
  if (kind.name == "Lease") check_lease(document, causes);
  if (kind.name == "CustomResourceDefinition") check_definition(document, causes);
  return causes;
}

}  // namespace spillway::embedded
