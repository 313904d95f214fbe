// spillway validate FILE...: reads YAML files as the market would, and says what is wrong where.
#include <array>

#include "base/text.h"
#include "cli/files.h"
#include "cli/outcome.h"
#include "cli/verbs.h"
#include "model/cluster.h"
#include "model/contract.h"
#include "model/documents.h"
#include "model/intent.h"
#include "model/offer.h"
#include "model/pool.h"
#include "model/yaml.h"
#include "rank/policy.h"
#include "rank/profiles.h"
#include "services/agent/agent_policy.h"
#include "services/agent/supply_file.h"
#include "services/driver/config.h"

namespace spillway::cli {
namespace {

template <class T>
Status only_errors(const Result<T>& result) {
  if (!result) return tl::unexpected(result.error());
  return {};
}

// Whoever owns the first pool must own everything: here nobody says which agent will read it.
ClusterId owner_in(const std::string& text) {
  const auto root = model::parse_yaml(text);
  const model::Node* pools = root ? root->find("pools") : nullptr;
  if (pools == nullptr || pools->items.empty()) return {};
  const model::Node* id = pools->items.front().find("id");
  return ClusterId(id == nullptr ? std::string() : std::string(owner_of(id->text)));
}

Status validate_text(const std::string& noun, const std::string& text, const std::string& path) {
  if (noun == "pool") return only_errors(model::pool_from_yaml(text, path));
  if (noun == "offer") return only_errors(model::offer_from_yaml(text, path));
  if (noun == "cluster") return only_errors(model::cluster_from_yaml(text, path));
  if (noun == "intent") return only_errors(model::intent_from_yaml(text, path));
  if (noun == "contract") return only_errors(model::contract_from_yaml(text, path));
  if (noun == "supply") {
    return only_errors(agent::supply_from_yaml(text, owner_in(text), path));
  }
  if (noun == "policy") return only_errors(agent::agent_policy_from_yaml(text, path));
  if (noun == "recommender-policy") return only_errors(rank::policy_from_yaml(text, path));
  if (noun == "driver") return only_errors(driver::driver_config_from_yaml(text, path));
  constexpr std::array<std::string_view, 9> k_nouns{
      "pool",  "offer", "cluster", "intent", "contract", "supply", "policy", "recommender-policy",
      "driver"};
  const std::string_view meant = nearest(noun, k_nouns);
  return fail(Code::invalid, path, fmt::format("there is no noun {}", in_quotes(noun)),
              meant.empty() ? "use pool, offer, cluster, intent, contract, supply, policy, "
                              "recommender-policy or driver"
                            : fmt::format("did you mean {}?", meant));
}

Status validate_file(const std::string& path) {
  auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto noun = model::noun_in_yaml(*text, path);
  if (!noun) return tl::unexpected(noun.error());
  return validate_text(*noun, *text, path);
}

struct ValidateArguments {
  std::vector<std::string> paths;
  std::string profile;
};

// As a policy that can be edited and used.
int print_profile(const std::string& name) {
  const auto profile = rank::parse_profile(name);
  if (!profile) return wrongly_called("validate", profile.error());
  fmt::print("{}", rank::to_yaml(rank::policy_of(*profile, Currency())));
  return k_ok;
}

int run_validate(const ValidateArguments& arguments) {
  if (!arguments.profile.empty()) return print_profile(arguments.profile);
  if (arguments.paths.empty()) {
    return wrongly_called(
        "validate", {Code::invalid, "files", "none is given", "name YAML files, or --profile"});
  }
  int bad = 0;
  for (const std::string& path : arguments.paths) {
    if (const Status status = validate_file(path); !status) {
      fmt::print(stderr, "{}\n", status.error().message());
      ++bad;
    } else {
      fmt::print("{}: good\n", path);
    }
  }
  return bad == 0 ? 0 : 1;
}

}  // namespace

void add_validate(Word verb) {
  auto arguments = std::make_shared<ValidateArguments>();
  verb.option("files", arguments->paths, "YAML files, each with `noun:` and `version: 1`");
  verb.option("--profile", arguments->profile,
              "Print what a profile of the recommender's policy stands for")
      .type_name("NAME");
  verb.examples(
      "  spillway validate examples/offer.yaml\n"
      "  spillway validate examples/*.yaml\n"
      "  spillway validate --profile greenest\n");
  verb.run([arguments] { return run_validate(*arguments); });
}

}  // namespace spillway::cli
