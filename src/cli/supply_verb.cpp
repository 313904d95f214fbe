// spillway supply: what an agent would offer of a live cluster now, and why. No broker is asked.
#include <cstdio>

#include "cli/files.h"
#include "cli/outcome.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "host/random.h"
#include "kube/session.h"
#include "kube/watch.h"
#include "services/service_loop.h"
#include "supply/offering.h"

namespace spillway::cli {
namespace {

struct SupplyArguments {
  std::string policy;
  std::string kubeconfig;
  std::string context;
  std::string cluster = "cluster";
};

constexpr Duration k_longest = seconds(60);

// Nodes and pods, once, into the view.
class Look {
 public:
  Look(kube::Api& api, net::Poll& poll, supply::View& view, const supply::GuestRule& guests)
      : poll_(poll), view_(view) {
    api.list(
        kube::k_nodes, {}, [this](const kube::ListPage& page) { take_nodes(page); },
        [this](const Result<std::string>& done) { finish(done); });
    api.list(
        kube::k_pods, {}, [this, &guests](const kube::ListPage& page) { take_pods(page, guests); },
        [this](const Result<std::string>& done) { finish(done); });
  }
  Status run() {
    poll_.after(k_longest, [this] {
      finish(fail(Code::unavailable, "the cluster", "it did not answer in time", "try again"));
    });
    poll_.run();
    if (!status_) return status_;
    view_.replace_nodes(std::move(nodes_));
    view_.replace_pods(std::move(pods_));
    return {};
  }

 private:
  void take_nodes(const kube::ListPage& page) {
    if (page.is_first) nodes_.clear();
    for (const kube::Object& object : page.items) {
      if (auto row = supply::node_row(object)) nodes_.push_back(std::move(*row));
    }
  }
  void take_pods(const kube::ListPage& page, const supply::GuestRule& guests) {
    if (page.is_first) pods_.clear();
    for (const kube::Object& object : page.items) {
      if (auto row = supply::pod_row(object, guests)) pods_.push_back(std::move(*row));
    }
  }
  void finish(const Result<std::string>& done) {
    if (!done && status_) status_ = tl::unexpected(done.error());
    if (!done || --missing_ == 0) poll_.stop();
  }

  net::Poll& poll_;
  supply::View& view_;
  std::vector<supply::NodeRow> nodes_;
  std::vector<supply::PodRow> pods_;
  int missing_ = 2;
  Status status_;
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

Status look(const SupplyArguments& arguments) {
  SPILLWAY_TRY(check_cluster_id(arguments.cluster));
  const auto text = read_file(arguments.policy);
  if (!text) return tl::unexpected(text.error());
  const auto policy = supply::policy_from_yaml(*text, arguments.policy);
  if (!policy) return tl::unexpected(policy.error());
  const auto access = kube::read_access(arguments.kubeconfig, arguments.context);
  if (!access) return tl::unexpected(access.error());
  net::Poll poll;
  services::ServiceLoop loop(poll);
  host::SystemRandom random;
  const auto session = kube::Session::open(poll, loop, random, *access);
  if (!session) return tl::unexpected(session.error());
  supply::View view;
  SPILLWAY_TRY(Look((*session)->api(), poll, view, policy->guests).run());
  print(supply::offer(view, *policy, ClusterId(arguments.cluster), loop.now()));
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
    const Status status = look(*arguments);
    return status ? k_ok : failed("supply", status.error());
  });
}

}  // namespace spillway::cli
