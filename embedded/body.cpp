#include "embedded/body.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "embedded/document.h"
#include "model/json.h"
#include "model/yaml.h"

namespace spillway::embedded {
namespace {

using model::Node;

Done check_type(const Ask& ask, const Node& document) {
  const std::string_view kind = model::text_at(document, {"kind"});
  const std::string_view version = model::text_at(document, {"apiVersion"});
  const std::string wanted =
      ask.kind->group.empty() ? ask.version : ask.kind->group + "/" + ask.version;
  if ((kind.empty() || kind == ask.kind->name) && (version.empty() || version == wanted)) return {};
  return bad_request(fmt::format(
      "the API version in the data ({}, Kind={}) does not match the expected API version ({}, "
      "Kind={})",
      version, kind, wanted, ask.kind->name));
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

Answer<Node> read_document(const Ask& ask) {
  const std::string type = ask.content_type();
  const bool is_yaml = type.ends_with("yaml");
  if (!type.empty() && !is_yaml && !type.ends_with("json")) {
    return unsupported_media("application/json, application/yaml");
  }
  const std::string& body = ask.request.body;
  const bool looks_like_json = body.find_first_not_of(" \t\r\n") != std::string::npos &&
                               body[body.find_first_not_of(" \t\r\n")] == '{';
  auto parsed = is_yaml && !looks_like_json
                    ? model::parse_yaml(body, "body", k_max_body)
                    : model::parse_json(body, "body", k_max_body, model::k_max_foreign_depth);
  if (!parsed) {
    return bad_request(
        fmt::format("couldn't get version/kind; json parse error: {}", parsed.error().message()));
  }
  return std::move(*parsed);
}

Done check_names(const Ask& ask, Node& document) {
  Node& metadata = model::ensure(document, {"metadata"});
  if (ask.kind->is_namespaced) {
    const std::string_view space = model::text_at(metadata, {"namespace"});
    if (!space.empty() && space != ask.space) {
      return bad_request(
          "the namespace of the provided object does not match the namespace sent on the request");
    }
    model::put(metadata, "namespace", model::text_node(ask.space));
  }
  const std::string_view name = model::text_at(metadata, {"name"});
  if (ask.name.empty() || name == ask.name) return {};
  if (!name.empty()) {
    return bad_request(fmt::format(
        "the name of the object ({}) does not match the name on the URL ({})", name, ask.name));
  }
  model::put(metadata, "name", model::text_node(ask.name));
  return {};
}

Done check_texts(const Node& document) {
  for (const std::string_view map : {"labels", "annotations"}) {
    const Node* found = model::look(document, {"metadata", map});
    if (found == nullptr) continue;
    const bool is_good = found->kind == Node::Kind::object &&
                         std::all_of(found->items.begin(), found->items.end(),
                                     [](const Node& it) { return it.kind == Node::Kind::string; });
    if (!is_good) {
      return bad_request(
          fmt::format("json: cannot unmarshal into Go struct field "
                      "ObjectMeta.metadata.{} of type string",
                      map));
    }
  }
  return {};
}

Answer<Node> read_object(const Ask& ask) {
  auto document = read_document(ask);
  if (!document) return document;
  if (document->kind != Node::Kind::object) {
    return bad_request(
        fmt::format("the object provided is unrecognized (must be of type {})", ask.kind->name));
  }
  if (auto done = check_type(ask, *document); !done) return Refused(std::move(done.error()));
  if (auto done = check_texts(*document); !done) return Refused(std::move(done.error()));
  if (auto done = check_names(ask, *document); !done) return Refused(std::move(done.error()));
  return document;
}

Answer<DeleteOptions> read_delete_options(const Ask& ask) {
  DeleteOptions options;
  options.is_dry_run = ask.is_dry_run();
  options.propagation = ask.parameter("propagationPolicy");
  options.grace_seconds = number(ask.parameter("gracePeriodSeconds"));
  if (ask.request.body.empty()) return options;
  const auto body = read_document(ask);
  if (!body) return Refused(body.error());
  if (const Node* grace = model::look(*body, {"gracePeriodSeconds"})) {
    options.grace_seconds = grace->integer;
  }
  options.uid = model::text_at(*body, {"preconditions", "uid"});
  options.version = model::text_at(*body, {"preconditions", "resourceVersion"});
  if (const auto policy = model::text_at(*body, {"propagationPolicy"}); !policy.empty()) {
    options.propagation = policy;
  }
  if (const Node* orphan = model::look(*body, {"orphanDependents"})) {
    options.propagation = orphan->boolean ? "Orphan" : "Background";
  }
  const auto& dry = model::items_at(*body, {"dryRun"});
  options.is_dry_run = options.is_dry_run || !dry.empty();
  return options;
}

}  // namespace spillway::embedded
