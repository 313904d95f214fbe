// spillway autoscaler: the market as node groups, for an unmodified Cluster Autoscaler.
#include "cli/asking.h"
#include "cli/outcome.h"
#include "cli/parse.h"
#include "cli/verbs.h"
#include "services/autoscaler/autoscaler_service.h"

namespace spillway::cli {
namespace {

struct AutoscalerArguments {
  std::string dir;
  std::string currency;
  std::string unready_after = "1m";
  std::string in_cluster;
  std::string identity_of;
  std::string join;
  std::string token_file;
  services::AutoscalerServiceOptions options;
};

// Plaintext is asked for by name, never by leaving something out.
Status check_tls(const services::AutoscalerServiceOptions& options) {
  const bool has_some = !options.tls_certificate.empty() || !options.tls_key.empty() ||
                        !options.client_authorities.empty();
  const bool has_all = !options.tls_certificate.empty() && !options.tls_key.empty() &&
                       !options.client_authorities.empty();
  if (options.plaintext && has_some) {
    return fail(Code::invalid, "--plaintext", "there is no TLS with it",
                "leave it out, or --tls-cert, --tls-key and --client-ca");
  }
  if (options.plaintext || has_all) return {};
  return fail(Code::invalid, "--tls-cert, --tls-key and --client-ca",
              "whoever can call this port spends the cluster's money, so both sides show a "
              "certificate",
              "give all three; or --plaintext, where nobody else can reach the port");
}

// The expander's client checks our name and shows none, so there is TLS in any case.
Status check_expander(services::AutoscalerServiceOptions& options) {
  if (options.expander_certificate.empty()) options.expander_certificate = options.tls_certificate;
  if (options.expander_key.empty()) options.expander_key = options.tls_key;
  const bool has_both = !options.expander_certificate.empty() && !options.expander_key.empty();
  if (options.expander.empty() || has_both) return {};
  return fail(Code::invalid, "--expander-listen",
              "the Cluster Autoscaler calls an expander by TLS only",
              "give --expander-cert and --expander-key");
}

Status check_driver(const services::AutoscalerServiceOptions& options) {
  const bool speaks_of_one =
      !options.driver_dir.empty() || !options.driver.empty() || !options.driver_cluster.empty();
  const bool is_it = options.back_end == "driver";
  if (is_it && options.driver_dir.empty()) {
    return fail(Code::invalid, "--backend driver", "who calls it is not said",
                "give --driver-dir, a folder that `spillway driver caller` has made");
  }
  if (is_it || !speaks_of_one) return {};
  return fail(Code::invalid, "--driver, --driver-dir and --driver-cluster",
              "this back end has no driver", "give --backend driver, too");
}

Status check_currency(AutoscalerArguments& arguments) {
  if (arguments.currency.empty()) return {};
  const auto currency = parse_currency(arguments.currency);
  if (!currency) return tl::unexpected(currency.error());
  arguments.options.currency = *currency;
  return {};
}

// The agent makes nodes of what its own name has bought: with its back end there is one member.
Status check_member(const AutoscalerArguments& arguments) {
  const bool is_shared = !arguments.identity_of.empty();
  if (is_shared && arguments.in_cluster.empty()) {
    return fail(Code::invalid, "--identity-of", "it goes with --in-cluster",
                "name the folder that the agent uses: --dir");
  }
  if (is_shared && !arguments.join.empty()) {
    return fail(Code::invalid, "--identity-of and --join", "that member joins by its agent",
                "leave --join and --token-file out");
  }
  if (is_shared && arguments.identity_of == arguments.in_cluster) {
    return fail(Code::invalid, "--identity-of", "two processes cannot live under one name",
                "give --in-cluster a name of its own");
  }
  const bool is_fabric = arguments.options.back_end == "liqo";
  if (!is_fabric || is_shared || arguments.in_cluster.empty()) return {};
  return fail(Code::invalid, "--backend liqo",
              "the agent makes nodes of what its own name has bought, and this is another's",
              "name it as it is started, --in-cluster NAME: --identity-of NAME");
}

Status take_home(AutoscalerArguments& arguments) {
  services::AutoscalerServiceOptions& options = arguments.options;
  const bool joins = !arguments.join.empty();
  if (joins != !arguments.token_file.empty()) {
    return fail(Code::invalid, "--join and --token-file", "one is of no use without the other",
                "give both, or none");
  }
  if (arguments.in_cluster.empty()) {
    if (joins) {
      return fail(Code::invalid, "--join", "it goes with --in-cluster",
                  "run spillway join first, then the autoscaler");
    }
    options.identity = identity_dir(arguments.dir);
    if (options.state.empty()) options.state = options.identity + "/autoscaler";
    return {};
  }
  if (!arguments.dir.empty() || !options.state.empty()) {
    return fail(Code::invalid, "--in-cluster", "identity and state are in the cluster then",
                "leave --dir and --state out");
  }
  const std::string& name = arguments.in_cluster;
  const std::string& keeper = arguments.identity_of;
  options.in_cluster = {(keeper.empty() ? name : keeper) + "-identity",
                        name + "-state",
                        name,
                        arguments.join,
                        arguments.token_file,
                        keeper};
  return joins ? net::parse_url(arguments.join).map([](const net::Url&) {}) : Status();
}

int run_service(AutoscalerArguments& arguments) {
  services::AutoscalerServiceOptions& options = arguments.options;
  Status status = check_member(arguments);
  if (status) status = take_home(arguments);
  if (status) status = check_tls(options);
  if (status) status = check_expander(options);
  if (status) status = check_driver(options);
  if (status) status = check_currency(arguments);
  if (status) {
    const auto after = parse_duration(arguments.unready_after);
    if (after) options.unready_after = *after;
    if (!after) status = tl::unexpected(of_option("--unready-after", after.error()));
  }
  if (status) status = services::run_autoscaler(options);
  return status ? k_ok : failed("autoscaler", status.error());
}

void add_connections(Word verb, AutoscalerArguments& arguments) {
  services::AutoscalerServiceOptions& options = arguments.options;
  add_dir(verb, arguments.dir);
  verb.option("--in-cluster", arguments.in_cluster,
              "Identity and state are the Secrets NAME-identity and NAME-state of the cluster, in "
              "the autoscaler's own namespace; of several one is active, by the Lease NAME")
      .type_name("NAME");
  verb.option("--identity-of", arguments.identity_of,
              "With --in-cluster: buy as the agent that lives under this name there, with its "
              "identity and papers; --backend liqo needs that")
      .type_name("NAME");
  verb.option("--join", arguments.join,
              "With --in-cluster: the broker to join when there is no identity yet")
      .type_name("URL");
  verb.option("--token-file", arguments.token_file, "With --join: a file with the token")
      .type_name("FILE");
  verb.option("--broker", options.broker, "Instead of the one that was joined").type_name("URL");
  verb.option("--kubeconfig", options.kubeconfig,
              "The cluster that gets the nodes (default: the one that this runs in)")
      .type_name("FILE");
  verb.option("--context", options.context, "Of the kubeconfig (default: its current one)")
      .type_name("NAME");
  verb.option("--listen", options.listen, "Where the Cluster Autoscaler calls")
      .type_name("ADDRESS:PORT")
      .show_default();
  verb.option("--tls-cert", options.tls_certificate,
              "What the server shows, and what leads to its authority; read again when it changes")
      .type_name("FILE");
  verb.option("--tls-key", options.tls_key, "The key to it").type_name("FILE");
  verb.option("--client-ca", options.client_authorities,
              "The authorities of certificates that the Cluster Autoscaler may show")
      .type_name("FILE");
  verb.flag("--plaintext", options.plaintext, "No TLS: whoever reaches the port may buy");
  verb.option("--expander-listen", options.expander,
              "Where its gRPC expander asks which group to take (default: nowhere)")
      .type_name("ADDRESS:PORT");
  verb.option("--expander-cert", options.expander_certificate,
              "What that port shows (default: as --tls-cert)")
      .type_name("FILE");
  verb.option("--expander-key", options.expander_key, "The key to it").type_name("FILE");
}

}  // namespace

void add_autoscaler(Word verb) {
  auto arguments = std::make_shared<AutoscalerArguments>();
  services::AutoscalerServiceOptions& options = arguments->options;
  add_connections(verb, *arguments);
  verb.option("--backend", options.back_end, "How units become nodes")
      .one_of({"liqo", "driver", "kwok", "embedded"})
      .show_default();
  verb.option("--driver-dir", options.driver_dir,
              "With --backend driver: the caller's folder that it was given for this cluster")
      .type_name("DIR");
  verb.option("--driver", options.driver, "Another address of the driver than that folder has")
      .type_name("URL");
  verb.option("--driver-cluster", options.driver_cluster,
              "What the driver calls this cluster (default: as the federation does)")
      .type_name("NAME");
  verb.option("--state", options.state, "Where it keeps what it holds (autoscaler in --dir)")
      .type_name("DIR");
  verb.option("--policy", options.policy,
              "What offers are worth, which are out of the question, and caps; read again when it "
              "changes (default: the cheapest, no caps)")
      .type_name("FILE");
  verb.option("--currency", arguments->currency,
              "Offers in another one are not shown (default: the policy's, or EUR)")
      .type_name("CODE");
  verb.option("--best", options.best_of_class, "Offers of a class that are shown as node groups")
      .in_range(1, 100)
      .show_default();
  verb.option("--probe", options.probe, "Addresses of providers to which round trips are measured")
      .one_of({"none", "public", "any"})
      .show_default();
  verb.option("--unready-after", arguments->unready_after,
              "A unit is dead when its node has not been Ready for so long")
      .type_name("TIME")
      .show_default();
  verb.option("--operations", options.operations,
              "A port without TLS for probes and Prometheus: /healthz, /readyz, /metrics")
      .type_name("ADDRESS:PORT");
  verb.examples(
      "  spillway autoscaler --dir ./home --kubeconfig ~/.kube/config \\\n"
      "      --tls-cert server.pem --tls-key server.key --client-ca ca.pem\n"
      "  spillway autoscaler --dir ./home --kubeconfig edge.kubeconfig --backend embedded "
      "--plaintext\n"
      "\n"
      "The Cluster Autoscaler: --cloud-provider=externalgrpc --cloud-config=FILE, with this in "
      "it:\n"
      "\n"
      "  address: spillway-autoscaler.kube-system.svc:8086\n"
      "  key: /etc/spillway/client.key\n"
      "  cert: /etc/spillway/client.pem\n"
      "  cacert: /etc/spillway/ca.pem\n"
      "  grpc_timeout: 10s\n");
  verb.run([arguments] { return run_service(*arguments); });
}

}  // namespace spillway::cli
