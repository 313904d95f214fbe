#include "embedded/access.h"

#include <algorithm>

#include <fmt/format.h>

#include "embedded/document.h"

namespace spillway::embedded {
namespace {

using model::Node;
using Texts = std::vector<std::string>;

constexpr std::string_view k_rbac = "rbac.authorization.k8s.io";

Texts texts_at(const Node& root, std::string_view key) {
  Texts texts;
  for (const Node& item : model::items_at(root, {key})) texts.push_back(item.text);
  return texts;
}

bool has(const Texts& texts, std::string_view wanted) {
  return std::find(texts.begin(), texts.end(), wanted) != texts.end();
}

bool has_or_all(const Texts& texts, std::string_view wanted) {
  return has(texts, wanted) || has(texts, "*");
}

std::string subject_of(const Node& node, const std::string& space) {
  const std::string_view kind = model::text_at(node, {"kind"});
  const std::string_view name = model::text_at(node, {"name"});
  if (kind != "ServiceAccount") return fmt::format("{} {}", kind, name);
  const std::string_view its_space = model::text_at(node, {"namespace"});
  return fmt::format("User system:serviceaccount:{}:{}", its_space.empty() ? space : its_space,
                     name);
}

// What everybody who is known may read (system:discovery, system:public-info-viewer).
bool is_public(const Ask& ask) {
  if (ask.kind != nullptr && ask.kind->is_question) return ask.verb == "create";
  if (ask.kind != nullptr || ask.verb != "get" || ask.target.segments.empty()) return false;
  const std::string& first = ask.target.segments.front();
  return has({"api", "apis", "openapi", "version", "healthz", "livez", "readyz"}, first);
}

// A namespace lies in itself, so that a Role there may speak of it.
const std::string& space_of(const Ask& ask) {
  const bool is_space = ask.kind != nullptr && ask.kind->name == "Namespace" && !ask.name.empty();
  return is_space ? ask.name : ask.space;
}

Refused refuse(const Ask& ask) {
  if (ask.kind == nullptr) {
    const std::string path = ask.request.target.substr(0, ask.request.target.find('?'));
    return Refused(Refusal{403, "Forbidden",
                           fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"",
                                       ask.user.name, ask.verb, path)});
  }
  const std::string where = ask.space.empty() ? "at the cluster scope"
                                              : fmt::format("in the namespace \"{}\"", ask.space);
  return forbidden(*ask.kind, ask.name,
                   fmt::format("User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}",
                               ask.user.name, ask.verb, ask.resource(), ask.kind->group, where));
}

}  // namespace

Access::Access(const Registry& registry, Table& table) : registry_(registry), table_(table) {
  table_.listen([this](const Change& change) {
    if (change.object->kind->group == k_rbac) is_compiled_ = false;
  });
}

void Access::add_token(const std::string& token, User user, Instant until) {
  user.groups.emplace_back("system:authenticated");
  tokens_[token] = {std::move(user), until};
}

void Access::add_key(const std::string& key, User user) {
  user.groups.emplace_back("system:authenticated");
  keys_[key] = std::move(user);
}

void Access::add_certificate(const std::string& serial, User user) {
  user.groups.emplace_back("system:authenticated");
  certificates_[serial] = std::move(user);
}

std::optional<User> Access::who(const net::Request& request, const net::Peer& peer,
                                Instant now) const {
  if (peer.certificate != nullptr && now <= peer.certificate->not_after &&
      now >= peer.certificate->not_before) {
    const auto certificate = certificates_.find(peer.certificate->serial);
    if (certificate != certificates_.end()) return certificate->second;
    const auto found = keys_.find(peer.certificate->key);
    if (found != keys_.end()) return found->second;
  }
  constexpr std::string_view k_bearer = "Bearer ";
  const std::string* header = net::find_header(request.headers, "Authorization");
  if (header != nullptr && header->starts_with(k_bearer)) {
    const auto found = tokens_.find(header->substr(k_bearer.size()));
    if (found == tokens_.end() || now > found->second.until) return std::nullopt;
    return found->second.user;
  }
  return stranger_;
}

Done Access::check(const Ask& ask) const {
  if (ask.user.is_in("system:masters") || is_public(ask)) return {};
  if (!is_compiled_) compile();
  for (const Grant& grant : grants_) {
    if (holds(grant, ask)) return {};
  }
  return refuse(ask);
}

bool Access::holds(const Grant& grant, const Ask& ask) const {
  if (!grant.space.empty() && grant.space != space_of(ask)) return false;
  const bool is_meant =
      grant.subject == "User " + ask.user.name ||
      std::any_of(ask.user.groups.begin(), ask.user.groups.end(),
                  [&](const std::string& group) { return grant.subject == "Group " + group; });
  return is_meant && std::any_of(grant.rules.begin(), grant.rules.end(),
                                 [&](const Rule& rule) { return allows(rule, ask); });
}

bool Access::allows(const Rule& rule, const Ask& ask) {
  if (!has_or_all(rule.verbs, ask.verb)) return false;
  if (ask.kind == nullptr) {
    const std::string path = ask.request.target.substr(0, ask.request.target.find('?'));
    return std::any_of(rule.paths.begin(), rule.paths.end(), [&](const std::string& allowed) {
      return allowed == path ||
             (allowed.ends_with('*') && path.starts_with(allowed.substr(0, allowed.size() - 1)));
    });
  }
  const bool fits = has_or_all(rule.groups, ask.kind->group) &&
                    (has_or_all(rule.resources, ask.resource()) ||
                     (!ask.subresource.empty() && has(rule.resources, "*/" + ask.subresource)));
  return fits && (rule.names.empty() || has(rule.names, ask.name));
}

void Access::compile() const {
  grants_.clear();
  compile_bindings(registry_.built_in("clusterrolebindings", k_rbac));
  compile_bindings(registry_.built_in("rolebindings", k_rbac));
  is_compiled_ = true;
}

void Access::compile_bindings(const Kind& bindings) const {
  for (const auto& [key, object] : table_.shelf(bindings)) {
    const Node binding = object->document();
    const Node* reference = model::look(binding, {"roleRef"});
    if (reference == nullptr) continue;
    const std::vector<Rule> rules = rules_of(*reference, key.space);
    for (const Node& subject : model::items_at(binding, {"subjects"})) {
      grants_.push_back({subject_of(subject, key.space), key.space, rules});
    }
  }
}

std::vector<Access::Rule> Access::rules_of(const Node& reference, const std::string& space) const {
  const bool is_wide = model::text_at(reference, {"kind"}) == "ClusterRole";
  const Kind& kind = registry_.built_in(is_wide ? "clusterroles" : "roles", k_rbac);
  const ObjectPtr role =
      table_.find(kind, {is_wide ? "" : space, std::string(model::text_at(reference, {"name"}))});
  std::vector<Rule> rules;
  if (role == nullptr) return rules;
  const Node document = role->document();
  for (const Node& rule : model::items_at(document, {"rules"})) {
    rules.push_back({texts_at(rule, "verbs"), texts_at(rule, "apiGroups"),
                     texts_at(rule, "resources"), texts_at(rule, "resourceNames"),
                     texts_at(rule, "nonResourceURLs")});
  }
  return rules;
}

User service_account(std::string_view space, std::string_view name) {
  return {fmt::format("system:serviceaccount:{}:{}", space, name),
          {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", space)}};
}

}  // namespace spillway::embedded
