#include "embedded/refusal.h"

#include <fmt/format.h>

#include "model/tree.h"

namespace spillway::embedded {
namespace {

using model::integer_node;
using model::Node;
using model::put;
using model::text_node;

Refused refuse(int code, std::string_view reason, std::string message) {
  return Refused(Refusal{code, std::string(reason), std::move(message)});
}

Refused refuse(int code, std::string_view reason, std::string message, const Kind& kind,
               std::string_view name) {
  return Refused(Refusal{code, std::string(reason), std::move(message), std::string(name),
                         kind.group, kind.plural});
}

void put_if(Node& object, std::string_view key, std::string_view text) {
  if (!text.empty()) put(object, key, text_node(text));
}

Node begin_status(std::string_view status) {
  Node document = model::object_node();
  put(document, "kind", text_node("Status"));
  put(document, "apiVersion", text_node("v1"));
  put(document, "metadata", model::object_node());
  put(document, "status", text_node(status));
  return document;
}

Node causes_of(const Refusal& refusal) {
  Node causes = model::array_node();
  for (const Cause& cause : refusal.causes) {
    Node& one = causes.items.emplace_back(model::object_node());
    put_if(one, "reason", cause.reason);
    put_if(one, "message", cause.message);
    put_if(one, "field", cause.field);
  }
  return causes;
}

}  // namespace

Refused not_found(const Kind& kind, std::string_view name) {
  return refuse(404, "NotFound", fmt::format("{} \"{}\" not found", kind.resource(), name), kind,
                name);
}

Refused already_exists(const Kind& kind, std::string_view name) {
  return refuse(409, "AlreadyExists",
                fmt::format("{} \"{}\" already exists", kind.resource(), name), kind, name);
}

Refused conflict(const Kind& kind, std::string_view name, std::string_view why) {
  return refuse(
      409, "Conflict",
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", kind.resource(), name, why),
      kind, name);
}

Refused stale(const Kind& kind, std::string_view name) {
  return conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Refused invalid(const Kind& kind, std::string_view name, std::vector<Cause> causes) {
  std::string said;
  for (const Cause& cause : causes) {
    said += fmt::format("{}{}: {}", said.empty() ? "" : ", ", cause.field, cause.message);
  }
  if (causes.size() > 1) said = "[" + said + "]";
  Refusal refusal{
      422,
      "Invalid",
      fmt::format("{} \"{}\" is invalid: {}",
                  kind.group.empty() ? kind.name : kind.name + "." + kind.group, name, said),
      std::string(name),
      kind.group,
      kind.name};
  refusal.causes = std::move(causes);
  return Refused(std::move(refusal));
}

Refused forbidden(const Kind& kind, std::string_view name, std::string_view why,
                  std::vector<Cause> causes) {
  const std::string thing =
      name.empty() ? kind.resource() : fmt::format("{} \"{}\"", kind.resource(), name);
  Refused refused =
      refuse(403, "Forbidden", fmt::format("{} is forbidden: {}", thing, why), kind, name);
  refused.value().causes = std::move(causes);
  return refused;
}

Refused bad_request(std::string_view message) {
  return refuse(400, "BadRequest", std::string(message));
}

Refused expired(std::string_view message) { return refuse(410, "Expired", std::string(message)); }

Refused not_allowed() {
  return refuse(405, "MethodNotAllowed",
                "the server does not allow this method on the requested resource");
}

Refused unsupported_media(std::string_view accepted) {
  return refuse(415, "UnsupportedMediaType",
                fmt::format("the body of the request was in an unknown format - accepted media "
                            "types include: {}",
                            accepted));
}

Refused too_many_requests(std::string_view message, int retry_after_seconds) {
  Refused refused = refuse(429, "TooManyRequests", std::string(message));
  refused.value().retry_after_seconds = retry_after_seconds;
  return refused;
}

Refused too_large_version(int64_t asked, int64_t present) {
  Refused refused = refuse(
      504, "Timeout", fmt::format("Too large resource version: {}, current: {}", asked, present));
  refused.value().causes = {{"ResourceVersionTooLarge", "Too large resource version", ""}};
  refused.value().retry_after_seconds = 1;
  return refused;
}

Refused internal_error(std::string_view message) {
  return refuse(500, "InternalError", std::string(message));
}

Refused unauthorized() { return refuse(401, "Unauthorized", "Unauthorized"); }

Cause required(std::string field, std::string_view detail) {
  std::string message = "Required value";
  if (!detail.empty()) message += fmt::format(": {}", detail);
  return {"FieldValueRequired", std::move(message), std::move(field)};
}

Cause invalid_value(std::string field, std::string_view value, std::string_view detail) {
  return {"FieldValueInvalid", fmt::format("Invalid value: {}: {}", value, detail),
          std::move(field)};
}

Cause unsupported_value(std::string field, std::string_view value, std::string_view supported) {
  return {"FieldValueNotSupported",
          fmt::format("Unsupported value: \"{}\": supported values: {}", value, supported),
          std::move(field)};
}

Cause forbidden_field(std::string field, std::string_view detail) {
  return {"FieldValueForbidden", fmt::format("Forbidden: {}", detail), std::move(field)};
}

Node status_document(const Refusal& refusal) {
  Node document = begin_status("Failure");
  if (!refusal.continue_from.empty()) {
    put(model::ensure(document, {"metadata"}), "continue", text_node(refusal.continue_from));
  }
  put_if(document, "message", refusal.message);
  put_if(document, "reason", refusal.reason);
  Node details = model::object_node();
  put_if(details, "name", refusal.name);
  put_if(details, "group", refusal.group);
  put_if(details, "kind", refusal.kind);
  put_if(details, "uid", refusal.uid);
  if (!refusal.causes.empty()) put(details, "causes", causes_of(refusal));
  if (refusal.retry_after_seconds > 0) {
    put(details, "retryAfterSeconds", integer_node(refusal.retry_after_seconds));
  }
  if (!details.items.empty()) put(document, "details", std::move(details));
  put(document, "code", integer_node(refusal.code));
  return document;
}

Node success_document(const Kind* kind, std::string_view name, std::string_view uid) {
  Node document = begin_status("Success");
  if (kind == nullptr) return document;
  Node& details = put(document, "details", model::object_node());
  put_if(details, "name", name);
  put_if(details, "group", kind->group);
  put_if(details, "kind", kind->plural);
  put_if(details, "uid", uid);
  return document;
}

}  // namespace spillway::embedded
