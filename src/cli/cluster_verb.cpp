// spillway cluster: clusters to try things on. Embedded ones are a process of this program each;
// real ones are run by tools/realkube.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cluster_home.h"
#include "cli/embedded_cluster.h"
#include "cli/outcome.h"
#include "cli/self_process.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/waiting.h"
#include "pki/file_handle.h"
#include "pki/private_file.h"

extern char** environ;

namespace spillway::cli {
namespace {

struct ClusterArguments {
  EmbeddedWish wish;
  bool is_embedded = false;
  bool is_real = false;
};

constexpr auto k_patience = std::chrono::seconds(20);
constexpr auto k_look = std::chrono::milliseconds(5);

bool is_there(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

std::vector<std::string> run_words(const EmbeddedWish& wish) {
  return {"cluster",
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
          wish.kubeconfig};
}

Status wait_for_kubeconfig(const ClusterHome& home, const ProcessMark& mark) {
  const auto ready = wait_until(k_patience, k_look, [&]() -> Result<bool> {
    if (is_there(home.kubeconfig())) return true;
    if (runs(mark)) return false;
    return fail(Code::unavailable, "cluster " + mark.name, "it ended at once",
                "see why in " + home.log());
  });
  if (!ready) return tl::unexpected(ready.error());
  if (*ready) return {};
  end_all(std::vector{mark});
  return fail(Code::unavailable, "cluster " + mark.name, "it does not come up",
              "see why in " + home.log());
}

Status up_embedded(EmbeddedWish wish) {
  const auto home = ClusterHome::of(wish.name);
  if (!home) return tl::unexpected(home.error());
  const auto alone = ClusterHome::lock();
  if (!alone) return tl::unexpected(alone.error());
  if (home->process()) {
    return fail(Code::conflict, "cluster " + wish.name, "it is up",
                fmt::format("use it with --kubeconfig {}, or end it: spillway cluster down {}",
                            home->kubeconfig(), wish.name));
  }
  home->remove();
  SPILLWAY_TRY(pki::make_private_folder(home->folder()));
  wish.kubeconfig = home->kubeconfig();
  const pki::FileHandle log(
      ::open(home->log().c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  if (!log.is_open()) return pki::fail_errno(home->log(), "opening it", errno);
  const auto pid = start_self(run_words(wish), log.get(), log.get(), Outlives::parent);
  if (!pid) return tl::unexpected(pid.error());
  const ProcessMark mark = mark_of(wish.name, *pid);
  if (auto kept = home->remember(mark); !kept) {
    end_all(std::vector{mark});
    return kept;
  }
  SPILLWAY_TRY(wait_for_kubeconfig(*home, mark));
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
  if (!is_there(home->folder())) {
    return fail(Code::not_found, "cluster " + name, "there is none of that name",
                "see which there are: spillway cluster list");
  }
  if (const auto mark = home->process(); mark && !end_all(std::vector{*mark})) {
    return fail(Code::unavailable, "cluster " + name, "its process does not end", "try again");
  }
  home->remove();
  fmt::print("cluster {} is down\n", name);
  return {};
}

// Beside the program in a source tree, or where the variable says.
Result<std::string> realkube() {
  if (const char* given = std::getenv("SPILLWAY_REALKUBE"); given != nullptr && *given != '\0') {
    return std::string(given);
  }
  std::error_code none;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
  const auto root = program.parent_path().parent_path().parent_path();
  const std::string found = (root / "tools/realkube/realkube").string();
  if (is_there(found)) return found;
  return fail(Code::not_found, "tools/realkube/realkube",
              "real clusters are run from a source tree of Spillway",
              "name it with SPILLWAY_REALKUBE, or leave out --real");
}

Status run_realkube(std::vector<std::string> words) {
  const auto script = realkube();
  if (!script) return tl::unexpected(script.error());
  words.insert(words.begin(), *script);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, script->c_str(), nullptr, nullptr, argv.data(), environ);
  if (error != 0) return pki::fail_errno(*script, "running it", error);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(Code::unavailable, *script, "it failed", "see what it says above");
}

Status up(const ClusterArguments& arguments) {
  if (!arguments.is_real) return up_embedded(arguments.wish);
  SPILLWAY_TRY(
      run_realkube({"up", arguments.wish.name, "--nodes", std::to_string(arguments.wish.nodes)}));
  const auto script = realkube();
  fmt::print(
      "its API is reached from the network namespace that it has with the others:\n"
      "  {0} kubectl {1} get nodes\n"
      "  {0} run -- bash\n"
      "  spillway cluster down {1} --real\n",
      *script, arguments.wish.name);
  return {};
}

int list() {
  Table table({{"NAME"}, {"STATE"}, {"KUBECONFIG"}});
  for (const std::string& name : ClusterHome::all()) {
    const auto home = ClusterHome::of(name);
    if (!home) continue;
    table.add({name, home->process() ? "up" : "ended", home->kubeconfig()});
  }
  if (table.empty()) {
    fmt::print("no embedded clusters; start one: spillway cluster up NAME\n");
  } else {
    fmt::print("{}", table.text());
  }
  return k_ok;
}

void add_wish(Word word, EmbeddedWish& wish) {
  word.option("NAME", wish.name, "What it is called").required();
  word.option("--nodes", wish.nodes, "How many nodes it has").in_range(0, 1000).show_default();
  word.option("--cpu", wish.cpu, "Of each node").type_name("QUANTITY").show_default();
  word.option("--memory", wish.memory, "Of each node").type_name("QUANTITY").show_default();
  word.option("--port", wish.port, "Of its API (default: any that is free)").in_range(0, 65535);
}

int told(const Status& status) { return status ? k_ok : failed("cluster", status.error()); }

}  // namespace

void add_cluster(Word verb) {
  auto arguments = std::make_shared<ClusterArguments>();
  verb.examples(
      "  spillway cluster up edge --nodes 3 --cpu 8\n"
      "  spillway cluster list\n"
      "  spillway cluster up big --real\n"
      "  spillway cluster down edge\n");
  Word up_word = verb.add("up", "Start one in the background");
  add_wish(up_word, arguments->wish);
  const Setting embedded = up_word.flag("--embedded", arguments->is_embedded,
                                        "In a process of this program, in milliseconds (default)");
  up_word.flag("--real", arguments->is_real, "Real Kubernetes; needs root, and a source tree")
      .excludes(embedded);
  up_word.run([arguments] { return told(up(*arguments)); });

  Word run_word = verb.add("run", "Be an embedded one, until told to stop");
  add_wish(run_word, arguments->wish);
  run_word.option("--kubeconfig", arguments->wish.kubeconfig, "Where its kubeconfig goes")
      .type_name("FILE")
      .required();
  run_word.run([arguments] { return told(run_embedded(arguments->wish)); });

  Word down_word = verb.add("down", "End one and forget it");
  down_word.option("NAME", arguments->wish.name, "Which one").required();
  down_word.flag("--real", arguments->is_real, "A real one");
  down_word.run([arguments] {
    return told(arguments->is_real ? run_realkube({"down", arguments->wish.name})
                                   : down_embedded(arguments->wish.name));
  });

  verb.add("list", "The embedded ones that were started").run([] { return list(); });
  verb.require_word();
}

}  // namespace spillway::cli
