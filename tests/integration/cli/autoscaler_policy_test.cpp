// The recommender in a running autoscaler: its policy from a file, the expander's own port, events
// in the cluster and spillway explain.
#include <fstream>

#include <gmock/gmock.h>

#include "cluster_autoscaler/expander.h"
#include "integration/cli/autoscaler_process.h"
#include "support/test_certificates.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;

class AutoscalerPolicy : public AutoscalerVerb {
 protected:
  AutoscalerPolicy() {
    const auto issued =
        authority_.issue({.name = "expander", .ip = "127.0.0.1", .is_server = true});
    std::ofstream(folder_ / "cert.pem") << issued.certificate_pem;
    std::ofstream(folder_ / "key.pem") << issued.key_pem;
    more_words_ = {"--expander-listen",  "127.0.0.1:0",          "--expander-cert",
                   folder_ / "cert.pem", "--expander-key",       folder_ / "key.pem",
                   "--policy",           folder_ / "policy.yaml"};
  }
  void write_policy(const std::string& yaml) const {
    // In one step, as editors do.
    std::ofstream(folder_ / "next") << "noun: recommender-policy\nversion: 1\ncurrency: EUR\n"
                                    << yaml;
    std::filesystem::rename(folder_ / "next", folder_ / "policy.yaml");
  }
  // A pod's name, namespace and uid; the rest of it counts for nothing here.
  static std::string pod_bytes() {
    ProtoWriter metadata;
    metadata.text(1, "web-1").text(3, "default").text(5, "u-1");
    return ProtoWriter().message(1, metadata).take();
  }
  GrpcAnswer best_option() {
    net::ClientTrust trust;
    trust.authorities_pem = authority_.pem();
    auto tls = net::client_context(std::move(trust));
    EXPECT_TRUE(tls);
    net::GrpcClientOptions options;
    options.port = port_in_log("expander");
    options.tls = std::move(*tls);
    std::unique_ptr<net::GrpcClient> client;
    const auto answer = federation_.client().ask<GrpcAnswer>([&](auto then) {
      client = std::make_unique<net::GrpcClient>(federation_.client().poll(), options);
      ProtoWriter option;
      option.text(1, "seller/small").integer(2, 1).text(5, pod_bytes());
      client->call(std::string(cluster_autoscaler::k_expander_call),
                   ProtoWriter().message(1, option).take(), seconds(5), then);
    });
    federation_.client().run([&] { return client.reset(), true; });
    return answer;
  }
  Ended explain(const std::string& name) const {
    return run_spillway(fmt::format("explain {} --target 127.0.0.1:{} --plaintext", name, port_));
  }
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

  test::TestAuthority authority_;
};

TEST_F(AutoscalerPolicy, AnswersTheExpanderAndTellsWhyThereAndInTheCluster) {
  write_policy("profile: cheapest\n");
  start();
  ASSERT_TRUE(shows_a_group());
  const GrpcAnswer answer = best_option();
  ASSERT_EQ(answer.code, GrpcCode::ok) << answer.reason;
  EXPECT_THAT(answer.message, HasSubstr("seller/small"));
  const Ended why = explain("default/web-1");
  EXPECT_EQ(why.code, 0) << why.err;
  EXPECT_THAT(why.out, HasSubstr("seller/small chosen for 1 pods"));
  for (int i = 0; reasons_of_events().empty() && i < 10'000; ++i) {
  }
  EXPECT_THAT(reasons_of_events(), HasSubstr("SpillwayChose: seller/small, 1 unit; "));
  const Ended nobody = explain("default/nobody");
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("knows no node, pod or group of this name"));
}

TEST_F(AutoscalerPolicy, TakesAnEditAndKeepsTheLastGoodOne) {
  write_policy("");
  start();
  ASSERT_TRUE(shows_a_group());
  write_policy("caps: {monney: {day: 1}}\n");
  ASSERT_TRUE(process_->says("policy not taken", folder_ / "log"));
  EXPECT_THAT(text_of(folder_ / "log"), HasSubstr("money"));  // what was meant
  ASSERT_FALSE(call("NodeGroups").message.empty());
  write_policy("providers: {deny: [seller]}\n");
  for (int i = 0; !call("NodeGroups").message.empty() && i < 20'000; ++i) call("Refresh");
  EXPECT_TRUE(call("NodeGroups").message.empty());
  EXPECT_THAT(explain("seller/small").out, HasSubstr("seller is denied by the policy"));
}

TEST_F(AutoscalerPolicy, WillNotStartWithAPolicyThatItCannotRead) {
  write_policy("profile: cheepest\n");
  std::string line;
  for (const std::string& word : words()) line += word + " ";
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
