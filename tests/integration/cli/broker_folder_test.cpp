// The broker's folder: made once, completed when broken off, its authority backed up and rotated.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "integration/cli/federation.h"
#include "support/temporary_folder.h"

namespace spillway::cli {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(Federation, InitIsDoneOnce) {
  EXPECT_EQ(run_spillway(init_line() + " --if-missing").code, 0);
  const Ended again = run_spillway(init_line());
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("set up here already"), HasSubstr("spillway broker --data")));
  struct stat status {};
  ASSERT_EQ(::stat(data().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat((data() + "/operator/key.pem").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(Federation, TheAuthorityIsBackedUpRotatedAndRestored) {
  const std::string in = " --data '" + data() + "'";
  std::ofstream(folder / "pass") << "correct horse battery\n";
  const std::string pass = " --passphrase-file '" + (folder / "pass") + "'";
  const std::string file = " '" + (folder / "backup") + "'";
  EXPECT_EQ(run_spillway("broker authority backup --out" + file + pass + in).code, 0);
  EXPECT_EQ(run_spillway("broker authority backup --out" + file + pass + in).code, 1);
  const Ended restored = run_spillway("broker authority restore --from" + file + pass +
                                      " --data '" + (folder / "b2") + "'");
  EXPECT_EQ(restored.code, 0) << restored.err;
  EXPECT_EQ(run_spillway("broker authority status --data '" + (folder / "b2") + "'").out,
            run_spillway("broker authority status" + in).out);
  EXPECT_EQ(run_spillway("broker authority rotate finish" + in).code, 1);
  for (const char* step : {"begin", "finish"}) {
    EXPECT_EQ(run_spillway(std::string("broker authority rotate ") + step + in).code, 0) << step;
    broker->signal(SIGHUP);
    ASSERT_TRUE(
        broker->says(std::string(step) == "begin" ? "begun" : "finished", folder / "broker.err"));
    EXPECT_EQ(run_spillway("renew" + ada()).code, 0) << step;
    EXPECT_EQ(run_spillway("whoami" + ada()).code, 0) << step;
  }
  EXPECT_EQ(run_spillway("broker authority rotate retire" + in).code, 0);
  EXPECT_THAT(run_spillway("broker authority status" + in).out, HasSubstr("steady"));
}

TEST(BrokerInit, IsCompletedWhenItWasBrokenOff) {
  const TemporaryFolder folder;
  const std::string line = "broker init --data '" + (folder / "b") + "' --federation lab";
  ASSERT_EQ(run_spillway(line).code, 0);
  const std::string key = text_of(folder / "b/operator/key.pem");
  for (const char* lost :
       {"b/broker.yaml", "b/operator/member.json", "b/operator/certificate.pem"}) {
    std::filesystem::remove(folder / "b/broker.yaml");  // the last thing that is written
    std::filesystem::remove(folder / "b/operator/member.json");
    std::filesystem::remove(folder / lost);
    const Ended again = run_spillway(line);
    EXPECT_EQ(again.code, 0) << lost << again.err;
  }
  EXPECT_EQ(text_of(folder / "b/operator/key.pem"), key);
  std::filesystem::remove(folder / "b/broker.yaml");
  EXPECT_EQ(run_spillway("broker init --data '" + (folder / "b") + "' --federation other").code, 1);
}

}  // namespace
}  // namespace spillway::cli
