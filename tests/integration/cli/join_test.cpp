// Joining into a folder that is somebody's already, and what a folder's identity cannot do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/cli/federation.h"

namespace spillway::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Joining : public Federation {
 protected:
  std::string token_for(const std::string& name) {
    const Ended token =
        run_spillway("token create --roles consumer -o plain --cluster " + name + ada());
    EXPECT_EQ(token.code, 0) << token.err;
    return token.out;
  }
  Ended join_with(const std::string& token, const std::string& to, const std::string& more = {}) {
    return run_spillway("join " + url() + " --token-file -" + more + dir(to), token);
  }
};

TEST_F(Joining, AnotherIdentitysFolderDoesNotUseUpTheToken) {
  join("lyon", "consumer");
  const std::string token = token_for("nice");
  const Ended refused = join_with(token, "lyon");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("identity of lyon"), HasSubstr("--dir")));
  const Ended joined = join_with(token, "nice");
  EXPECT_EQ(joined.code, 0) << joined.err;
  EXPECT_EQ(run_spillway("whoami -o plain" + dir("lyon")).out, "lyon\n");
  EXPECT_EQ(run_spillway("whoami -o plain" + dir("nice")).out, "nice\n");
}

TEST_F(Joining, WhoWasRevokedJoinsOnceMore) {
  join("lyon", "consumer");
  ASSERT_EQ(run_spillway("identities revoke lyon" + ada()).code, 0);
  const std::string token = token_for("lyon");
  const Ended refused = join_with(token, "lyon");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--again"));
  EXPECT_EQ(join_with(token, "lyon", " --again").code, 0);
  EXPECT_EQ(run_spillway("whoami" + dir("lyon")).code, 0);
  EXPECT_EQ(join_with(token, "lyon").code, 0) << "the same join once more is no other one";
}

TEST_F(Joining, AnAgentIsForAClusterOnly) {
  const Ended agent = run_spillway("agent" + ada());
  EXPECT_EQ(agent.code, 1);
  EXPECT_THAT(agent.err, AllOf(HasSubstr("ada (operator)"), HasSubstr("--dir")));
}

}  // namespace
}  // namespace spillway::cli
