// Plugins that make tokens: run as rarely as can be, ended with their children, named when they
// fail.
#include <algorithm>
#include <chrono>
#include <fstream>

#include <sys/stat.h>

#include "integration/cli/program.h"
#include "integration/kube/client_fixture.h"

namespace spillway::kube {
namespace {

using test::has;

class ClientPlugins : public ClientTest {
 protected:
  std::string script(const std::string& text) const {
    const std::string path = folder_ / "plugin";
    std::ofstream(path) << "#!/bin/sh\n" << text;
    ::chmod(path.c_str(), 0700);
    return path;
  }
  Access by_plugin(const std::string& path) const {
    Access access = without_identity();
    access.plugin = ExecPlugin{path, {"get-token"}, {{"GREETING", "hello"}}};
    access.plugin->hint = "install the plugin";
    return access;
  }
};

TEST_F(ClientPlugins, APluginIsRunOnceForAsLongAsItsTokenLasts) {
  const std::string runs = folder_ / "runs";
  open(by_plugin(script(fmt::format(
      R"(echo "$1 $GREETING $KUBERNETES_EXEC_INFO" >>'{}'
         echo '{{"kind":"ExecCredential","status":{{"token":"{}","expirationTimestamp":"2099-01-01T00:00:00Z"}}}}'
      )",
      runs, token()))));
  for (int i = 0; i < 5; ++i) {
    const Status told = look();
    ASSERT_TRUE(told) << told.error().message();
  }
  std::ifstream file(runs);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_TRUE(has(line, "get-token hello {")) << line;
  EXPECT_FALSE(std::getline(file, line)) << "it ran again";
}

TEST_F(ClientPlugins, APluginWhoseTokenHasExpiredIsRunAgain) {
  const std::string runs = folder_ / "runs";
  open(by_plugin(script(fmt::format(
      R"(echo run >>'{}'
         echo '{{"status":{{"token":"{}","expirationTimestamp":"2001-01-01T00:00:00Z"}}}}'
      )",
      runs, token()))));
  EXPECT_TRUE(look());
  EXPECT_TRUE(look());
  std::ifstream file(runs);
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(file), {}, '\n'), 2);
}

TEST_F(ClientPlugins, APluginThatFailsIsNamedWithItsHint) {
  open(by_plugin(folder_ / "there-is-none"));
  Status told = look();
  ASSERT_FALSE(told);
  EXPECT_TRUE(has(told.error().message(), "install the plugin")) << told.error().message();
  for (const std::string text : {"exit 1\n", "echo nonsense\n", "echo '{\"status\":{}}'\n"}) {
    open(by_plugin(script(text)));
    told = look();
    ASSERT_FALSE(told) << text;
    EXPECT_TRUE(has(told.error().message(), "plugin")) << told.error().message();
  }
}

TEST_F(ClientPlugins, WhatAPluginComplainsAboutIsInTheErrorAndWhatItPrintsIsNowhere) {
  const std::string secret(100, 's');
  open(
      by_plugin(script(fmt::format("echo {0}\n"
                                   "printf 'first\\nsign in \\033[31magain, not with {0}\\n' >&2\n"
                                   "exit 1\n",
                                   secret))));
  testing::internal::CaptureStderr();
  const Status told = look();
  const std::string raw = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(told);
  const std::string message = told.error().message();
  EXPECT_TRUE(has(message, "first / sign in ?[31magain, not with ...")) << message;
  EXPECT_FALSE(has(message, secret)) << message;
  EXPECT_EQ(raw, "");
}

TEST_F(ClientPlugins, APluginThatDoesNotEndIsEndedWithItsChildren) {
  Access access =
      by_plugin(script(fmt::format("sleep 300 &\n"
                                   "echo $! >'{0}.new'\n"
                                   "mv '{0}.new' '{0}'\n"
                                   "echo waiting >&2\n"
                                   "wait\n",
                                   folder_ / "child")));
  access.plugin->patience = seconds(2);
  open(access);
  const Status told = look();
  ASSERT_FALSE(told);
  EXPECT_TRUE(has(told.error().message(), "it has not ended after 2s")) << told.error().message();
  EXPECT_TRUE(has(told.error().message(), "waiting")) << told.error().message();
  pid_t child = 0;
  ASSERT_TRUE(std::ifstream(folder_ / "child") >> child);
  EXPECT_TRUE(cli::ends(child, std::chrono::seconds(10)));
}

TEST_F(ClientPlugins, APluginsChildrenAreNotWaitedForWhenItHasEnded) {
  open(by_plugin(
      script(fmt::format("sleep 300 &\n"
                         "echo $! >'{}'\n"
                         "echo '{{\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"{}\"}}}}'\n",
                         folder_ / "child", token()))));
  const auto begun = std::chrono::steady_clock::now();
  const Status told = look();
  EXPECT_TRUE(told) << told.error().message();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  pid_t child = 0;
  ASSERT_TRUE(std::ifstream(folder_ / "child") >> child);
  EXPECT_TRUE(cli::ends(child, std::chrono::seconds(10)));
}

}  // namespace
}  // namespace spillway::kube
