// spillway fabric guard: what keeps buyers within their contracts, as YAML for kubectl; and whether
// a cluster has it.
#include <cstdio>

#include "base/ids.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/files.h"
#include "cli/guard_check.h"
#include "cli/outcome.h"
#include "cli/parse.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"
#include "fabric/guest_space.h"
#include "fabric/liqo/guard_webhook.h"
#include "model/validation.h"
#include "model/yaml_text.h"
#include "pki/certificate.h"
#include "pki/hash.h"

namespace spillway::cli {
namespace {

struct GuardArguments {
  bool check = false;
  std::string kubeconfig;
  std::string context;
  std::string space;
  std::string buyer;
  std::string cpu;
  std::string memory;
  int pods = 0;
  std::string tolerable;
  std::string security = "baseline";
  std::string webhook;
  std::string authorities;
};

void print_object(const model::Node& object) { fmt::print("---\n{}", model::to_yaml(object)); }

// A quota of nothing lets no guest start: nobody means it who leaves an amount out.
Status check_granted(std::string_view option, int64_t amount) {
  if (amount > 0) return {};
  return fail(Code::invalid, std::string(option), "nothing is granted by it",
              "say how much was granted, more than 0");
}

Result<int64_t> granted(std::string_view option, const std::string& text, QuantityStep step) {
  const auto amount = parse_quantity(text.empty() ? "0" : text, step);
  if (!amount) return tl::unexpected(of_option(option, amount.error()));
  SPILLWAY_TRY(check_granted(option, *amount));
  return *amount;
}

Result<std::vector<std::string>> tolerable_keys(const std::string& text) {
  std::vector<std::string> keys = split(text, ',');
  for (const std::string& key : keys) {
    if (model::check_label_key("", key)) continue;
    return fail(Code::invalid, "--tolerable", in_quotes(key) + " is no key of a taint",
                "name them as Kubernetes does: example.com/spot,batch");
  }
  return keys;
}

Status check_names(const GuardArguments& arguments) {
  if (arguments.buyer.empty()) {
    return fail(Code::invalid, "--buyer", "it is missing", "name the buyer's Liqo id");
  }
  // Both have the syntax of clusters' names: a DNS label.
  for (const auto& [option, name] :
       {std::pair("--namespace", arguments.space), std::pair("--buyer", arguments.buyer)}) {
    if (check_cluster_id(name)) continue;
    return fail(Code::invalid, option, fmt::format("{} is no name of one", in_quotes(name)),
                "use small letters, digits and \"-\"");
  }
  const std::string prefix = fabric::liqo::guest_space_prefix(arguments.buyer);
  const bool is_its = arguments.space.starts_with(prefix) &&
                      check_cluster_id(std::string_view(arguments.space).substr(prefix.size()));
  if (is_its) return {};
  return fail(Code::invalid, "--namespace",
              fmt::format("{} is no guest namespace of {}", arguments.space, arguments.buyer),
              fmt::format("those are called {0}NAME; the guard takes no others: {0}shop", prefix));
}

Status print_space(const GuardArguments& arguments) {
  SPILLWAY_TRY(check_names(arguments));
  SPILLWAY_TRY(check_granted("--pods", arguments.pods));
  const auto cpu = granted("--cpu", arguments.cpu, QuantityStep::milli);
  if (!cpu) return tl::unexpected(cpu.error());
  const auto memory = granted("--memory", arguments.memory, QuantityStep::whole);
  if (!memory) return tl::unexpected(memory.error());
  auto tolerable = tolerable_keys(arguments.tolerable);
  if (!tolerable) return tl::unexpected(tolerable.error());
  fabric::GuestUnit unit;
  unit.grant.amounts = {{"cpu", *cpu}, {"memory", *memory}, {"pods", arguments.pods}};
  fabric::GuestWish wish{arguments.buyer, pki::sha256_hex(arguments.buyer), {unit}};
  wish.tolerable = std::move(*tolerable);
  if (arguments.security == "restricted") wish.security = fabric::PodSecurity::restricted;
  for (const fabric::Create& one :
       fabric::guest_space_objects(wish, arguments.space, arguments.pods)) {
    print_object(one.object);
  }
  return {};
}

Status print_webhook(const GuardArguments& arguments) {
  const auto place = fabric::liqo::parse_webhook_place(arguments.webhook);
  if (!place) return tl::unexpected(of_option("--webhook", place.error()));
  std::string authorities;
  if (!arguments.authorities.empty()) {
    auto text = read_file(arguments.authorities);
    if (!text) return tl::unexpected(text.error());
    SPILLWAY_TRY(pki::split_bundle(*text).map([](const std::vector<std::string>&) {}));
    authorities = std::move(*text);
  }
  for (const auto& one : fabric::liqo::webhook_objects(*place, authorities)) {
    print_object(one.object);
  }
  return {};
}

Status run_guard(const GuardArguments& arguments) {
  if (!arguments.authorities.empty() && arguments.webhook.empty()) {
    return fail(Code::invalid, "--ca", "policies ask nobody", "give --webhook, too");
  }
  if (arguments.check) {
    const auto seen = look_at_guard(arguments.kubeconfig, arguments.context);
    if (!seen) return tl::unexpected(seen.error());
    fmt::print("{}\n", safe(*seen));
    if (arguments.buyer.empty()) return {};
    SPILLWAY_TRY(look_at_standing(arguments.kubeconfig, arguments.context, arguments.buyer));
    fmt::print("{} has no rights of its own\n", safe(arguments.buyer));
    return {};
  }
  if (!arguments.space.empty()) return print_space(arguments);
  if (!arguments.webhook.empty()) return print_webhook(arguments);
  for (const auto& one : fabric::liqo::guard_objects()) print_object(one.object);
  return {};
}

void add_guard(const Word& word) {
  auto arguments = std::make_shared<GuardArguments>();
  word.flag("--check", arguments->check,
            "Print nothing; say whether a cluster has it as it is here");
  word.option("--kubeconfig", arguments->kubeconfig,
              "With --check: the cluster (default: the one that this runs in)")
      .type_name("FILE");
  word.option("--context", arguments->context, "Of the kubeconfig (default: its current one)")
      .type_name("NAME");
  word.option("--namespace", arguments->space, "Print what this one guest namespace needs, instead")
      .type_name("NAME");
  word.option("--webhook", arguments->webhook,
              "Print how an agent is asked instead of policies, for Kubernetes below 1.30: where "
              "its --fabric-webhook-listen is, https://HOST:PORT or NAMESPACE/SERVICE:PORT")
      .type_name("PLACE");
  word.option("--ca", arguments->authorities,
              "With --webhook: the authorities of its certificate (none: an agent that has made it "
              "fills them in)")
      .type_name("FILE");
  word.option("--buyer", arguments->buyer,
              "Whose it is: a Liqo id; with --check, one that must have no rights yet")
      .type_name("ID");
  word.option("--pods", arguments->pods, "With --namespace, needed: that it was granted")
      .type_name("N")
      .not_negative();
  word.option("--cpu", arguments->cpu, "Likewise, of its largest unit").type_name("CPU");
  word.option("--memory", arguments->memory, "Likewise, of its largest unit").type_name("BYTES");
  word.option("--tolerable", arguments->tolerable, "Taints that its guests may tolerate")
      .type_name("KEY,…");
  word.option("--security", arguments->security, "Pod-security level of its guests")
      .one_of({"baseline", "restricted"})
      .show_default();
  word.run([arguments] {
    const Status status = run_guard(*arguments);
    return status ? k_ok : failed("fabric guard", status.error());
  });
}

}  // namespace

void add_fabric(Word verb) {
  verb.require_word();
  verb.examples(
      "  spillway fabric guard | kubectl apply -f -\n"
      "  spillway fabric guard --check --kubeconfig ~/.kube/config\n"
      "  spillway fabric guard --webhook spillway/spillway-agent-guard:9443 | kubectl apply -f -\n"
      "  spillway fabric guard --namespace sw5-milan-shop --buyer milan --pods 20 --cpu 2 --memory "
      "4Gi\n");
  add_guard(verb.add("guard", "What keeps buyers within their contracts, as YAML for kubectl"));
}

}  // namespace spillway::cli
