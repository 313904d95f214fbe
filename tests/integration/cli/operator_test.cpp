// Whoever owns the broker's folder gets back in, whatever became of its operators.
#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/cli/federation.h"

namespace spillway::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LockedOut : public Federation {
 protected:
  std::string in() const { return " --data '" + data() + "'"; }

  // One step of a rotation, and the broker has taken it over.
  Ended rotate(const std::string& step, const std::string& phase) {
    Ended ended = run_spillway("broker authority rotate " + step + in());
    if (ended.code != 0) return ended;
    broker->signal(SIGHUP);
    EXPECT_TRUE(broker->says("\"phase\":\"" + phase + "\"", folder / "broker.err")) << step;
    return ended;
  }
  void rotate_at_once() {
    EXPECT_EQ(rotate("begin", "begun").code, 0);
    EXPECT_EQ(rotate("finish", "finished").code, 0);
    EXPECT_EQ(rotate("retire", "steady").code, 0);
  }

  void expect_operator(const std::string& name, const std::string& folder_of) {
    const Ended who =
        run_until("whoami" + dir(folder_of), [](const Ended& ended) { return ended.code == 0; });
    ASSERT_EQ(who.code, 0) << who.err;
    EXPECT_THAT(who.out, AllOf(HasSubstr(name), HasSubstr("operator")));
    EXPECT_EQ(run_spillway("token create --viewer wall" + dir(folder_of)).code, 0);
    EXPECT_EQ(run_spillway("renew" + dir(folder_of)).code, 0);
  }
};

TEST_F(LockedOut, TheFormerAuthorityIsNotRetiredUnderTheOperatorInTheFolder) {
  EXPECT_THAT(rotate("begin", "begun").out, HasSubstr("spillway renew"));
  EXPECT_EQ(rotate("finish", "finished").code, 0);
  const Ended refused = rotate("retire", "steady");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("ada"), HasSubstr("spillway broker operator --data")));
  const Ended made = run_spillway("broker operator" + in());
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(rotate("retire", "steady").code, 0);
  expect_operator("ada", "broker/operator");
}

TEST_F(LockedOut, AnOperatorElsewhereComesBackAfterARotationInOneGo) {
  std::filesystem::rename(data() + "/operator", folder / "ada");
  const std::string key = text_of(folder / "ada/key.pem");
  rotate_at_once();
  EXPECT_NE(run_spillway("whoami" + dir("ada")).code, 0);
  EXPECT_NE(run_spillway("renew" + dir("ada")).code, 0);
  const Ended made = run_spillway("broker operator" + in() + dir("ada"));
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(text_of(folder / "ada/key.pem"), key);
  expect_operator("ada", "ada");
  EXPECT_THAT(run_spillway("audit --after 0 -o json" + dir("ada")).out,
              AllOf(HasSubstr("broker-operator"), HasSubstr("in place of the former")));
}

TEST_F(LockedOut, ALostFolderIsMadeAnewAlsoWithoutABroker) {
  std::filesystem::rename(data() + "/operator", folder / "lost");
  EXPECT_EQ(broker->stop(SIGTERM), 0);
  ASSERT_EQ(run_spillway("broker operator --name ada" + in()).code, 0);
  start();
  expect_operator("ada", "broker/operator");
  EXPECT_NE(run_spillway("whoami" + dir("lost")).code, 0) << "the key that was lost is still good";
}

TEST_F(LockedOut, NobodyElsesIdentityIsWrittenOver) {
  join("lyon", "consumer");
  const std::string key = text_of(folder / "lyon/key.pem");
  const Ended cluster = run_spillway("broker operator" + in() + dir("lyon"));
  EXPECT_EQ(cluster.code, 1);
  EXPECT_THAT(cluster.err, AllOf(HasSubstr("lyon (consumer) in lab"), HasSubstr("--dir")));
  EXPECT_EQ(run_spillway("broker operator --name grace" + in()).code, 1);
  EXPECT_EQ(run_spillway("broker operator --name lyon" + in() + dir("grace")).code, 1);
  EXPECT_EQ(text_of(folder / "lyon/key.pem"), key);
  EXPECT_EQ(run_spillway("whoami" + dir("lyon")).code, 0);
  EXPECT_EQ(run_spillway("whoami" + ada()).code, 0);
  const Ended nowhere = run_spillway("broker operator --data '" + (folder / "lyon") + "'");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "lyon/market.db"));
}

}  // namespace
}  // namespace spillway::cli
