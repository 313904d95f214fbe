#include "fabric/grant_policy.h"

#include "base/text.h"
#include "fabric/cidr.h"
#include "model/limits.h"
#include "model/reserved.h"
#include "model/validation.h"

namespace spillway::fabric {
namespace {

using model::under;

// The guard reads lists of them, with commas between.
Status check_class(const std::string& name) {
  const bool is_name =
      !name.empty() && name.size() <= 253 &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-./") == std::string::npos;
  if (is_name) return {};
  return model::refuse("", "it is no name of a class",
                       "write it as the class here is called: small letters, digits, - and .");
}

Status check_classes(const std::string& field, const std::vector<std::string>& names) {
  SPILLWAY_TRY(model::check_size(field, names.size(), model::k_max_names));
  for (size_t i = 0; i < names.size(); ++i) SPILLWAY_TRY(under(field, i, check_class(names[i])));
  return {};
}

Status check_node_label(const std::string& key) {
  if (model::is_free_label(key)) return {};
  return model::refuse("key", in_quotes(key) + " is not for a grant to say, and buyers refuse it",
                       "say it of the offer, if at all");
}

Status check_network(const std::string& text) {
  if (parse_cidr(text)) return {};
  return model::refuse("", "it is no range of IPv4 addresses", "write it as 203.0.113.0/24");
}

liqo::Texts texts_of(const model::Labels& labels) {
  liqo::Texts made;
  for (const model::Label& one : labels) made.emplace(one.key, one.value);
  return made;
}

std::vector<liqo::OfferedClass> offered(const std::vector<std::string>& names) {
  std::vector<liqo::OfferedClass> made;
  for (const std::string& name : names) made.push_back({name, made.empty()});
  return made;
}

}  // namespace

Status validate(const GrantPolicy& policy) {
  SPILLWAY_TRY(under("node_labels", model::validate(policy.node_labels)));
  for (size_t i = 0; i < policy.node_labels.size(); ++i) {
    SPILLWAY_TRY(under("node_labels", i, check_node_label(policy.node_labels[i].key)));
  }
  SPILLWAY_TRY(under("node_selector", model::validate(policy.node_selector)));
  SPILLWAY_TRY(check_classes("ingress_classes", policy.ingress_classes));
  SPILLWAY_TRY(check_classes("load_balancer_classes", policy.load_balancer_classes));
  const auto& closed = policy.closed_networks;
  SPILLWAY_TRY(model::check_size("closed_networks", closed.size(), model::k_max_names));
  for (size_t i = 0; i < closed.size(); ++i) {
    SPILLWAY_TRY(under("closed_networks", i, check_network(closed[i])));
  }
  return {};
}

void add_to(liqo::Grant& grant, const GrantPolicy& policy) {
  grant.node_labels = texts_of(policy.node_labels);
  grant.node_selector = texts_of(policy.node_selector);
  grant.ingress = offered(policy.ingress_classes);
  grant.load_balancer = offered(policy.load_balancer_classes);
}

void add_to(GuestWish& guests, const GrantPolicy& policy) {
  guests.security = policy.security;
  guests.closed_networks.insert(guests.closed_networks.end(), policy.closed_networks.begin(),
                                policy.closed_networks.end());
}

}  // namespace spillway::fabric
