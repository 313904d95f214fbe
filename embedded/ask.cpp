#include "embedded/ask.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "net/ascii.h"

namespace spillway::embedded {
namespace {

std::string verb_of(const Ask& ask) {
  const std::string& method = ask.request.method;
  const bool is_one = !ask.name.empty();
  if (method == "GET" || method == "HEAD") {
    if (ask.is_set("watch")) return "watch";
    return is_one ? "get" : "list";
  }
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return is_one ? "delete" : "deletecollection";
  return net::lower_case(method);
}

using Segments = std::vector<std::string>;

// After the group and version: [namespaces, <space>,] <plural> [, <name> [, <subresource>]].
bool route_resource(const Registry& registry, std::string_view group, const std::string& version,
                    const Segments& all, size_t at, Ask& ask) {
  const size_t count = all.size() - at;
  const auto found = [&](size_t i) { return registry.find(group, version, all[at + i]); };
  const bool is_scoped = all[at] == "namespaces" && count >= 3 && found(2) != nullptr;
  const size_t first = is_scoped ? at + 2 : at;
  ask.kind = registry.find(group, version, all[first]);
  if (ask.kind == nullptr) return false;
  ask.version = version;
  if (is_scoped) ask.space = all[at + 1];
  if (all.size() > first + 1) ask.name = all[first + 1];
  if (all.size() > first + 2) ask.subresource = all[first + 2];
  if (all.size() > first + 3) return false;
  if (ask.kind->is_namespaced ? !is_scoped && !ask.name.empty() : is_scoped) return false;
  if (!ask.subresource.empty() && !ask.kind->has(ask.subresource)) return false;
  return true;
}

}  // namespace

bool User::is_in(std::string_view group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

std::string_view Ask::parameter(std::string_view wanted) const {
  const std::string* value = target.parameter(wanted);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

bool Ask::is_set(std::string_view wanted) const {
  const std::string_view value = parameter(wanted);
  return value == "true" || value == "1" || value == "True";
}

std::string_view Ask::header(std::string_view wanted) const {
  const std::string* value = net::find_header(request.headers, wanted);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

std::string Ask::content_type() const {
  const std::string_view whole = header("Content-Type");
  std::string_view type = whole.substr(0, whole.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return net::lower_case(std::string(type));
}

bool Ask::wants_table() const {
  return header("Accept").find("as=Table") != std::string_view::npos;
}

std::string Ask::resource() const {
  return subresource.empty() ? kind->plural : kind->plural + "/" + subresource;
}

bool route(const Registry& registry, Ask& ask) {
  const Segments& path = ask.target.segments;
  ask.verb = net::lower_case(ask.request.method);
  if (path.empty()) return true;
  const bool is_core = path[0] == "api";
  const size_t first = is_core ? 2 : 3;
  if ((!is_core && path[0] != "apis") || path.size() <= first) return true;
  const std::string group = is_core ? "" : path[1];
  if (!route_resource(registry, group, path[first - 1], path, first, ask)) return false;
  ask.verb = verb_of(ask);
  return true;
}

bool Filter::matches(const Object& object) const {
  return (space.empty() || object.key.space == space) && labels.matches(object.labels) &&
         fields.matches(object.fields);
}

Answer<Filter> read_filter(const Ask& ask) {
  auto labels = parse_label_selector(ask.parameter("labelSelector"));
  if (!labels) return Refused(std::move(labels.error()));
  auto fields = parse_field_selector(ask.parameter("fieldSelector"));
  if (!fields) return Refused(std::move(fields.error()));
  Filter filter{ask.space, std::move(*labels), std::move(*fields)};
  if (!ask.name.empty()) {
    filter.fields.requirements.push_back({"metadata.name", Requirement::Op::in, {ask.name}});
  }
  // Whether a field is known does not depend on there being an object.
  const ObjectPtr known = make_object(*ask.kind, model::Node{}, 0);
  for (const Requirement& requirement : filter.fields.requirements) {
    if (find_pair(known->fields, requirement.key) != nullptr) continue;
    return bad_request(fmt::format(
        "Unable to find \"{}/{}, Resource={}\" that match label selector \"{}\", field selector "
        "\"{}\": field label not supported: {}",
        ask.kind->group, ask.version, ask.kind->plural, ask.parameter("labelSelector"),
        ask.parameter("fieldSelector"), requirement.key));
  }
  return filter;
}

Answer<int64_t> read_version(const Ask& ask) {
  const std::string_view text = ask.parameter("resourceVersion");
  if (text.empty()) return -1;
  int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || version < 0) {
    const std::string why = fmt::format(
        R"(resourceVersion: Invalid value: "{0}": strconv.ParseUint: parsing "{0}": invalid syntax)",
        text);
    // Only a list is refused in good form: get and watch of the real one stumble over it.
    if (ask.verb == "list") return bad_request("invalid resource version: " + why);
    return Refused(Refusal{.code = 500, .message = why});
  }
  return version;
}

}  // namespace spillway::embedded
