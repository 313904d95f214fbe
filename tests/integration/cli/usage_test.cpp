// What is said to those who call it wrongly, and to their shells.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/cli/program.h"
#include "support/temporary_folder.h"

namespace spillway::cli {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;
using testing::Not;

TEST(Usage, TokensInTheWrongPlaceAreNotRepeated) {
  const Ended outcome = run_spillway("join https://127.0.0.1:1 swt1.SECRET.00ff");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("SECRET")));
}

TEST(Usage, WithoutAnIdentityThereIsANextStep) {
  const Ended outcome = run_spillway("pools --dir /nonexistent");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("spillway join"));
}

TEST(Usage, CompletionIsGoodShell) {
  const TemporaryFolder folder;
  std::ofstream(folder / "c.bash") << run_spillway("completion bash").out;
  EXPECT_EQ(std::system(("bash -n '" + (folder / "c.bash") + "'").c_str()), 0);
  const std::string complete = "bash -c '. " + (folder / "c.bash") +
                               "; COMP_WORDS=(spillway token cr); COMP_CWORD=2; _spillway; "
                               "test \"${COMPREPLY[*]}\" = create'";
  EXPECT_EQ(std::system(complete.c_str()), 0);
  EXPECT_EQ(run_spillway("completion tcsh").code, 2);
}

}  // namespace
}  // namespace spillway::cli
