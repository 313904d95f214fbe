// A stock kubectl on an embedded cluster, over TLS on loopback: get, get -w, cordon, label, delete.
#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "support/embedded_server.h"
#include "support/temporary_folder.h"

namespace spillway::test {
namespace {

struct Ran {
  int code = -1;
  std::string text;  // stdout and stderr
};

Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer{};
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    ran.text.append(buffer.data(), n);
  }
  const int status = ::pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

// Until a line contains that; false: the output ended first.
bool reads(FILE* pipe, std::string_view wanted) {
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr) {
    if (std::string_view(line.data()).find(wanted) != std::string_view::npos) return true;
  }
  return false;
}

class EmbeddedKubectl : public testing::Test {
 protected:
  void SetUp() override {
    if (run("command -v kubectl").code != 0) GTEST_SKIP() << "kubectl is not installed";
    std::ofstream(config()) << server.kubeconfig();
  }
  std::string config() const { return (folder.path() / "config").string(); }
  std::string command(const std::string& words) const {
    return "HOME=" + folder.path().string() + " timeout 30 kubectl --kubeconfig " + config() + " " +
           words;
  }
  Ran kubectl(const std::string& words) { return run(command(words)); }
  void make_pod(const std::string& name) {
    std::ofstream(folder.path() / "pod.yaml")
        << "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " << name
        << "\n  labels: {app: web}\nspec:\n  containers:\n  - {name: c, image: app}\n";
    const Ran made = kubectl("create -f " + (folder.path() / "pod.yaml").string());
    EXPECT_EQ(made.code, 0) << made.text;
  }

  TemporaryFolder folder;
  EmbeddedServer server{2};
};

TEST_F(EmbeddedKubectl, GetsNodesAndPodsInColumns) {
  make_pod("web");
  const Ran nodes = kubectl("get nodes");
  EXPECT_EQ(nodes.code, 0);
  EXPECT_NE(nodes.text.find("NAME     STATUS   ROLES    AGE"), std::string::npos) << nodes.text;
  EXPECT_NE(nodes.text.find("node-1   Ready"), std::string::npos) << nodes.text;
  EXPECT_EQ(kubectl("wait --for=condition=Ready pod/web --timeout=20s").code, 0);
  const Ran pods = kubectl("get pods -o wide");
  EXPECT_NE(pods.text.find("1/1     Running"), std::string::npos) << pods.text;
}

TEST_F(EmbeddedKubectl, WatchesPods) {
  make_pod("web");
  EXPECT_EQ(kubectl("wait --for=condition=Ready pod/web --timeout=20s").code, 0);
  FILE* watch = ::popen(command("get pods -w").c_str(), "r");
  ASSERT_NE(watch, nullptr);
  EXPECT_TRUE(reads(watch, "web    1/1     Running"));
  EXPECT_EQ(kubectl("delete pod web --wait=false").code, 0);
  EXPECT_TRUE(reads(watch, "web    1/1     Terminating"));
  // The end of its stream is the end of kubectl.
  server.on_loop([this] {
    server.cluster->restart(milliseconds(1));
    return true;
  });
  ::pclose(watch);
}

TEST_F(EmbeddedKubectl, CordonsAndUncordonsNodes) {
  EXPECT_EQ(kubectl("cordon node-1").code, 0);
  const Ran nodes = kubectl("get nodes");
  EXPECT_NE(nodes.text.find("node-1   Ready,SchedulingDisabled"), std::string::npos) << nodes.text;
  EXPECT_EQ(kubectl("uncordon node-1").code, 0);
  EXPECT_EQ(kubectl("get nodes").text.find("SchedulingDisabled"), std::string::npos);
}

TEST_F(EmbeddedKubectl, AppliesOnTheServer) {
  std::ofstream(folder.path() / "map.yaml")
      << "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: \"1\"}\n";
  const std::string words = "apply --server-side -f " + (folder.path() / "map.yaml").string();
  const Ran applied = kubectl(words);
  EXPECT_EQ(applied.text, "configmap/m serverside-applied\n");
  EXPECT_EQ(kubectl("get configmap m -o jsonpath={.data.a}").text, "1");
}

TEST_F(EmbeddedKubectl, DeletesPodsAndWaitsForIt) {
  make_pod("web");
  const Ran gone = kubectl("delete pod web");
  EXPECT_EQ(gone.code, 0) << gone.text;
  const Ran after = kubectl("get pod web");
  EXPECT_NE(after.text.find("Error from server (NotFound): pods \"web\" not found"),
            std::string::npos)
      << after.text;
}

}  // namespace
}  // namespace spillway::test
