// spillway cluster: embedded clusters as processes, and real ones behind a realkube that is played
// by a script, so that neither root nor programs are needed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/waiting.h"
#include "integration/cli/program.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
namespace fs = std::filesystem;

// Knows the clusters whose names are files in real/; fails while there is a file `broken`.
constexpr const char* k_realkube = R"sh(#!/bin/sh
cd "$(dirname "$0")" && mkdir -p real && echo "$@" >>calls
case $1 in
  status) # --json
    printf '[' && comma=
    for name in $(ls real); do
      printf '%s{"name":"%s","condition":"%s","kubeconfig":"/state/%s/admin"}' \
        "$comma" "$name" "$(cat "real/$name")" "$name"
      comma=,
    done
    echo ']' ;;
  up)
    echo "realkube: building" >&2
    [ ! -e broken ] || { echo "realkube: network namespaces need root" >&2; exit 1; }
    echo up >"real/$2"
    echo "realkube: $2 up in 9.9 s" >&2 ;;
  down) rm -f "real/$2" && echo "realkube: $2 stopped" >&2 ;;
esac
)sh";

class ClusterVerb : public testing::Test {
 protected:
  ClusterVerb() {
    std::ofstream(folder_ / "realkube") << k_realkube;
    ::chmod((folder_ / "realkube").c_str(), 0700);
    ::setenv("SPILLWAY_CLUSTERS", (folder_ / "clusters").c_str(), 1);
    ::setenv("SPILLWAY_REALKUBE", (folder_ / "realkube").c_str(), 1);
  }
  ~ClusterVerb() override {
    for (const std::string name : {"edge", "other"}) run_spillway("cluster down " + name);
    ::unsetenv("SPILLWAY_CLUSTERS");
    ::unsetenv("SPILLWAY_REALKUBE");
  }
  std::string calls() const { return text_of(folder_ / "calls"); }
  bool has_left(const std::string& name) const {
    return fs::exists(folder_ / ("clusters/" + name));
  }

  // Processes of embedded clusters, by what only ours have on their command lines.
  int clusters_running() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string line = text_of(entry.path() / "cmdline");
      const bool is_cluster = line.find(std::string("cluster\0run", 11)) != std::string::npos;
      if (is_cluster && line.find(folder_ / "clusters") != std::string::npos) ++count;
    }
    return count;
  }
  static void wait_for(int ms, const std::function<bool()>& is_so) {
    (void)wait_until(std::chrono::milliseconds(ms), std::chrono::milliseconds(10),
                     [&is_so] { return Result<bool>(is_so()); });
  }

  test::TemporaryFolder folder_;
};

TEST_F(ClusterVerb, RefusesAmountsThatNoNodeHasAndChangesNothing) {
  for (const std::string kind : {"", " --real"}) {
    for (const std::string wrong :
         {"--cpu banana", "--cpu=-3", "--cpu 0", "--cpu 1u", "--memory=-1Gi", "--memory 16GB",
          "--memory 0", "--memory 9E"}) {
      const Ended ended = run_spillway(fmt::format("cluster up edge {}{}", wrong, kind));
      EXPECT_EQ(ended.code, 2) << wrong << kind;
      EXPECT_THAT(ended.err, HasSubstr("spillway cluster: " + wrong.substr(0, 5))) << wrong;
      EXPECT_THAT(ended.err, HasSubstr("; ")) << "no next step";
      EXPECT_FALSE(has_left("edge"));
    }
  }
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(ClusterVerb, SaysWhyOneDoesNotComeUpAndLeavesNothing) {
  ASSERT_EQ(run_spillway("cluster up edge").code, 0);
  const std::string kubeconfig = text_of(folder_ / "clusters/edge/kubeconfig");
  const size_t host = kubeconfig.find("https://127.0.0.1:");
  ASSERT_NE(host, std::string::npos);
  const std::string port = std::to_string(std::stoi(kubeconfig.substr(host + 18)));
  const Ended ended = run_spillway("cluster up other --port " + port);
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cluster other: address 127.0.0.1:" + port));
  EXPECT_THAT(ended.err, HasSubstr("in use; choose another"));
  EXPECT_FALSE(has_left("other"));
}

TEST_F(ClusterVerb, CanEndWhatAKilledUpLeftRunning) {
  for (int ms = 1; ms <= 12; ++ms) {
    const std::string killed =
        fmt::format("timeout -s KILL 0.{:03} '{}' cluster up edge >'{}' 2>&1", ms,
                    spillway_binary(), folder_ / "out");
    ASSERT_NE(std::system(killed.c_str()), -1);
    wait_for(200, [this] { return !has_left("edge") || clusters_running() > 0; });
    const bool is_left = clusters_running() > 0;
    if (is_left) {
      EXPECT_THAT(run_spillway("cluster list").out, testing::ContainsRegex("edge +embedded +up"));
      EXPECT_THAT(run_spillway("cluster up edge").err, HasSubstr("it is up"));
    }
    run_spillway("cluster down edge");
    EXPECT_EQ(clusters_running(), 0) << "killed after " << ms << " ms";
  }
}

TEST_F(ClusterVerb, EndsOneWhoseFolderIsGone) {
  ASSERT_EQ(run_spillway("cluster up edge").code, 0);
  ASSERT_EQ(clusters_running(), 1);
  fs::remove_all(fs::path(folder_ / "clusters/edge"));
  wait_for(10'000, [this] { return clusters_running() == 0; });
  EXPECT_EQ(clusters_running(), 0);
}

TEST_F(ClusterVerb, GivesARealOneWhatAnEmbeddedOneHas) {
  const Ended up = run_spillway("cluster up big --real --nodes 3 --cpu 16 --memory 64Gi");
  EXPECT_EQ(up.code, 0) << up.err;
  EXPECT_THAT(calls(), HasSubstr("up big --nodes 3 --cpu 16 --memory 64Gi\n"));
  EXPECT_THAT(up.err, HasSubstr("realkube: building\n"));
  EXPECT_THAT(up.out, HasSubstr("/state/big/admin"));
  EXPECT_THAT(up.out, HasSubstr("kubectl big get nodes"));
  EXPECT_THAT(up.out, HasSubstr("spillway cluster down big --real"));

  const Ended again = run_spillway("cluster up big --real");
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("cluster big: it is up; use it with --kubeconfig /state/big"));
  EXPECT_THAT(again.err, HasSubstr("spillway cluster down big --real"));

  ASSERT_EQ(run_spillway("cluster up edge").code, 0);
  const Ended list = run_spillway("cluster list");
  EXPECT_THAT(list.out, testing::ContainsRegex("edge +embedded +up +.*clusters/edge/kubeconfig"));
  EXPECT_THAT(list.out, testing::ContainsRegex("big +real +up +/state/big/admin"));

  EXPECT_EQ(run_spillway("cluster down big --real").code, 0);
  EXPECT_THAT(run_spillway("cluster list").out, Not(HasSubstr("big")));
}

TEST_F(ClusterVerb, RefusesAPortForARealOne) {
  const Ended ended = run_spillway("cluster up big --real --port 6443");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("--port: "));
  EXPECT_THAT(ended.err, HasSubstr("leave it out"));
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(ClusterVerb, DoesNotStartOverARealOneThatIsNotWell) {
  fs::create_directories(folder_ / "real");
  std::ofstream(folder_ / "real/big") << "without kwok";
  const Ended up = run_spillway("cluster up big --real");
  EXPECT_EQ(up.code, 1);
  EXPECT_THAT(up.err, HasSubstr("without kwok; end it first: spillway cluster down big --real"));
}

TEST_F(ClusterVerb, NamesWhatIsNotThereToBeEnded) {
  for (const std::string kind : {"", " --real"}) {
    const Ended ended = run_spillway("cluster down nosuch" + kind);
    EXPECT_EQ(ended.code, 1) << kind;
    EXPECT_THAT(ended.err, HasSubstr("cluster nosuch: there is no "));
    EXPECT_THAT(ended.err, HasSubstr("of that name; see which there are: spillway cluster list"));
  }
  ASSERT_EQ(run_spillway("cluster up big --real").code, 0);
  EXPECT_THAT(run_spillway("cluster down big").err, HasSubstr("spillway cluster down big --real"));
}

TEST_F(ClusterVerb, DoesNotTakeAFileForAFolderWithoutClusters) {
  ::setenv("SPILLWAY_CLUSTERS", (folder_ / "realkube").c_str(), 1);
  for (const std::string words : {"list", "up edge", "down edge"}) {
    const Ended ended = run_spillway("cluster " + words);
    EXPECT_EQ(ended.code, 1) << words;
    EXPECT_THAT(ended.err, HasSubstr("realkube")) << words;
    EXPECT_THAT(ended.err, HasSubstr("Not a directory")) << words;
  }
}

TEST_F(ClusterVerb, SaysThatThereIsNoRoomForWhatItWouldWrite) {
  // No file may grow, as on a disk that is full: not even the log with the reason.
  const std::string full =
      fmt::format("(ulimit -f 0; trap '' XFSZ; exec '{}' cluster up edge 2>&1) | cat >'{}'",
                  spillway_binary(), folder_ / "out");
  ASSERT_EQ(std::system(full.c_str()), 0);
  EXPECT_THAT(text_of(folder_ / "out"), HasSubstr("File too large; check the disk"));
  EXPECT_FALSE(has_left("edge"));
}

TEST_F(ClusterVerb, SaysInOneErrorWhyRealkubeFailed) {
  std::ofstream(folder_ / "broken") << "yes";
  const Ended ended = run_spillway("cluster up big --real");
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err,
            "realkube: building\n"
            "spillway cluster: cluster big: network namespaces need root; docs/realkube.md says "
            "what it needs and where its logs are\n");
}

}  // namespace
}  // namespace spillway::cli
