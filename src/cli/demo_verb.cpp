// spillway demo: a federation of real processes on this machine, and a story that they play.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/demo_say.h"
#include "cli/demo_stage.h"
#include "cli/demo_story.h"
#include "cli/outcome.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

struct DemoArguments {
  bool keep = false;
  std::string stop;
};

// As one would type it here.
std::string program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "spillway";
  const std::string near = std::filesystem::proximate(path, error).string();
  if (error || near.starts_with("..")) return path.string();
  return near.find('/') == std::string::npos ? "./" + near : near;
}

void tell_kept(const Stage& stage, const DemoFederation& federation) {
  const std::string spillway = program();
  const auto line = [&](const std::string& what, const std::string& words) {
    say("  # {}\n  {} {}\n", what, spillway, words);
  };
  const std::string edge = " --dir " + federation.dir(k_buyer);
  say_chapter("Still running: the broker, five clusters and their agents");
  say("  Logs, identities, policies, kubeconfigs and demo.pids are in {}. Try:\n\n",
      stage.folder());
  line("what edge could buy, and why", "offers --cpu 2 --currency USD --explain" + edge);
  line("buy it: the first of these", "hold $(" + spillway +
                                         " offers --cpu 2 --currency USD -o plain" + edge +
                                         " | head -1 | cut -f1) --confirm" + edge);
  line("what edge has", "contracts" + edge);
  line("everything that happens, as the operator sees it",
       "events --follow --dir " + federation.dir(k_operator));
  line("whether all is well", "doctor" + edge);
  say("  # another price: save it and ask for the offers again\n  ${{EDITOR:-vi}} {}\n",
      federation.policy("pr1"));
  line("why pr1 offers what it does", "supply --cluster pr1 --policy " + federation.policy("pr1") +
                                          " --kubeconfig " + federation.kubeconfig("pr1"));
  say("  # its cluster, with kubectl if you have it: cordon a node and look again\n"
      "  kubectl --kubeconfig {} cordon node-1\n",
      federation.kubeconfig("pr1"));
  line("stop everything and take the folder away", "demo --stop " + stage.folder());
}

Status play(bool keep) {
  auto stage = Stage::make(keep);
  if (!stage) return tl::unexpected(stage.error());
  say("Spillway demo: one buyer, four sellers, less than half a minute\n"
      "  real       eleven processes (a broker, five clusters, five agents), mutual TLS\n"
      "             between them, the book on disk, the ranking, the clock and every\n"
      "             number below\n"
      "  embedded   the clusters: the Kubernetes API with a scheduler and nodes that run\n"
      "             nothing; on what is bought nothing runs yet either\n");
  DemoFederation federation(**stage);
  SPILLWAY_TRY(Story(federation).play());
  if (!keep) {
    say("\nEverything is stopped and gone. To keep it running and try it: {} demo --keep\n",
        program());
    return {};
  }
  tell_kept(**stage, federation);
  if (std::ferror(stdout) == 0) (*stage)->leave_standing();
  return {};
}

int run_demo(const DemoArguments& arguments) {
  if (!arguments.stop.empty()) {
    const Status stopped = stop_kept(arguments.stop);
    if (!stopped) return failed("demo", stopped.error());
    say("The demo is stopped; {} is gone.\n", safe(arguments.stop));
    return k_ok;
  }
  const Status played = play(arguments.keep);
  return played ? k_ok : failed("demo", played.error());
}

}  // namespace

void add_demo(Word verb) {
  auto arguments = std::make_shared<DemoArguments>();
  const Setting keep = verb.flag("--keep", arguments->keep,
                                 "Leave broker and agents running, and say what to try on them");
  verb.option("--stop", arguments->stop, "Stop what --keep left in this folder")
      .type_name("DIR")
      .excludes(keep);
  verb.examples(
      "  spillway demo\n"
      "  spillway demo --keep\n"
      "  spillway demo --stop /tmp/spillway-demo.x7Kq2a\n");
  verb.run([arguments] { return run_demo(*arguments); });
}

}  // namespace spillway::cli
