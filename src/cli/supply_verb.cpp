// spillway supply: what an agent would offer of a live cluster now, and why. No broker is asked.
#include <cstdio>

#include "cli/ask_cluster.h"
#include "cli/files.h"
#include "cli/outcome.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/when.h"
#include "kube/watch.h"
#include "services/agent/agent_policy.h"
#include "supply/offering.h"

namespace spillway::cli {
namespace {

struct SupplyArguments {
  std::string policy;
  std::string kubeconfig;
  std::string context;
  std::string cluster = "cluster";
};

// Nodes and pods, once; of each no more than an agent would take.
struct Look {
  std::vector<supply::NodeRow> nodes;
  std::vector<supply::PodRow> pods;
  int missing = 2;  // lists

  void ask(kube::Api& api, const supply::GuestRule& guests, const kube::Then<void>& done) {
    const auto finish = [this, done](const Result<std::string>& version) {
      if (!version) return done(tl::unexpected(version.error()));
      if (--missing == 0) done({});
    };
    const auto look = [&api, finish, done](const kube::Resource& what, auto& rows, auto row_of) {
      const auto take = [&rows, row_of, what, done](const kube::ListPage& page) {
        take_page(page, rows, row_of);
        if (rows.size() > kube::Watch::k_most_objects) done(too_many(what));
      };
      api.list(what, {}, take, finish);
    };
    look(kube::k_nodes, nodes, [](const kube::Object& node) { return supply::node_row(node); });
    look(kube::k_pods, pods,
         [guests](const kube::Object& pod) { return supply::pod_row(pod, guests); });
  }

  template <class Row, class RowOf>
  static void take_page(const kube::ListPage& page, std::vector<Row>& rows, const RowOf& row_of) {
    if (page.is_first) rows.clear();
    for (const kube::Object& object : page.items) {
      if (!kube::Watch::takes(object)) continue;
      if (auto row = row_of(object)) rows.push_back(std::move(*row));
    }
  }
  static tl::unexpected<Error> too_many(const kube::Resource& what) {
    return fail(Code::invalid, kube::to_text(what, {}),
                fmt::format("there are more than {}", kube::Watch::k_most_objects),
                "look whether this is an API server");
  }
};

void print(const supply::Offering& offering) {
  Table pools({{"POOL"}, {"CAPACITY"}});
  for (const model::Pool& pool : offering.supply.pools) {
    pools.add({pool.id.text, model::to_text(pool.capacity)});
  }
  Table offers({{"OFFER"}, {"SHAPE"}});
  for (const model::Offer& offer : offering.supply.offers) {
    offers.add({offer.id.text, model::to_text(offer.shape)});
  }
  if (!pools.empty()) fmt::print("{}\n", pools.text());
  if (!offers.empty()) fmt::print("{}\n", offers.text());
  fmt::print("{}", supply::to_text(offering.explanation));
}

Status tell_supply(const SupplyArguments& arguments) {
  SPILLWAY_TRY(check_cluster_id(arguments.cluster));
  const auto text = read_file(arguments.policy);
  if (!text) return tl::unexpected(text.error());
  const auto whole = agent::agent_policy_from_yaml(*text, arguments.policy);
  if (!whole) return tl::unexpected(whole.error());
  const auto& policy = whole->offering;
  if (!policy) {
    return fail(Code::invalid, arguments.policy, "it speaks of nothing that is for sale",
                "add ladder, price and place: examples/agent-policy.yaml has them");
  }
  Look look;
  SPILLWAY_TRY(ask_cluster(
      arguments.kubeconfig, arguments.context,
      [&](kube::Api& api, const kube::Then<void>& done) { look.ask(api, policy->guests, done); }));
  supply::View view;
  view.replace_nodes(std::move(look.nodes));
  view.replace_pods(std::move(look.pods));
  print(supply::offer(view, *policy, ClusterId(arguments.cluster), now()));
  return {};
}

}  // namespace

void add_supply(Word verb) {
  auto arguments = std::make_shared<SupplyArguments>();
  verb.option("--policy", arguments->policy, "By which the cluster sells")
      .type_name("FILE")
      .required();
  verb.option("--kubeconfig", arguments->kubeconfig,
              "The live cluster (default: the one that this runs in)")
      .type_name("FILE");
  verb.option("--context", arguments->context, "Of the kubeconfig (default: its current one)")
      .type_name("NAME");
  verb.option("--cluster", arguments->cluster, "What it is called in the federation")
      .type_name("NAME")
      .show_default();
  verb.examples(
      "  spillway supply --policy policy.yaml --kubeconfig ~/.kube/config\n"
      "  spillway supply --policy policy.yaml --kubeconfig edge.yaml --cluster milan-edge\n");
  verb.run([arguments] {
    const Status status = tell_supply(*arguments);
    return status ? k_ok : failed("supply", status.error());
  });
}

}  // namespace spillway::cli
