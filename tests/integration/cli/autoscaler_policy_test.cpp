// The recommender in a running autoscaler: its policy from a file, the expander's own port, events
// in the cluster and spillway explain.
#include <fstream>

#include <gmock/gmock.h>

#include "cluster_autoscaler/expander.h"
#include "cluster_autoscaler/protobuf.h"
#include "integration/cli/live_autoscaler.h"

namespace spillway::cli {
namespace {

using cluster_autoscaler::ProtoWriter;
using testing::HasSubstr;

class AutoscalerPolicy : public LiveAutoscaler {
 protected:
  void start_with(const std::string& yaml) {
    write_policy(yaml);
    start(4, more());
  }
  std::vector<std::string> more() const {
    return {"--backend",   "embedded", "--expander-listen",
            "127.0.0.1:0", "--policy", folder_ / "policy.yaml"};
  }
  // In one step, as editors do.
  void write_policy(const std::string& yaml) const {
    std::ofstream(folder_ / "next") << "noun: recommender-policy\nversion: 1\ncurrency: EUR\n"
                                    << yaml;
    std::filesystem::rename(folder_ / "next", folder_ / "policy.yaml");
  }
  net::GrpcAnswer best_option() const {
    cluster_autoscaler::PodAsk pod;
    pod.space = "default";
    pod.name = "web-1";
    pod.uid = "u-1";
    ProtoWriter option;
    option.text(1, k_small).integer(2, 1).text(5, cluster_autoscaler::marshal_pod(pod));
    return StraightCalls(process_->expander_options())
        .call(std::string(cluster_autoscaler::k_expander_call),
              ProtoWriter().message(1, option).take());
  }
  Ended explain(const std::string& name) const {
    return run_spillway("explain " + name + " " + process_->client_flags());
  }
  bool shows_nothing() { return cloud_.groups().value().empty(); }
  std::string reasons_of_events() {
    return home_.thread().ask<std::string>([&](auto then) {
      auto text = std::make_shared<std::string>();
      home_.api().list(
          kube::k_events, {},
          [text](const kube::ListPage& page) {
            for (const kube::Object& event : page.items) {
              *text += std::string(model::text_at(event, {"reason"})) + ": " +
                       std::string(model::text_at(event, {"message"})) + "\n";
            }
          },
          [text, then](const auto&) { then(*text); });
    });
  }
};

TEST_F(AutoscalerPolicy, AnswersTheExpanderAndTellsWhyThereAndInTheCluster) {
  start_with("profile: cheapest\n");
  const net::GrpcAnswer answer = best_option();
  ASSERT_EQ(answer.code, GrpcCode::ok) << answer.reason;
  EXPECT_THAT(answer.message, HasSubstr("seller/small"));
  const Ended why = explain("default/web-1");
  EXPECT_EQ(why.code, 0) << why.err;
  EXPECT_THAT(why.out, HasSubstr("seller/small chosen for 1 pods"));
  EXPECT_TRUE(comes([this] { return !reasons_of_events().empty(); }));
  EXPECT_THAT(reasons_of_events(), HasSubstr("SpillwayChose: seller/small, 1 unit; "));
  const Ended nobody = explain("default/nobody");
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("knows no node, pod or group of this name"));
}

TEST_F(AutoscalerPolicy, TakesAnEditAndKeepsTheLastGoodOne) {
  start_with("");
  write_policy("caps: {monney: {day: 1}}\n");
  ASSERT_TRUE(process_->says("policy not taken"));
  EXPECT_THAT(process_->log(), HasSubstr("money"));  // what was meant
  ASSERT_FALSE(shows_nothing());
  write_policy("providers: {deny: [seller]}\n");
  EXPECT_TRUE(comes([this] { return shows_nothing(); }));
  EXPECT_THAT(explain("seller/small").out, HasSubstr("seller is denied by the policy"));
}

TEST_F(AutoscalerPolicy, WillNotStartWithAPolicyThatItCannotRead) {
  const std::string line =
      test::AutoscalerProcess("/nonexistent", folder_ / "kubeconfig", more()).flags();
  write_policy("profile: cheepest\n");
  Ended ended = run_spillway(line);
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cheapest"));
  write_policy("");
  ended = run_spillway(line + " --currency USD");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("leave it out: the policy says which"));
}

}  // namespace
}  // namespace spillway::cli
