// spillway agent: sells what the supply file says, keeps what was bought, follows the broker.
#include "cli/asking.h"
#include "cli/outcome.h"
#include "cli/verbs.h"
#include "services/agent/agent_service.h"

namespace spillway::cli {
namespace {

struct AgentArguments {
  std::string dir;
  std::string supply;
  std::string state;
  bool no_renew = false;
  bool forget_state = false;
};

int run(const AgentArguments& arguments) {
  services::AgentServiceOptions options;
  options.identity = identity_dir(arguments.dir);
  options.supply = arguments.supply;
  options.state = arguments.state.empty() ? options.identity + "/state" : arguments.state;
  options.renew_contracts = !arguments.no_renew;
  options.forget_state = arguments.forget_state;
  const Status status = services::run_agent(options);
  return status ? k_ok : failed("agent", status.error());
}

}  // namespace

void add_agent(Word verb) {
  auto arguments = std::make_shared<AgentArguments>();
  add_dir(verb, arguments->dir);
  verb.option("--supply", arguments->supply,
              "Pools and offers that this cluster sells; read again when it changes")
      .type_name("FILE");
  verb.option("--state", arguments->state, "Where it keeps what it knows (state in --dir)")
      .type_name("DIR");
  verb.flag("--no-renew", arguments->no_renew, "Let contracts that were bought lapse");
  verb.flag("--forget-state", arguments->forget_state,
            "Begin anew from the broker's snapshot, when the state is damaged");
  verb.examples(
      "  spillway agent --dir ./milan-edge\n"
      "  spillway agent --dir /etc/spillway --supply supply.yaml\n"
      "  spillway agent --supply supply.yaml --state /var/lib/spillway/agent\n");
  verb.run([arguments] { return run(*arguments); });
}

}  // namespace spillway::cli
