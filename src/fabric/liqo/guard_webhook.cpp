#include "fabric/liqo/guard_webhook.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/text.h"
#include "fabric/liqo/guard_rules.h"
#include "fabric/liqo/shape.h"
#include "fabric/liqo/writer.h"

namespace spillway::fabric::liqo {
namespace {

using model::Node;
using model::text_node;

// Kinds by group; what one entry of the configuration is about.
using Kinds = std::map<std::string_view, std::set<std::string_view>>;

struct Entry {
  std::string_view name;
  Kinds kinds = {};
  Node object_selector = {};
  Node space_selector = {};
};

Node selector_of(std::vector<Node> expressions) {
  return object_of({{"matchExpressions", list_of(std::move(expressions))}});
}

Node with_label(std::string_view label, std::string_view how = "Exists") {
  return object_of({{"key", text_node(label)}, {"operator", text_node(how)}});
}

void add_kinds(Kinds& kinds, const GuardPolicy& policy, const Kinds& less = {}) {
  for (const GuardedKind& one : policy.kinds) {
    for (const std::string_view resource : one.resources) {
      const auto there = less.find(one.group);
      if (there != less.end() && there->second.contains(resource)) continue;
      kinds[one.group].insert(resource);
    }
  }
}

// What is asked about everywhere is judged by all policies then: no other entry need name it.
std::vector<Entry> entries() {
  Entry everywhere{.name = "contracts.guard.spillway.dev"};
  Entry labelled{.name = "fence.guard.spillway.dev"};
  Entry guests{.name = "guests.guard.spillway.dev"};
  const std::vector<GuardPolicy> policies = guard_policies();
  for (const GuardPolicy& one : policies) {
    if (one.guarded == Guarded::in_guest_spaces) continue;
    add_kinds(one.webhook_label.empty() ? everywhere.kinds : labelled.kinds, one);
  }
  for (const GuardPolicy& one : policies) {
    if (one.guarded == Guarded::in_guest_spaces) add_kinds(guests.kinds, one, everywhere.kinds);
  }
  labelled.object_selector = selector_of({with_label(k_guard_label)});
  guests.space_selector =
      selector_of({with_label(k_peer_label), with_label(k_tenant_namespace_label, "DoesNotExist")});
  return {std::move(everywhere), std::move(labelled), std::move(guests)};
}

std::vector<Entry> early_entries() {
  return {Entry{.name = "early.guard.spillway.dev",
                .kinds = {{k_shadow_pods.group, {k_shadow_pods.plural}}}}};
}

Node rules_of(const Kinds& kinds) {
  std::vector<Node> made;
  for (const auto& [group, resources] : kinds) {
    made.push_back(object_of({{"apiGroups", list_of({text_node(group)})},
                              {"apiVersions", list_of({text_node("*")})},
                              {"operations", list_of({text_node("CREATE"), text_node("UPDATE")})},
                              {"resources", text_list(resources)},
                              {"scope", text_node("*")}}));
  }
  return list_of(std::move(made));
}

Node entry_node(Entry entry) {
  Node made = object_of({{"name", text_node(entry.name)},
                         {"admissionReviewVersions", list_of({text_node("v1")})},
                         {"failurePolicy", text_node("Fail")},
                         {"matchPolicy", text_node("Equivalent")},
                         {"sideEffects", text_node("None")},
                         {"timeoutSeconds", model::integer_node(k_webhook_seconds)},
                         {"rules", rules_of(entry.kinds)}});
  if (!entry.object_selector.items.empty()) {
    model::put(made, "objectSelector", std::move(entry.object_selector));
  }
  if (!entry.space_selector.items.empty()) {
    model::put(made, "namespaceSelector", std::move(entry.space_selector));
  }
  return made;
}

Node client_of(const WebhookPlace& place) {
  if (!place.url.empty()) return object_of({{"url", text_node(place.url)}});
  return object_of({{"service", object_of({{"name", text_node(place.service)},
                                           {"namespace", text_node(place.space)},
                                           {"path", text_node(k_webhook_path)},
                                           {"port", model::integer_node(place.port)}})}});
}

// Whom an API server trusts by itself may have signed for a URL, and never for a Service.
bool has_authority(const Node& entry) {
  return !model::text_at(entry, {"clientConfig", "caBundle"}).empty() ||
         !model::text_at(entry, {"clientConfig", "url"}).empty();
}

bool is_in_force(const Node& seen, const Node& wanted) {
  return has_all_of(seen, wanted) && has_authority(seen);
}

Node configuration(const Kind& kind, std::vector<Entry> all, const WebhookPlace& place,
                   std::string_view authorities_pem) {
  std::vector<Node> webhooks;
  for (Entry& one : all) {
    Node made = entry_node(std::move(one));
    model::put(made, "clientConfig", client_of(place));
    webhooks.push_back(std::move(made));
  }
  Node made = empty_object(kind);
  model::put(made, "metadata",
             object_of({{"name", text_node(k_webhook_name)},
                        {"labels", object_of({{k_guard_label, text_node(k_guard_edition)}})}}));
  model::put(made, "webhooks", list_of(std::move(webhooks)));
  if (!authorities_pem.empty()) set_authorities(made, authorities_pem);
  return made;
}

void judge_entries(const Node* seen, std::vector<Entry> all, WebhookStanding& standing) {
  static const std::vector<Node> k_none;
  const auto& there = seen ? model::items_at(*seen, {"webhooks"}) : k_none;
  for (Entry& one : all) {
    const Node wanted = entry_node(std::move(one));
    ++standing.entries;
    const bool is_there = std::any_of(there.begin(), there.end(), [&wanted](const Node& entry) {
      return is_in_force(entry, wanted);
    });
    if (is_there) ++standing.in_force;
  }
}

tl::unexpected<Error> no_place(std::string_view text, std::string reason) {
  return fail(Code::invalid, fmt::format("webhook {}", in_quotes(text)), std::move(reason),
              "give https://HOST:PORT, or NAMESPACE/SERVICE:PORT");
}

}  // namespace

Result<WebhookPlace> parse_webhook_place(std::string_view text) {
  constexpr std::string_view k_https = "https://";
  if (text.starts_with(k_https)) {
    const std::string_view host = text.substr(k_https.size());
    if (host.empty() || host.find_first_of("/?#@ ") != std::string_view::npos) {
      return no_place(text, "it has more than a host and a port, or less");
    }
    return WebhookPlace{.url = fmt::format("{}{}", text, k_webhook_path)};
  }
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return no_place(text, "it is neither a URL nor a Service");
  const size_t colon = text.find(':', slash);
  WebhookPlace place{.space = std::string(text.substr(0, slash)),
                     .service = std::string(text.substr(
                         slash + 1, colon == std::string_view::npos ? colon : colon - slash - 1))};
  const auto is_label = [](const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(),
                                        [](char c) { return is_lower_or_digit(c) || c == '-'; });
  };
  if (!is_label(place.space) || !is_label(place.service)) {
    return no_place(text, "it is neither a URL nor a Service");
  }
  if (colon == std::string_view::npos) return place;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  const bool is_port = error == std::errc() && end == port.data() + port.size() && place.port > 0 &&
                       place.port < 65536;
  if (!is_port) return no_place(text, "its port is none");
  return place;
}

std::vector<GuardObject> webhook_objects(const WebhookPlace& place,
                                         std::string_view authorities_pem) {
  const std::string name(k_webhook_name);
  return {{k_webhooks, name, configuration(k_webhooks, entries(), place, authorities_pem)},
          {k_early_webhooks, name,
           configuration(k_early_webhooks, early_entries(), place, authorities_pem)}};
}

bool set_authorities(Node& object, std::string_view authorities_pem) {
  const std::string wanted = to_base64(authorities_pem);
  bool is_changed = false;
  for (Node& member : object.items) {
    if (member.key != "webhooks") continue;
    for (Node& entry : member.items) {
      if (model::text_at(entry, {"clientConfig", "caBundle"}) == wanted) continue;
      model::put(model::ensure(entry, {"clientConfig"}), "caBundle", text_node(wanted));
      is_changed = true;
    }
  }
  return is_changed;
}

WebhookStanding judge_webhooks(const Node* seen, const Node* seen_early) {
  WebhookStanding standing;
  judge_entries(seen, entries(), standing);
  judge_entries(seen_early, early_entries(), standing);
  return standing;
}

}  // namespace spillway::fabric::liqo
