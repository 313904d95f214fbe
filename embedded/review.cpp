// SelfSubjectAccessReview: a caller asks what it may do ("kubectl auth can-i"). Nothing is kept.
#include "embedded/api.h"
#include "embedded/body.h"
#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;

Ask resource_ask(const User& user, const Node& attributes, Kind& kind) {
  kind.group = model::text_at(attributes, {"group"});
  kind.plural = model::text_at(attributes, {"resource"});
  Ask ask;
  ask.user = user;
  ask.kind = &kind;
  ask.verb = model::text_at(attributes, {"verb"});
  ask.space = model::text_at(attributes, {"namespace"});
  ask.name = model::text_at(attributes, {"name"});
  ask.subresource = model::text_at(attributes, {"subresource"});
  return ask;
}

Ask path_ask(const User& user, const Node& attributes) {
  Ask ask;
  ask.user = user;
  ask.verb = model::text_at(attributes, {"verb"});
  ask.request.target = model::text_at(attributes, {"path"});
  (void)net::parse_target(ask.request.target, ask.target);
  return ask;
}

}  // namespace

Answer<Reply> Api::review(const Ask& ask) {
  auto document = read_object(ask);
  if (!document) return Refused(std::move(document.error()));
  Kind kind{.group = "", .version = "", .plural = "", .name = ""};
  const Node* resource = model::look(*document, {"spec", "resourceAttributes"});
  const Node* path = model::look(*document, {"spec", "nonResourceAttributes"});
  if ((resource == nullptr) == (path == nullptr)) {
    return invalid(*ask.kind, "",
                   {invalid_value("spec", "{}",
                                  "exactly one of nonResourceAttributes or resourceAttributes must "
                                  "be specified")});
  }
  const Ask asked =
      resource != nullptr ? resource_ask(ask.user, *resource, kind) : path_ask(ask.user, *path);
  const bool is_allowed = access_.check(asked).has_value();
  model::put(model::ensure(*document, {"status"}), "allowed", model::boolean_node(is_allowed));
  model::put(*document, "kind", model::text_node(ask.kind->name));
  model::put(*document, "apiVersion", model::text_node(ask.kind->api_version()));
  return Reply{201, model::to_json(*document) + "\n"};
}

}  // namespace spillway::embedded
