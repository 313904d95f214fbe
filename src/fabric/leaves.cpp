#include "fabric/leaves.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "fabric/spaces.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

using By = liqo::Reflection::By;
using model::text_at;

constexpr std::string_view k_root_certificate = "kube-root-ca.crt";
constexpr std::string_view k_service_of_slice = "kubernetes.io/service-name";
constexpr std::string_view k_account_token = "kubernetes.io/service-account-token";

std::string name_of_object(const model::Node& object) {
  return std::string(text_at(object, {"metadata", "name"}));
}

// "false", in any case, is as if it were not there.
bool says(const model::Node& object, std::string_view annotation) {
  const model::Node* found = model::look(object, {"metadata", "annotations", annotation});
  if (found == nullptr) return false;
  std::string text = found->text;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text != "false";
}

struct Verdict {
  bool leaves = false;
  std::string why = {};
};

Verdict by_list(const model::Node& object, By by) {
  if (by == By::allow_list) {
    return says(object, liqo::k_allow_annotation)
               ? Verdict{true, fmt::format("it says {}", liqo::k_allow_annotation)}
               : Verdict{false, fmt::format("it does not say {}", liqo::k_allow_annotation)};
  }
  return says(object, liqo::k_skip_annotation)
             ? Verdict{false, fmt::format("it says {}", liqo::k_skip_annotation)}
             : Verdict{true, "its virtual kubelets copy everything"};
}

// Some kinds heed either annotation, whatever the list.
std::optional<Verdict> by_word(const model::Node& object) {
  const bool allows = says(object, liqo::k_allow_annotation);
  const bool skips = says(object, liqo::k_skip_annotation);
  if (allows && skips) return Verdict{false, "it says that it may leave, and that it may not"};
  if (allows) return Verdict{true, fmt::format("it says {}", liqo::k_allow_annotation)};
  if (skips) return Verdict{false, fmt::format("it says {}", liqo::k_skip_annotation)};
  return std::nullopt;
}

struct Leaving {
  const SpaceContents& contents;
  const Destination& to;
  std::vector<LeavesRow> rows = {};

  void add(std::string_view kind, std::string name, const Verdict& verdict,
           std::string there = {}) {
    if (there.empty()) there = name;
    if (!verdict.leaves) there.clear();
    rows.push_back(
        {std::string(kind), std::move(name), verdict.leaves, std::move(there), verdict.why});
  }
};

void add_secrets(Leaving& l) {
  for (const model::Node& secret : l.contents.secrets) {
    const bool is_token = text_at(secret, {"type"}) == k_account_token;
    const Verdict verdict = is_token && !l.to.reflection.tokens
                                ? Verdict{false, "tokens of service accounts stay"}
                                : by_list(secret, l.to.reflection.secrets);
    l.add("Secret", name_of_object(secret), verdict);
  }
}

// It is there in every namespace, under a name that is free at the provider.
std::string root_certificate_there(std::string_view buyer) {
  std::string name = fmt::format("{}.{}", k_root_certificate, buyer.substr(0, 5));
  if (std::isalnum(static_cast<unsigned char>(name.back())) == 0) name += "a";
  return name;
}

void add_config_maps(Leaving& l) {
  for (const model::Node& map : l.contents.config_maps) {
    const std::string name = name_of_object(map);
    if (name != k_root_certificate) {
      l.add("ConfigMap", name, by_list(map, l.to.reflection.config_maps));
      continue;
    }
    l.add("ConfigMap", name, by_word(map).value_or(Verdict{true, "Liqo always copies it"}),
          root_certificate_there(l.to.buyer));
  }
}

bool is_api_server(const Leaving& l, std::string_view name) {
  return l.contents.space == "default" && name == "kubernetes";
}

void add_services(Leaving& l) {
  for (const model::Node& service : l.contents.services) {
    const std::string name = name_of_object(service);
    l.add("Service", name,
          is_api_server(l, name) ? Verdict{false, "it is the API server's"}
                                 : by_list(service, l.to.reflection.services));
  }
}

Verdict of_slice(const Leaving& l, const model::Node& slice) {
  if (is_api_server(l, name_of_object(slice))) return {false, "it is the API server's"};
  if (auto word = by_word(slice)) return *word;
  const auto service = text_at(slice, {"metadata", "labels", k_service_of_slice});
  for (const model::Node& one : l.contents.services) {
    if (service.empty() || text_at(one, {"metadata", "name"}) != service) continue;
    Verdict verdict = by_list(one, l.to.reflection.services);
    verdict.why = fmt::format("as Service {}: {}", service, verdict.why);
    return verdict;
  }
  return by_list(slice, l.to.reflection.services);
}

bool has_token(const model::Node& pod) {
  for (const model::Node& volume : model::items_at(pod, {"spec", "volumes"})) {
    for (const model::Node& source : model::items_at(volume, {"projected", "sources"})) {
      if (model::look(source, {"serviceAccountToken"}) != nullptr) return true;
    }
  }
  return false;
}

Verdict of_pod(const Leaving& l, const model::Node& pod) {
  const std::string node(text_at(pod, {"spec", "nodeName"}));
  if (!node.empty()) {
    return l.to.nodes.contains(node) ? Verdict{true, "it runs on " + node}
                                     : Verdict{false, "it runs on " + node};
  }
  const model::Node* tolerations = model::look(pod, {"spec", "tolerations"});
  const bool may = tolerations != nullptr && tolerates_virtual_nodes(*tolerations);
  return may ? Verdict{true, "it waits for a node, and may run there"}
             : Verdict{false, "it waits for a node, and does not tolerate virtual ones"};
}

void add_pods(Leaving& l) {
  for (const model::Node& pod : l.contents.pods) {
    const std::string name = name_of_object(pod);
    const Verdict verdict = of_pod(l, pod);
    l.add("Pod", name, verdict);
    if (!has_token(pod)) continue;
    // A token is made for the pod, and is an object only there.
    Verdict token = verdict;
    if (verdict.leaves && !l.to.reflection.tokens) {
      token = {false, "tokens of service accounts stay"};
    }
    l.add("Token", name, token, name + "-token");
  }
}

}  // namespace

std::vector<LeavesRow> what_leaves(const SpaceContents& contents, const Destination& to) {
  Leaving l{contents, to};
  add_secrets(l);
  add_config_maps(l);
  add_services(l);
  for (const model::Node& slice : contents.endpoint_slices) {
    l.add("EndpointSlice", name_of_object(slice), of_slice(l, slice));
  }
  for (const model::Node& ingress : contents.ingresses) {
    l.add("Ingress", name_of_object(ingress), by_list(ingress, to.reflection.ingresses));
  }
  add_pods(l);
  constexpr std::string_view k_order[] = {"Secret",        "ConfigMap", "Token", "Service",
                                          "EndpointSlice", "Ingress",   "Pod"};
  const auto rank = [&](const LeavesRow& row) {
    return std::find(std::begin(k_order), std::end(k_order), row.kind);
  };
  std::sort(l.rows.begin(), l.rows.end(), [&](const LeavesRow& a, const LeavesRow& b) {
    return std::pair(rank(a), a.name) < std::pair(rank(b), b.name);
  });
  return std::move(l.rows);
}

}  // namespace spillway::fabric
