// spillway agent: sells what the supply file says or what is free in the live cluster, keeps what
// was bought, follows the broker.
#include <vector>

#include "cli/asking.h"
#include "cli/files.h"
#include "cli/outcome.h"
#include "cli/parse.h"
#include "cli/verbs.h"
#include "model/limits.h"
#include "services/agent/agent_policy.h"
#include "services/agent/agent_service.h"
#include "services/fabric/hearing.h"

namespace spillway::cli {
namespace {

struct AgentArguments {
  std::string dir;
  std::string supply;
  std::string policy;
  std::string kubeconfig;
  std::string context;
  std::string state;
  std::string operations;
  std::string join;
  std::string token_file;
  std::string in_cluster;
  std::string fabric;
  std::string network;
  std::string handshake;
  std::string handshake_server;
  std::string handshake_life;
  std::string gateway_service;
  bool no_gateway = false;
  bool in_band = false;
  std::vector<std::string> api_servers;
  std::string node_template;
  std::string warm;
  std::string doubt;
  std::string skew;
  std::string driver_listen;
  std::string driver_certificate;
  std::string driver_key;
  std::string driver_authorities;
  std::string webhook_listen;
  std::string webhook_certificate;
  std::string webhook_key;
  std::vector<std::string> webhook_names;
  bool no_renew = false;
  bool forget_state = false;
};

// A policy may speak of the fabric alone.
Status check_policy(const AgentArguments& arguments) {
  if (arguments.policy.empty() || arguments.supply.empty()) return {};
  const auto text = read_file(arguments.policy);
  if (!text) return tl::unexpected(text.error());
  const auto policy = agent::agent_policy_from_yaml(*text, arguments.policy);
  if (!policy) return tl::unexpected(policy.error());
  if (!policy->offering) return {};
  return fail(Code::invalid, "--policy and --supply",
              "what is sold comes from the live cluster or from a file",
              "give one of them, or a policy that has nothing but offload and grant");
}

bool speaks_of_handshake(const AgentArguments& arguments) {
  return !arguments.handshake.empty() || !arguments.handshake_server.empty() ||
         !arguments.handshake_life.empty();
}

Status take_handshake(const AgentArguments& arguments, agent::HandshakeOptions& into) {
  into.asks = arguments.handshake == "kubeconfig";
  into.server = arguments.handshake_server;
  if (!into.server.empty()) {
    const Status is_url = agent::check_api_server(into.server, {});
    if (!is_url) return tl::unexpected(of_option("--fabric-handshake-server", is_url.error()));
  }
  if (arguments.handshake_life.empty()) return {};
  if (into.server.empty()) {
    return fail(Code::invalid, "--fabric-handshake-life", "nobody gets a kubeconfig",
                "give --fabric-handshake-server, too");
  }
  const auto life = parse_duration(arguments.handshake_life);
  if (!life) return tl::unexpected(of_option("--fabric-handshake-life", life.error()));
  if (*life < into.k_shortest_life || *life > into.k_longest_life) {
    return fail(Code::invalid, "--fabric-handshake-life",
                fmt::format("{} is not between {} and {}", to_text(*life),
                            to_text(into.k_shortest_life), to_text(into.k_longest_life)),
                "Kubernetes gives no token for less than 10m");
  }
  into.life = *life;
  return {};
}

Status check_supply(const AgentArguments& arguments) {
  SPILLWAY_TRY(check_policy(arguments));
  const bool is_live = !arguments.policy.empty();
  const bool names_cluster = !arguments.kubeconfig.empty() || !arguments.context.empty();
  const bool is_used = is_live || !arguments.fabric.empty();
  if (names_cluster && !is_used && arguments.in_cluster.empty()) {
    return fail(Code::invalid, "--kubeconfig", "nothing is sold from that cluster",
                "say by which policy: --policy FILE");
  }
  SPILLWAY_TRY(agent::check_allowed(arguments.api_servers));
  const bool speaks_of_fabric = !arguments.api_servers.empty() ||
                                !arguments.node_template.empty() || !arguments.warm.empty() ||
                                !arguments.doubt.empty() || !arguments.skew.empty() ||
                                !arguments.network.empty() || speaks_of_handshake(arguments);
  if (speaks_of_fabric && arguments.fabric.empty()) {
    return fail(Code::invalid,
                "--fabric-api-server, --fabric-template, --fabric-warm, --fabric-doubt, "
                "--fabric-skew, --fabric-network and --fabric-handshake",
                "contracts are not made real", "give --fabric liqo, too");
  }
  const bool speaks_of_network =
      arguments.in_band || arguments.no_gateway || !arguments.gateway_service.empty();
  if (speaks_of_network && arguments.network.empty()) {
    return fail(Code::invalid, "--fabric-gateway-service, --fabric-no-gateway and --fabric-in-band",
                "networks are not connected", "give --fabric-network, too");
  }
  return {};
}

Status check_driver(const AgentArguments& arguments) {
  const bool has_files = !arguments.driver_certificate.empty() && !arguments.driver_key.empty() &&
                         !arguments.driver_authorities.empty();
  if (arguments.driver_listen.empty()) {
    const bool has_any = !arguments.driver_certificate.empty() || !arguments.driver_key.empty() ||
                         !arguments.driver_authorities.empty();
    if (!has_any) return {};
    return fail(Code::invalid, "--driver-cert, --driver-key and --driver-ca",
                "there is no port to show them on", "give --driver-listen, too");
  }
  if (arguments.fabric.empty()) {
    return fail(Code::invalid, "--driver-listen", "contracts are not made real: there are no units",
                "give --fabric liqo, too");
  }
  if (has_files) return {};
  return fail(Code::invalid, "--driver-listen",
              "whoever reaches it can end units, so both sides show a certificate",
              "give --driver-cert, --driver-key and --driver-ca");
}

Status check_webhook(const AgentArguments& arguments) {
  const bool has_files = !arguments.webhook_certificate.empty() && !arguments.webhook_key.empty();
  const bool has_any = !arguments.webhook_certificate.empty() || !arguments.webhook_key.empty();
  if (arguments.webhook_listen.empty()) {
    if (!has_any && arguments.webhook_names.empty()) return {};
    return fail(Code::invalid, "--fabric-webhook-cert, --fabric-webhook-key, --fabric-webhook-name",
                "there is no port to show them on", "give --fabric-webhook-listen, too");
  }
  if (arguments.fabric.empty()) {
    return fail(Code::invalid, "--fabric-webhook-listen",
                "contracts are not made real: there are no guests to guard against",
                "give --fabric liqo, too");
  }
  if (has_any != has_files) {
    return fail(Code::invalid, "--fabric-webhook-cert and --fabric-webhook-key",
                "one is of no use without the other", "give both, or none");
  }
  if (has_any && !arguments.webhook_names.empty()) {
    return fail(Code::invalid, "--fabric-webhook-name", "the certificate is given, with its names",
                "leave it out, or the certificate");
  }
  return {};
}

// Without files an authority is made: it is where the identity is.
agent::GuardPortOptions webhook_of(const AgentArguments& arguments) {
  agent::GuardPortOptions webhook{arguments.webhook_listen, arguments.webhook_certificate,
                                  arguments.webhook_key, arguments.webhook_names};
  if (webhook.names.empty()) webhook.names = {"localhost", "127.0.0.1"};
  if (!arguments.in_cluster.empty()) webhook.secret = arguments.in_cluster + "-webhook";
  webhook.folder = identity_dir(arguments.dir) + "/webhook";
  return webhook;
}

Status check_home(const AgentArguments& arguments) {
  const bool joins = !arguments.join.empty();
  if (joins != !arguments.token_file.empty()) {
    return fail(Code::invalid, "--join and --token-file", "one is of no use without the other",
                "give both, or none");
  }
  if (arguments.in_cluster.empty()) {
    if (!joins) return {};
    return fail(Code::invalid, "--join", "it is for agents with --in-cluster",
                "run spillway join first, then the agent");
  }
  if (!arguments.dir.empty() || !arguments.state.empty()) {
    return fail(Code::invalid, "--in-cluster", "identity and state are in the cluster then",
                "leave --dir and --state out");
  }
  if (arguments.forget_state) {
    return fail(Code::invalid, "--forget-state",
                "an agent that is started again would forget again",
                fmt::format("remove the data of the Secret {}-state", arguments.in_cluster));
  }
  return joins ? net::parse_url(arguments.join).map([](const net::Url&) {}) : Status();
}

// Of the fabric; an empty text leaves it as it is.
Status take_duration(const std::string& option, const std::string& text, Duration most,
                     Duration& into) {
  if (text.empty()) return {};
  const auto read = parse_duration(text);
  if (!read) return tl::unexpected(of_option(option, read.error()));
  if (read->ms < 0 || *read > most) {
    return fail(Code::invalid, option, fmt::format("{} is not from 0s to {}", text, to_text(most)),
                "give a time in between");
  }
  into = *read;
  return {};
}

agent::NetworkOptions network_of(const AgentArguments& arguments) {
  using Mode = agent::NetworkOptions::Mode;
  agent::NetworkOptions network;
  if (arguments.network == "on") network.mode = Mode::on;
  if (arguments.network == "required") network.mode = Mode::required;
  network.can_serve = !arguments.no_gateway;
  network.is_in_band = arguments.in_band;
  if (!arguments.gateway_service.empty()) network.serving.service_type = arguments.gateway_service;
  return network;
}

int run(const AgentArguments& arguments) {
  services::AgentServiceOptions options;
  if (!arguments.in_cluster.empty()) {
    const std::string& name = arguments.in_cluster;
    options.in_cluster = {name + "-identity", name + "-state", name, arguments.join,
                          arguments.token_file};
  }
  options.identity = identity_dir(arguments.dir);
  options.operations = arguments.operations;
  options.supply = arguments.supply;
  options.policy = arguments.policy;
  options.kubeconfig = arguments.kubeconfig;
  options.context = arguments.context;
  options.state = arguments.state.empty() ? options.identity + "/state" : arguments.state;
  options.renew_contracts = !arguments.no_renew;
  options.forget_state = arguments.forget_state;
  options.has_fabric = !arguments.fabric.empty();
  options.api_servers = arguments.api_servers;
  options.node_template = arguments.node_template;
  options.driver_listen = arguments.driver_listen;
  options.driver_certificate = arguments.driver_certificate;
  options.driver_key = arguments.driver_key;
  options.driver_authorities = arguments.driver_authorities;
  options.network = network_of(arguments);
  options.webhook = webhook_of(arguments);
  Status status = check_supply(arguments);
  if (status)
    status = take_duration("--fabric-warm", arguments.warm, model::k_longest_wait, options.warm);
  if (status) status = check_home(arguments);
  if (status) status = check_driver(arguments);
  if (status) status = check_webhook(arguments);
  if (status) status = take_duration("--fabric-doubt", arguments.doubt, hours(1), options.doubt);
  if (status) status = take_duration("--fabric-skew", arguments.skew, hours(1), options.skew);
  if (status) status = take_handshake(arguments, options.handshake);
  if (status) status = services::run_agent(options);
  return status ? k_ok : failed("agent", status.error());
}

}  // namespace

void add_agent(Word verb) {
  auto arguments = std::make_shared<AgentArguments>();
  add_dir(verb, arguments->dir);
  verb.option("--supply", arguments->supply,
              "Pools and offers that this cluster sells; read again when it changes")
      .type_name("FILE");
  verb.option(
          "--policy", arguments->policy,
          "What of the live cluster is sold, and which namespaces may leave for what is bought; "
          "read again when it changes")
      .type_name("FILE");
  verb.option("--kubeconfig", arguments->kubeconfig,
              "The live cluster (default: the one that the agent runs in)")
      .type_name("FILE");
  verb.option("--context", arguments->context, "Of the kubeconfig (default: its current one)")
      .type_name("NAME");
  verb.option("--state", arguments->state, "Where it keeps what it knows (state in --dir)")
      .type_name("DIR");
  verb.option("--in-cluster", arguments->in_cluster,
              "Identity and state are the Secrets NAME-identity and NAME-state of the cluster, in "
              "the agent's own namespace; of all agents with them one is active, by the Lease NAME")
      .type_name("NAME");
  verb.option("--join", arguments->join,
              "With --in-cluster: the broker to join when there is no identity yet")
      .type_name("URL");
  verb.option("--token-file", arguments->token_file, "With --join: a file with the token")
      .type_name("FILE");
  verb.option("--fabric", arguments->fabric,
              "Makes what is bought a node of the cluster, and what is sold room for guests, by "
              "this; needs rights in the cluster (docs/fabric.md)")
      .one_of({"liqo"});
  verb.option("--fabric-api-server", arguments->api_servers,
              "With --fabric: an API server that providers may send this cluster to; a \"*\" at "
              "its end stands for what follows (any)")
      .may_repeat()
      .type_name("URL");
  verb.option("--fabric-template", arguments->node_template,
              "With --fabric: the VkOptionsTemplate that those of bought nodes are made from, in "
              "Liqo's namespace (Liqo's own)")
      .type_name("NAME");
  verb.option("--fabric-warm", arguments->warm,
              "With --fabric: how long a peering stays when its last contract has ended (30m)")
      .type_name("TIME");
  verb.option("--fabric-doubt", arguments->doubt,
              "With --fabric: a provider is dead when for so long neither our probe nor Liqo's was "
              "answered (5s)")
      .type_name("DURATION");
  verb.option("--fabric-skew", arguments->skew,
              "With --fabric: how much clocks of members may differ; work with identity waits for "
              "twice that beyond the fence time (15s)")
      .type_name("DURATION");
  verb.option("--fabric-handshake", arguments->handshake,
              "With --fabric: how this cluster comes to a provider: over the relay, or with a "
              "kubeconfig for minutes from those that hand them out (relay)")
      .one_of({"relay", "kubeconfig"});
  verb.option("--fabric-handshake-server", arguments->handshake_server,
              "With --fabric: buyers that ask get such a kubeconfig, for this cluster's API server "
              "under this URL; needs the guard (nobody gets one)")
      .type_name("URL");
  verb.option("--fabric-handshake-life", arguments->handshake_life,
              "With --fabric-handshake-server: how long a kubeconfig lives (10m)")
      .type_name("DURATION");
  verb.option("--driver-listen", arguments->driver_listen,
              "With --fabric: where units can be looked at and ended, as of a spillway driver "
              "(nowhere)")
      .type_name("ADDRESS:PORT");
  verb.option("--driver-cert", arguments->driver_certificate, "What that port shows")
      .type_name("FILE");
  verb.option("--driver-key", arguments->driver_key, "The key to it").type_name("FILE");
  verb.option("--driver-ca", arguments->driver_authorities,
              "The authorities of whoever may call it")
      .type_name("FILE");
  verb.option("--fabric-webhook-listen", arguments->webhook_listen,
              "With --fabric: where the API server asks whether a buyer's write may pass, where it "
              "has no ValidatingAdmissionPolicies (nowhere; docs/fabric-rules.md)")
      .type_name("ADDRESS:PORT");
  verb.option("--fabric-webhook-cert", arguments->webhook_certificate,
              "What that port shows (made here, by an authority that is kept)")
      .type_name("FILE");
  verb.option("--fabric-webhook-key", arguments->webhook_key, "The key to it").type_name("FILE");
  verb.option("--fabric-webhook-name", arguments->webhook_names,
              "What API servers call it, DNS or IP, for a certificate that is made here "
              "(localhost, 127.0.0.1)")
      .may_repeat();
  verb.option("--fabric-network", arguments->network,
              "Experimental. With --fabric: connects the networks of both clusters by Liqo's "
              "gateways, where the other side wants it, too; required: bought nodes wait for it "
              "(off)")
      .one_of({"on", "required"});
  verb.option("--fabric-gateway-service", arguments->gateway_service,
              "With --fabric-network: how others reach a gateway here (LoadBalancer)")
      .one_of({"LoadBalancer", "NodePort", "ClusterIP"});
  verb.flag("--fabric-no-gateway", arguments->no_gateway,
            "With --fabric-network: nobody can reach a gateway here; the other side has it");
  verb.flag("--fabric-in-band", arguments->in_band,
            "With --fabric-network: providers' API servers are reached through it, by Liqo's proxy "
            "there");
  verb.option("--operations", arguments->operations,
              "A port without TLS for probes and Prometheus: /healthz, /readyz, /metrics")
      .type_name("ADDRESS:PORT");
  verb.flag("--no-renew", arguments->no_renew, "Let contracts that were bought lapse");
  verb.flag("--forget-state", arguments->forget_state,
            "Begin anew from the broker's snapshot, when the state is damaged");
  verb.examples(
      "  spillway agent --dir ./milan-edge\n"
      "  spillway agent --dir /etc/spillway --supply supply.yaml\n"
      "  spillway agent --dir /etc/spillway --policy policy.yaml --kubeconfig ~/.kube/config\n"
      "  spillway agent --in-cluster spillway-agent --policy policy.yaml\n"
      "  spillway agent --in-cluster spillway-agent --policy policy.yaml --fabric liqo\n"
      "  spillway agent --supply supply.yaml --state /var/lib/spillway/agent\n");
  verb.run([arguments] { return run(*arguments); });
}

}  // namespace spillway::cli
