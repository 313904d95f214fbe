// spillway demo: an unmodified Cluster Autoscaler's hour on markets of real processes, on this
// machine.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/demo_load.h"
#include "cli/demo_play.h"
#include "cli/demo_say.h"
#include "cli/outcome.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"
#include "rank/profiles.h"

namespace spillway::cli {
namespace {

struct DemoArguments {
  bool keep = false;
  std::string stop;
  PlayOptions options;
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

void tell_kept(const Stage& stage, const DemoFederation& aware) {
  const std::string spillway = program();
  const auto line = [&](const std::string& what, const std::string& words) {
    say("  # {}\n  {} {}\n", what, spillway, words);
  };
  const std::string edge = " --dir " + aware.dir(k_buyer);
  const GrpcTarget target = aware.autoscaler();
  const std::string server = fmt::format(" --target {} --ca {} --cert {} --key {}", target.target,
                                         target.authorities, target.certificate, target.key);
  say_chapter("Still running: both markets with their clusters, agents and gRPC servers");
  say("  All that they wrote is in {}. In the second one:\n\n", stage.folder());
  line("what edge could buy, and why", "offers --cpu 1 --currency USD --explain" + edge);
  line("what it bought", "contracts" + edge);
  line("what its gRPC server thinks of an offer",
       "explain " + aware.on_sale().front().offer.id.text + server);
  line("whether that server keeps the rules of externalgrpc", "conformance externalgrpc" + server);
  say("  # its cluster, with kubectl if you have it; -w in another window while you go on\n"
      "  kubectl --kubeconfig {} get nodes\n",
      aware.kubeconfig(k_buyer));
  line("what of its namespace leaves for sellers",
       fmt::format("leaves {} --kubeconfig {}", k_load_space, aware.kubeconfig(k_buyer)));
  say("  # another price: save it and ask for the offers again\n  ${{EDITOR:-vi}} {}\n",
      aware.policy("pr1"));
  line("stop everything and take the folder away", "demo --stop " + stage.folder());
}

Status play(const DemoArguments& arguments) {
  auto stage = Stage::make(arguments.keep);
  if (!stage) return tl::unexpected(stage.error());
  Play play(**stage, arguments.options);
  play.tell_banner();
  SPILLWAY_TRY(play.play());
  if (!arguments.keep) {
    say("\nEverything is stopped and gone. To keep it running and try it: {} demo --keep\n",
        program());
    return {};
  }
  tell_kept(**stage, play.aware());
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
  const Status played = play(arguments);
  return played ? k_ok : failed("demo", played.error());
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const rank::Profile profile : rank::k_profiles) names.emplace_back(to_text(profile));
  return names;
}

}  // namespace

void add_demo(Word verb) {
  auto arguments = std::make_shared<DemoArguments>();
  const Setting keep =
      verb.flag("--keep", arguments->keep, "Leave everything running, and say what to try on it");
  verb.option("--stop", arguments->stop, "Stop what --keep left in this folder")
      .type_name("DIR")
      .excludes(keep);
  verb.option("--speed", arguments->options.speed,
              "How much faster the Cluster Autoscaler's clock runs than ours")
      .in_range(1, 600)
      .show_default();
  verb.option("--policy", arguments->options.profile,
              "The cost-aware one asks the recommender, by this profile (default: it goes by "
              "price alone)")
      .one_of(profile_names());
  verb.examples(
      "  spillway demo\n"
      "  spillway demo --policy greenest --speed 60\n"
      "  spillway demo --keep\n"
      "  spillway demo --stop /tmp/spillway-demo.x7Kq2a\n");
  verb.run([arguments] { return run_demo(*arguments); });
}

}  // namespace spillway::cli
