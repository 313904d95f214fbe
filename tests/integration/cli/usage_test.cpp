// What is said to those who call it wrongly, and to their shells.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
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

TEST(Usage, WhatAGuestNamespaceNeedsIsPrintedOfWhatCanBeMeant) {
  const auto asked = [](const std::string& space, const std::string& amounts) {
    return run_spillway(fmt::format("fabric guard --namespace {} --buyer rome {}", space, amounts));
  };
  const std::string whole = "--pods 20 --cpu 2 --memory 4Gi";
  const Ended right = asked("sw4-rome-shop", whole + " --tolerable example.com/spot,batch");
  EXPECT_EQ(right.code, 0) << right.err;
  EXPECT_THAT(right.out, HasSubstr("spillway.dev/tolerable: \"example.com/spot,batch\""));
  const auto refused = [&](const std::string& space, const std::string& amounts,
                           const std::string& reason) {
    const Ended ended = asked(space, amounts);
    EXPECT_EQ(ended.code, 1) << space << " " << amounts;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr(reason));
  };
  refused("sw4-rome-shop", "", "--pods: ");
  refused("sw4-rome-shop", "--pods 0 --cpu 2 --memory 4Gi", "--pods: ");
  refused("sw4-rome-shop", "--pods 20 --memory 4Gi", "--cpu: ");
  refused("sw4-rome-shop", "--pods 20 --cpu -1 --memory 4Gi", "--cpu: ");
  refused("sw4-rome-shop", "--pods 20 --cpu 2", "--memory: ");
  refused("sw4-rome-shop", whole + " --tolerable 'a,,b c'", "--tolerable: \"b c\" is no key");
  for (const char* space : {"kube-system", "sw4-rome", "sw4-rome--a", "sw5-milan-shop"}) {
    refused(space, whole, "is no guest namespace of rome; those are called sw4-rome-NAME");
  }
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
