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

TEST(Usage, ANumberThatIsTooSmallIsRefusedInALine) {
  const Ended none = run_spillway("events --limit 0");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--limit: 0 must be greater than 0\n"));
  const Ended less = run_spillway("events --after -1");
  EXPECT_EQ(less.code, 2);
  EXPECT_THAT(less.err, HasSubstr("--after: -1 must be 0 or greater\n"));
  const Ended word = run_spillway("sim --seed seven");
  EXPECT_EQ(word.code, 2);
  EXPECT_THAT(word.err, HasSubstr("--seed: seven is no number\n"));
}

TEST(Usage, AnAgentsHomeIsInFoldersOrInTheCluster) {
  EXPECT_THAT(run_spillway("agent --in-cluster a --dir ./a").err, HasSubstr("leave --dir"));
  EXPECT_THAT(run_spillway("agent --in-cluster a --forget-state").err, HasSubstr("a-state"));
  EXPECT_THAT(run_spillway("agent --in-cluster a --join https://b:1").err, HasSubstr("give both"));
  EXPECT_THAT(run_spillway("agent --join https://b:1 --token-file t").err,
              HasSubstr("run spillway join first"));
  EXPECT_THAT(run_spillway("agent --in-cluster a --join b --token-file t").err, HasSubstr("https"));
}

TEST(Usage, AnAutoscalersHomeIsInFoldersOrInTheCluster) {
  EXPECT_THAT(run_spillway("autoscaler --in-cluster a --dir ./a").err, HasSubstr("leave --dir"));
  EXPECT_THAT(run_spillway("autoscaler --in-cluster a --token-file t").err, HasSubstr("give both"));
  const std::string liqo = "autoscaler --plaintext --backend liqo --in-cluster a";
  EXPECT_THAT(run_spillway(liqo).err, HasSubstr("--identity-of NAME"));
  EXPECT_THAT(run_spillway(liqo + " --identity-of a").err, HasSubstr("under one name"));
  EXPECT_THAT(run_spillway(liqo + " --identity-of b --join https://b:1 --token-file t").err,
              HasSubstr("joins by its agent"));
  EXPECT_THAT(run_spillway("autoscaler --plaintext --dir ./a --identity-of b").err,
              HasSubstr("goes with --in-cluster"));
  EXPECT_THAT(run_spillway("autoscaler --join https://b:1 --token-file t").err,
              HasSubstr("run spillway join first"));
  EXPECT_THAT(run_spillway("autoscaler --dir ./a --plaintext --unready-after soon").err,
              HasSubstr("--unready-after"));
}

TEST(Usage, AGuestNamespaceIsOneOfKubernetes) {
  const Ended space = run_spillway("fabric guard --namespace 'a: b' --buyer rome");
  EXPECT_EQ(space.code, 1);
  EXPECT_EQ(space.out, "");
  EXPECT_THAT(space.err, HasSubstr("--namespace: \"a: b\" is no name of one"));
  EXPECT_THAT(run_spillway("fabric guard --namespace a --buyer 'R'").err, HasSubstr("--buyer"));
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
