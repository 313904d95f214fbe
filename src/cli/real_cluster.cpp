#include "cli/real_cluster.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/run_program.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::cli {
namespace {

// Beside the program in a source tree, or where the variable says.
std::optional<std::string> find_realkube() {
  if (const char* given = std::getenv("SPILLWAY_REALKUBE"); given != nullptr && *given != '\0') {
    return given;
  }
  std::error_code none;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
  const auto root = program.parent_path().parent_path().parent_path();
  const auto found = root / "tools/realkube/realkube";
  return std::filesystem::exists(found, none) ? std::optional(found.string()) : std::nullopt;
}

Result<std::string> need_realkube() {
  if (auto found = find_realkube()) return std::move(*found);
  return fail(Code::not_found, "tools/realkube/realkube",
              "real clusters are run from a source tree of Spillway",
              "name it with SPILLWAY_REALKUBE, or leave out --real");
}

// Its output. `thing` is what an error is about.
Result<std::string> run_realkube(const std::string& thing, std::vector<std::string> words) {
  constexpr std::string_view k_prefix = "realkube: ";
  const auto script = need_realkube();
  if (!script) return tl::unexpected(script.error());
  words.insert(words.begin(), *script);
  auto ran = run_program(std::move(words));
  if (!ran) return tl::unexpected(ran.error());
  if (ran->is_good) return std::move(ran->output);
  std::string reason = std::move(ran->last_words);
  if (reason.starts_with(k_prefix)) reason.erase(0, k_prefix.size());
  if (reason.empty()) reason = *script + " failed";
  return fail(Code::unavailable, thing, std::move(reason),
              "docs/realkube.md says what it needs and where its logs are");
}

std::optional<RealCluster> find(const std::vector<RealCluster>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &RealCluster::name);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

Status refuse_second(const RealCluster& present) {
  const std::string end = fmt::format("spillway cluster down {} --real", present.name);
  if (present.condition != "up") {
    return fail(Code::conflict, "cluster " + present.name,
                fmt::format("there is one that is not well: {}", present.condition),
                "end it first: " + end);
  }
  return fail(Code::conflict, "cluster " + present.name, "it is up",
              fmt::format("use it with --kubeconfig {}, or end it: {}", present.kubeconfig, end));
}

// Its API is reached from the network namespace that real clusters share, and from nowhere else.
void tell_how_to_use(const std::string& script, const ClusterWish& wish,
                     const std::string& kubeconfig) {
  fmt::print(
      "cluster {1} is up (real Kubernetes: a control plane and {2} nodes that run nothing)\n"
      "  kubeconfig: {3}\n"
      "  {0} kubectl {1} get nodes\n"
      "  {0} run -- bash    # a shell in its network, where kubectl and spillway reach it\n"
      "  spillway cluster down {1} --real\n",
      script, wish.name, wish.nodes, kubeconfig);
}

}  // namespace

Result<std::vector<RealCluster>> real_clusters() {
  std::vector<RealCluster> all;
  if (!find_realkube()) return all;
  const auto told = run_realkube("real clusters", {"status", "--json"});
  if (!told) return tl::unexpected(told.error());
  const auto rows = model::parse_json(*told, "what realkube status says");
  if (!rows) return tl::unexpected(rows.error());
  for (const model::Node& row : rows->items) {
    all.push_back({std::string(model::text_at(row, {"name"})),
                   std::string(model::text_at(row, {"condition"})),
                   std::string(model::text_at(row, {"kubeconfig"}))});
  }
  return all;
}

bool is_real_cluster(const std::string& name) {
  const auto all = real_clusters();
  return all && find(*all, name);
}

Status up_real(const ClusterWish& wish) {
  SPILLWAY_TRY(check(wish));
  if (wish.port != 0) {
    return fail(Code::invalid, "--port",
                "a real cluster has a network of its own, and its API is on port 443 there",
                "leave it out with --real");
  }
  const auto script = need_realkube();
  if (!script) return tl::unexpected(script.error());
  const auto before = real_clusters();
  if (!before) return tl::unexpected(before.error());
  if (const auto present = find(*before, wish.name)) return refuse_second(*present);
  std::vector<std::string> words = {"up",    wish.name, "--nodes",  std::to_string(wish.nodes),
                                    "--cpu", wish.cpu,  "--memory", wish.memory};
  if (wish.has_liqo) words.emplace_back("--liqo");
  const auto done = run_realkube("cluster " + wish.name, words);
  if (!done) return tl::unexpected(done.error());
  const auto after = real_clusters();
  if (!after) return tl::unexpected(after.error());
  const auto made = find(*after, wish.name);
  tell_how_to_use(*script, wish, made ? made->kubeconfig : std::string("-"));
  return {};
}

Status down_real(const std::string& name) {
  const auto script = need_realkube();
  if (!script) return tl::unexpected(script.error());
  const auto all = real_clusters();
  if (!all) return tl::unexpected(all.error());
  if (!find(*all, name)) {
    return fail(Code::not_found, "cluster " + name, "there is no real one of that name",
                "see which there are: spillway cluster list");
  }
  const auto done = run_realkube("cluster " + name, {"down", name});
  if (!done) return tl::unexpected(done.error());
  fmt::print("cluster {} is down\n", name);
  return {};
}

}  // namespace spillway::cli
