// spillway cluster: clusters to try things on. Embedded ones are a process of this program each;
// real ones are run by tools/realkube.
#include <cstdio>

#include "cli/cluster_home.h"
#include "cli/embedded_cluster.h"
#include "cli/outcome.h"
#include "cli/real_cluster.h"
#include "cli/table.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

struct ClusterArguments {
  ClusterWish wish;
  bool is_embedded = false;
  bool is_real = false;
};

int list() {
  Table table({{"NAME"}, {"KIND"}, {"STATE"}, {"KUBECONFIG"}});
  const auto names = ClusterHome::all();
  if (!names) return failed("cluster", names.error());
  for (const std::string& name : *names) {
    const auto home = ClusterHome::of(name);
    if (!home) continue;
    table.add({name, "embedded", home->is_up() ? "up" : "ended", home->kubeconfig()});
  }
  const auto real = real_clusters();
  for (const RealCluster& cluster : real.value_or(std::vector<RealCluster>())) {
    table.add({cluster.name, "real", cluster.condition, cluster.kubeconfig});
  }
  if (!table.empty()) {
    fmt::print("{}", table.text());
  } else if (real) {
    fmt::print("no clusters; start one: spillway cluster up NAME\n");
  }
  return real ? k_ok : failed("cluster", real.error());
}

void add_wish(Word word, ClusterWish& wish) {
  word.option("NAME", wish.name, "What it is called").required();
  word.option("--nodes", wish.nodes, "How many nodes it has").in_range(0, 1000).show_default();
  word.option("--cpu", wish.cpu, "Of each node").type_name("QUANTITY").show_default();
  word.option("--memory", wish.memory, "Of each node").type_name("QUANTITY").show_default();
  word.option("--port", wish.port, "Of an embedded one's API (default: any that is free)")
      .in_range(0, 65535);
  word.flag("--liqo", wish.has_liqo, "With Liqo, as which it has the same name");
}

int told(const Status& status) {
  if (status) return k_ok;
  const bool is_usage = status.error().code == Code::invalid;
  return is_usage ? wrongly_called("cluster", status.error()) : failed("cluster", status.error());
}

}  // namespace

void add_cluster(Word verb) {
  auto arguments = std::make_shared<ClusterArguments>();
  verb.examples(
      "  spillway cluster up edge --nodes 3 --cpu 8\n"
      "  spillway cluster up rome --liqo\n"
      "  spillway cluster list\n"
      "  spillway cluster up big --real\n"
      "  spillway cluster down edge\n");
  Word up_word = verb.add("up", "Start one in the background");
  add_wish(up_word, arguments->wish);
  const Setting embedded = up_word.flag("--embedded", arguments->is_embedded,
                                        "In a process of this program, in milliseconds (default)");
  up_word.flag("--real", arguments->is_real, "Real Kubernetes; needs root, and a source tree")
      .excludes(embedded);
  up_word.run([arguments] {
    return told(arguments->is_real ? up_real(arguments->wish) : up_embedded(arguments->wish));
  });

  Word run_word = verb.add("run", "Be an embedded one, until told to stop");
  add_wish(run_word, arguments->wish);
  run_word.option("--kubeconfig", arguments->wish.kubeconfig, "Where its kubeconfig goes")
      .type_name("FILE")
      .required();
  run_word.flag("--at-home", arguments->wish.at_home,
                "As `up` starts it: end when its folder goes");
  run_word.run([arguments] { return told(run_embedded(arguments->wish)); });

  Word down_word = verb.add("down", "End one and forget it");
  down_word.option("NAME", arguments->wish.name, "Which one").required();
  down_word.flag("--real", arguments->is_real, "A real one");
  down_word.run([arguments] {
    return told(arguments->is_real ? down_real(arguments->wish.name)
                                   : down_embedded(arguments->wish.name));
  });

  verb.add("list", "Those that were started, of both kinds").run([] { return list(); });
  verb.require_word();
}

}  // namespace spillway::cli
