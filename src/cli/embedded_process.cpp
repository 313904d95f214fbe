// up_embedded and down_embedded: the process of an embedded cluster, from outside.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/cluster_home.h"
#include "cli/embedded_cluster.h"
#include "cli/files.h"
#include "cli/real_cluster.h"
#include "cli/self_process.h"
#include "cli/waiting.h"
#include "pki/file_handle.h"
#include "pki/private_file.h"

namespace spillway::cli {
namespace {

constexpr auto k_patience = std::chrono::seconds(20);
constexpr auto k_look = std::chrono::milliseconds(5);

std::vector<std::string> run_words(const ClusterWish& wish) {
  std::vector<std::string> words = {"cluster",
                                    "run",
                                    wish.name,
                                    "--nodes",
                                    std::to_string(wish.nodes),
                                    "--cpu",
                                    wish.cpu,
                                    "--memory",
                                    wish.memory,
                                    "--port",
                                    std::to_string(wish.port),
                                    "--kubeconfig",
                                    wish.kubeconfig,
                                    "--at-home"};
  if (wish.has_liqo) words.emplace_back("--liqo");
  return words;
}

// The error that it ended with, which is the last line of its log and has a next step.
std::string last_error(const std::string& log) {
  constexpr std::string_view k_cluster_prefix = "spillway cluster: ";
  const std::string last = last_line(log);
  return last.starts_with(k_cluster_prefix) ? last.substr(k_cluster_prefix.size()) : last;
}

// Whoever could not write its last words may have had no room for them.
Status ended_mute(const ClusterHome& home, const std::string& name) {
  constexpr size_t k_much = size_t{64} << 10;  // more than it writes at its start
  SPILLWAY_TRY(pki::write_private(home.folder() + "/room", std::string(k_much, ' ')));
  return fail(Code::unavailable, "cluster " + name, "it ended at once, without a word",
              "try again, and look whether memory is left");
}

Status wait_for_kubeconfig(const ClusterHome& home, const ProcessMark& mark) {
  const auto ready = wait_until(k_patience, k_look, [&]() -> Result<bool> {
    if (is_there(home.kubeconfig())) return true;
    if (runs(mark)) return false;
    const std::string why = last_error(home.log());
    if (why.empty()) return tl::unexpected(ended_mute(home, mark.name).error());
    return fail(Code::unavailable, "cluster " + mark.name, why);
  });
  if (!ready) return tl::unexpected(ready.error());
  if (*ready) return {};
  return fail(Code::unavailable, "cluster " + mark.name, "it does not come up",
              "look whether the machine is busy, then try again");
}

Result<ProcessMark> start(const ClusterHome& home, const ClusterWish& wish) {
  const auto log = home.open_log();
  if (!log) return tl::unexpected(log.error());
  const auto pid = start_self(run_words(wish), log->get(), log->get(), Outlives::parent);
  if (!pid) return tl::unexpected(pid.error());
  return mark_of(wish.name, *pid);
}

Status start_and_wait(const ClusterHome& home, const ClusterWish& wish) {
  SPILLWAY_TRY(pki::make_private_folder(home.folder()));
  const auto mark = start(home, wish);
  if (!mark) return tl::unexpected(mark.error());
  Status done = wait_for_kubeconfig(home, *mark);
  if (!done) end_all(std::vector{*mark});
  return done;
}

// One whose starter was killed may not have said yet which process it is, but will, or ends.
bool end_process(const ClusterHome& home) {
  const auto known = wait_until(k_patience, k_look, [&home]() -> Result<bool> {
    return !home.is_up() || home.process().has_value();
  });
  if (!known.value_or(false)) return false;
  const auto mark = home.process();
  return !mark || end_all(std::vector{*mark});
}

}  // namespace

Status up_embedded(ClusterWish wish) {
  SPILLWAY_TRY(check(wish));
  const auto home = ClusterHome::of(wish.name);
  if (!home) return tl::unexpected(home.error());
  const auto alone = ClusterHome::lock();
  if (!alone) return tl::unexpected(alone.error());
  if (home->is_up()) {
    return fail(Code::conflict, "cluster " + wish.name, "it is up",
                fmt::format("use it with --kubeconfig {}, or end it: spillway cluster down {}",
                            home->kubeconfig(), wish.name));
  }
  home->remove();
  wish.kubeconfig = home->kubeconfig();
  if (auto done = start_and_wait(*home, wish); !done) {
    home->remove();
    return done;
  }
  fmt::print(
      "cluster {} is up (embedded: a scheduler and {} nodes that run nothing)\n"
      "  kubectl --kubeconfig {} get nodes\n"
      "  spillway cluster down {}\n",
      wish.name, wish.nodes, home->kubeconfig(), wish.name);
  return {};
}

Status down_embedded(const std::string& name) {
  const auto home = ClusterHome::of(name);
  if (!home) return tl::unexpected(home.error());
  const auto alone = ClusterHome::lock();
  if (!alone) return tl::unexpected(alone.error());
  if (!is_there(home->folder())) {
    return fail(Code::not_found, "cluster " + name, "there is no embedded one of that name",
                is_real_cluster(name)
                    ? fmt::format("a real one is ended by: spillway cluster down {} --real", name)
                    : "see which there are: spillway cluster list");
  }
  if (!end_process(*home)) {
    return fail(Code::unavailable, "cluster " + name, "its process does not end", "try again");
  }
  home->remove();
  fmt::print("cluster {} is down\n", name);
  return {};
}

}  // namespace spillway::cli
