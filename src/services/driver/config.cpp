#include "services/driver/config.h"

#include <set>

#include "base/text.h"
#include "fabric/offload_policy_fields.h"
#include "model/codec.h"
#include "model/limits.h"
#include "model/validation.h"
#include "pki/names.h"
#include "services/fabric/hearing.h"
#include "services/host_port.h"
#include "services/log.h"

namespace spillway::driver {

template <class F>
void fields(F& f, ClusterConfig& c) {
  f.required("name", c.name);
  f.required("kubeconfig", c.kubeconfig);
  f.with_default("context", c.context);
  f.with_default("offload", c.offload);
  f.with_default("api_servers", c.api_servers);
  f.with_default("template", c.node_template);
}

template <class F>
void fields(F& f, CallerConfig& c) {
  f.required("certificate", c.certificate);
  f.with_default("viewer", c.viewer);
  f.with_default("consumers", c.consumers);
  f.with_default("providers", c.providers);
}

template <class F>
void fields(F& f, DriverConfig& c) {
  const DriverConfig d;
  f.with_default("listen", c.listen, d.listen);
  f.with_default("names", c.names, d.names);
  f.with_default("operations", c.operations);
  f.with_default("log", c.log, d.log);
  f.with_default("certificate", c.certificate);
  f.with_default("key", c.key);
  f.with_default("authorities", c.authorities);
  f.with_default("warm", c.warm, d.warm);
  f.with_default("drain", c.drain, d.drain);
  f.with_default("caller_rate", c.caller_rate, d.caller_rate);
  f.with_default("stranger_rate", c.stranger_rate, d.stranger_rate);
  f.with_default("clusters", c.clusters);
  f.with_default("callers", c.callers);
}

namespace {

constexpr std::string_view k_scheme = "spillway://";

std::string uri_of(const std::string& certificate) {
  if (certificate.starts_with(k_scheme)) return certificate;
  return pki::member_uri(k_federation, certificate);
}

bool is_own(const CallerConfig& caller) {
  return uri_of(caller.certificate).starts_with(fmt::format("{}{}/", k_scheme, k_federation));
}

Status check_clusters_named(std::string_view path, const std::vector<std::string>& names,
                            const std::set<std::string>& known) {
  for (const std::string& name : names) {
    if (name == k_any_cluster || known.contains(name)) continue;
    return model::refuse(path, fmt::format("there is no cluster {} in this file", in_quotes(name)),
                         "name one of its clusters, or \"*\" for any");
  }
  return {};
}

Status check_caller(const CallerConfig& caller, const std::set<std::string>& clusters) {
  if (caller.certificate.starts_with(k_scheme)) {
    SPILLWAY_TRY(
        model::at("certificate",
                  pki::parse_member_uri(caller.certificate).map([](const pki::MemberName&) {})));
  } else {
    SPILLWAY_TRY(model::at("certificate", pki::check_member_name(caller.certificate)));
  }
  SPILLWAY_TRY(check_clusters_named("consumers", caller.consumers, clusters));
  SPILLWAY_TRY(check_clusters_named("providers", caller.providers, clusters));
  if (caller.consumers.empty() == caller.providers.empty()) return {};
  return model::refuse("consumers", "an order has both: it lists consumers or providers alone",
                       "list both, or none for a viewer");
}

}  // namespace

Status validate(const DriverConfig& config) {
  SPILLWAY_TRY(services::parse_host_port(config.listen, "listen").map([](const auto&) {}));
  if (!config.operations.empty()) {
    SPILLWAY_TRY(
        services::parse_host_port(config.operations, "operations").map([](const auto&) {}));
  }
  if (config.names.empty()) {
    return model::refuse("names", "a certificate needs at least one name");
  }
  if (to_text(services::level_from(config.log)) != config.log) {
    return model::refuse("log", "it is none of debug, info, warning, error");
  }
  if (config.certificate.empty() != config.key.empty()) {
    return model::refuse("key", "a certificate and its key go together", "give both, or none");
  }
  SPILLWAY_TRY(model::check_range("warm", config.warm, seconds(0), model::k_longest_wait));
  SPILLWAY_TRY(model::check_range("drain", config.drain, seconds(0), model::k_longest_wait));
  SPILLWAY_TRY(model::check_range("caller_rate", config.caller_rate, 0, 1'000'000));
  SPILLWAY_TRY(model::check_range("stranger_rate", config.stranger_rate, 0, 1'000'000));
  std::set<std::string> names;
  for (size_t i = 0; i < config.clusters.size(); ++i) {
    const ClusterConfig& cluster = config.clusters[i];
    SPILLWAY_TRY(model::under("clusters", i, model::at("name", check_cluster_id(cluster.name))));
    SPILLWAY_TRY(
        model::under("clusters", i, model::under("offload", fabric::validate(cluster.offload))));
    SPILLWAY_TRY(model::under("clusters", i,
                              model::at("api_servers", agent::check_allowed(cluster.api_servers))));
    if (names.insert(cluster.name).second) continue;
    return model::under("clusters", i, model::refuse("name", "another one has it already"));
  }
  std::set<std::string> callers;
  for (size_t i = 0; i < config.callers.size(); ++i) {
    SPILLWAY_TRY(model::under("callers", i, check_caller(config.callers[i], names)));
    if (callers.insert(uri_of(config.callers[i].certificate)).second) continue;
    return model::under("callers", i, model::refuse("certificate", "it is listed already"));
  }
  return {};
}

Result<DriverConfig> driver_config_from_yaml(std::string_view text, std::string_view source) {
  return model::read_yaml<DriverConfig>(text,
                                        model::Heading{.what = source,
                                                       .version = 1,
                                                       .noun = "driver",
                                                       .pointing = model::Pointing::line,
                                                       .max_bytes = model::k_max_document_bytes});
}

Callers callers_of(const DriverConfig& config, const std::set<std::string>& own) {
  Callers callers;
  for (const CallerConfig& one : config.callers) {
    callers.add(uri_of(one.certificate),
                {one.certificate, one.viewer, one.consumers, one.providers},
                is_own(one) ? Callers::Keys(own) : Callers::Keys());
  }
  return callers;
}

Status check_vouched(const DriverConfig& config, const std::set<std::string>& own,
                     const std::string& authority) {
  if (!own.empty()) return {};
  for (const CallerConfig& one : config.callers) {
    if (!is_own(one)) continue;
    return fail(Code::conflict, "caller " + one.certificate,
                fmt::format("it is known by the driver's own authority, and there is none in {}",
                            authority),
                "make it with `spillway driver init`, or list a member of a federation instead: "
                "spillway://<federation>/<name>");
  }
  if (!config.authorities.empty()) return {};
  return fail(Code::conflict, "authorities",
              fmt::format("none is named, and the driver has none of its own in {}", authority),
              "make one with `spillway driver init`, or name the file of a federation's");
}

std::string first_driver_config(const std::string& listen, const std::vector<std::string>& names) {
  std::string listed;
  for (const std::string& name : names) {
    listed += fmt::format("{}\"{}\"", listed.empty() ? "" : ", ", name);
  }
  return fmt::format(
      "# A driver of Spillway: orders units between the clusters that it has kubeconfigs of.\n"
      "noun: driver\n"
      "version: 1\n"
      "listen: \"{}\"\n"
      "names: [{}]\n"
      "# clusters:\n"
      "#   - name: rome\n"
      "#     kubeconfig: rome.kubeconfig\n"
      "#     offload: {{namespaces: [batch]}}\n"
      "#   - name: milan\n"
      "#     kubeconfig: milan.kubeconfig\n"
      "clusters: []\n"
      "callers:\n"
      "  - certificate: operator\n"
      "    consumers: [\"*\"]\n"
      "    providers: [\"*\"]\n",
      listen, listed);
}

}  // namespace spillway::driver
