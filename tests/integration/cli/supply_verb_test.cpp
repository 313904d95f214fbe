// spillway supply against clusters that are not there, or cannot be asked.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "integration/cli/program.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;

class SupplyVerb : public testing::Test {
 protected:
  // Of a server where nobody listens.
  std::string kubeconfig(const std::string& cluster, const std::string& user) const {
    const std::string path = folder_ / "kubeconfig";
    std::ofstream(path) << fmt::format(
        "current-context: c\n"
        "contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n"
        "clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{}', {}}}}}]\n"
        "users: [{{name: u, user: {{{}}}}}]\n",
        free_port(), cluster, user);
    return path;
  }
  static std::string supply(const std::string& kubeconfig) {
    return "supply --policy examples/agent-policy.yaml --kubeconfig '" + kubeconfig + "'";
  }

  test::TemporaryFolder folder_;
  const std::string authority_ = "certificate-authority: /etc/ssl/certs/ca-certificates.crt";
};

TEST_F(SupplyVerb, SaysWhatItWaitsForAndGivesUp) {
  const auto begun = std::chrono::steady_clock::now();
  const Ended ended = run_spillway(supply(kubeconfig(authority_, "token: a")));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("spillway: trying again: "));
  EXPECT_THAT(ended.err, HasSubstr("refused"));
  EXPECT_THAT(ended.err, HasSubstr("spillway supply: "));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 2) << ended.err;
}

TEST_F(SupplyVerb, EndsThePluginWhenItIsInterrupted) {
  const std::string child = folder_ / "child";
  const std::string config = kubeconfig(
      authority_, fmt::format("exec: {{command: sh, args: [-c, 'echo $$ >{0}.new; mv {0}.new {0}; "
                              "sleep 300'], apiVersion: client.authentication.k8s.io/v1}}",
                              child));
  for (const int signal : {SIGINT, SIGTERM}) {
    std::filesystem::remove(child);
    Running running({"supply", "--policy", "examples/agent-policy.yaml", "--kubeconfig", config},
                    folder_ / "out", folder_ / "err");
    ASSERT_TRUE(running.says("\n", child));
    pid_t plugin = 0;
    ASSERT_TRUE(std::ifstream(child) >> plugin);
    EXPECT_EQ(running.stop(signal), 256) << "it ends by the signal";
    EXPECT_TRUE(ends(plugin, std::chrono::seconds(10)));
  }
}

TEST_F(SupplyVerb, NamesTheFileThatIsNoAuthority) {
  const std::string file = folder_ / "ca.crt";
  std::ofstream(file) << "garbage";
  const Ended ended =
      run_spillway(supply(kubeconfig("certificate-authority: " + file, "token: a")));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("certificate-authority " + file + ": there is no PEM"));
  EXPECT_THAT(ended.err, HasSubstr("; give the certificate of the API server's authority"));
}

}  // namespace
}  // namespace spillway::cli
