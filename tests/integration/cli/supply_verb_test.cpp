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

}  // namespace
}  // namespace spillway::cli
