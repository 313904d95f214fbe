// spillway agent: sells what the supply file says or what is free in the live cluster, keeps what
// was bought, follows the broker.
#include "cli/asking.h"
#include "cli/outcome.h"
#include "cli/verbs.h"
#include "services/agent/agent_service.h"
#include "services/agent/credentials.h"

namespace spillway::cli {
namespace {

struct AgentArguments {
  std::string dir;
  std::string supply;
  std::string policy;
  std::string kubeconfig;
  std::string context;
  std::string state;
  bool no_renew = false;
  bool forget_state = false;
};

// The broker would let anybody connect, and the agent would wait for ever for something to do.
Status check_cluster(const std::string& dir) {
  const auto present = agent::load_credentials(dir);
  if (!present) return tl::unexpected(present.error());
  if (is_cluster(present->roles)) return {};
  return fail(Code::denied, dir,
              fmt::format("it is the identity of {} ({}), and an agent is for a cluster",
                          present->name, model::to_text(present->roles)),
              "name the folder of a provider or consumer with --dir, or join as one: spillway "
              "token create --cluster NAME --roles provider,consumer");
}

Status check_supply(const AgentArguments& arguments) {
  const bool is_live = !arguments.policy.empty();
  if (is_live && !arguments.supply.empty()) {
    return fail(Code::invalid, "--policy and --supply",
                "what is sold comes from the live cluster or from a file", "give one of them");
  }
  const bool names_cluster = !arguments.kubeconfig.empty() || !arguments.context.empty();
  if (names_cluster && !is_live) {
    return fail(Code::invalid, "--kubeconfig", "nothing is sold from that cluster",
                "say by which policy: --policy FILE");
  }
  return {};
}

int run(const AgentArguments& arguments) {
  services::AgentServiceOptions options;
  options.identity = identity_dir(arguments.dir);
  options.supply = arguments.supply;
  options.policy = arguments.policy;
  options.kubeconfig = arguments.kubeconfig;
  options.context = arguments.context;
  options.state = arguments.state.empty() ? options.identity + "/state" : arguments.state;
  options.renew_contracts = !arguments.no_renew;
  options.forget_state = arguments.forget_state;
  Status status = check_supply(arguments);
  if (status) status = check_cluster(options.identity);
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
  verb.option("--policy", arguments->policy,
              "Sells what is free in the live cluster, by this policy; read again when it changes")
      .type_name("FILE");
  verb.option("--kubeconfig", arguments->kubeconfig,
              "The live cluster (default: the one that the agent runs in)")
      .type_name("FILE");
  verb.option("--context", arguments->context, "Of the kubeconfig (default: its current one)")
      .type_name("NAME");
  verb.option("--state", arguments->state, "Where it keeps what it knows (state in --dir)")
      .type_name("DIR");
  verb.flag("--no-renew", arguments->no_renew, "Let contracts that were bought lapse");
  verb.flag("--forget-state", arguments->forget_state,
            "Begin anew from the broker's snapshot, when the state is damaged");
  verb.examples(
      "  spillway agent --dir ./milan-edge\n"
      "  spillway agent --dir /etc/spillway --supply supply.yaml\n"
      "  spillway agent --dir /etc/spillway --policy policy.yaml --kubeconfig ~/.kube/config\n"
      "  spillway agent --supply supply.yaml --state /var/lib/spillway/agent\n");
  verb.run([arguments] { return run(*arguments); });
}

}  // namespace spillway::cli
