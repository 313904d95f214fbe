// Pins of a member that lives in its cluster, by the command line: a real agent there, that reads
// them.
#include <fstream>

#include "integration/cli/federation.h"
#include "live/live_cluster.h"
#include "support/text.h"

namespace spillway::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ClusterTrust : public Federation {
 protected:
  ClusterTrust() : cluster(folder / "kubeconfig") {}

  void SetUp() override {
    Federation::SetUp();
    const Ended token =
        run_spillway("token create --cluster turin --roles provider -o plain" + ada());
    ASSERT_EQ(token.code, 0) << token.err;
    ASSERT_TRUE(pki::write_private(folder / "token", token.out));
    agent = std::make_unique<Running>(
        std::vector<std::string>{"agent", "--in-cluster", "edge", "--kubeconfig",
                                 folder / "kubeconfig", "--join", url(), "--token-file",
                                 folder / "token"},
        folder / "agent.out", folder / "agent.err");
  }
  std::string there(const std::string& name = "edge") const {
    return " --in-cluster " + name + " --kubeconfig '" + (folder / "kubeconfig") + "'";
  }

  test::LiveCluster cluster;
  std::unique_ptr<Running> agent;
};

TEST_F(ClusterTrust, IsShownAndChangedAsThatOfAFolder) {
  const Ended own = run_until("trust show" + there(),
                              [](const Ended& ended) { return test::has(ended.out, "number 1"); });
  ASSERT_THAT(own.out, AllOf(HasSubstr("turin"), HasSubstr("number 1")))
      << own.err << text_of(folder / "agent.err");
  const std::string key(64, 'a');
  EXPECT_EQ(run_spillway("trust policy -o plain" + there()).out, "yes\n");
  EXPECT_EQ(run_spillway("trust policy --first-use no" + there()).code, 0);
  EXPECT_EQ(run_spillway("trust policy -o plain" + there()).out, "no\n");
  EXPECT_EQ(run_spillway("trust add lyon " + key + there()).code, 0);
  EXPECT_THAT(run_spillway("trust list" + there()).out,
              AllOf(HasSubstr("lyon"), HasSubstr("given"), HasSubstr(key)));
  EXPECT_THAT(run_spillway("trust show" + there()).out, HasSubstr("number 1")) << "the card stays";
  EXPECT_EQ(run_spillway("trust remove lyon" + there()).code, 0);
  EXPECT_EQ(run_spillway("trust remove lyon" + there()).code, 1);
}

TEST_F(ClusterTrust, AMistypedNameGetsNoPins) {
  const Ended told = run_spillway("trust add lyon " + std::string(64, 'a') + there("egde"));
  EXPECT_EQ(told.code, 1);
  EXPECT_THAT(told.err, AllOf(HasSubstr("egde-identity"), HasSubstr("--namespace")));
  EXPECT_EQ(run_spillway("trust list" + there() + dir("lyon")).code, 2);
  EXPECT_EQ(run_spillway("trust list --namespace default").code, 2);
}

}  // namespace
}  // namespace spillway::cli
