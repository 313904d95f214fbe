#include "cluster_autoscaler/conformance.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "cluster_autoscaler/protobuf.h"
#include "unit/cluster_autoscaler/generous_provider.h"

namespace spillway::cluster_autoscaler {
namespace {

using net::GrpcAnswer;
using net::GrpcCode;

// Our own server, and one thing of it bent.
using Bend = std::function<GrpcAnswer(const std::string& call, GrpcAnswer told)>;

struct Report {
  std::map<std::string, Verdict, std::less<>> verdicts;
  int32_t left = 0;  // units that are held afterwards
};

Report run_suite(const Bend& bend, int64_t step_ms = 1) {
  GenerousProvider provider;
  CloudProvider handler(provider);
  CloudClient client([&](const std::string& method, std::string message) {
    GrpcAnswer told;
    net::GrpcCall call;
    call.method = method;
    call.message = std::move(message);
    handler.handle(std::move(call), [&told](GrpcAnswer one) { told = std::move(one); });
    return bend(method.substr(k_cloud_provider_service.size()), std::move(told));
  });
  int64_t time = 0;
  ConformanceOptions options;
  options.now = k_noon;
  options.clock_ms = [&time, step_ms] { return time += step_ms; };
  Report run;
  for (const RuleFinding& finding : check_cloud_provider(client, options)) {
    run.verdicts[std::string(finding.rule)] = finding.verdict;
    EXPECT_EQ(finding.seen.empty(), finding.verdict == Verdict::held) << finding.rule;
  }
  run.left = provider.book.find(provider.offer.id)->target();
  return run;
}

GrpcAnswer unbent(const std::string&, GrpcAnswer told) { return told; }

TEST(Conformance, OurOwnServerKeepsEveryRule) {
  const Report run = run_suite(unbent);
  EXPECT_EQ(run.verdicts.size(), rule_names().size());
  for (const auto& [rule, verdict] : run.verdicts) EXPECT_EQ(verdict, Verdict::held) << rule;
  EXPECT_EQ(run.left, 0);
}

struct Fault {
  const char* rule;
  const char* call;
  GrpcAnswer told;
};

// Every rule can be broken, and what was bought is given back all the same.
TEST(Conformance, EveryRuleCatchesAServerThatBreaksIt) {
  const GrpcAnswer failing{GrpcCode::unavailable, "no", {}};
  const GrpcAnswer ok{GrpcCode::ok, {}, {}};
  const ProtoWriter nameless = std::move(ProtoWriter().integer(3, 9));
  const ProtoWriter stateless = std::move(ProtoWriter().text(1, "spillway://x/0"));
  const ProtoWriter some_group =
      std::move(ProtoWriter().message(1, std::move(ProtoWriter().text(1, "g"))));
  const std::vector<Fault> faults{
      {"groups-are-listed",
       "NodeGroups",
       {GrpcCode::ok, {}, ProtoWriter().message(1, nameless).take()}},
      {"refresh-is-quick", "Refresh", failing},
      {"ids-outlive-refresh", "Refresh", failing},
      {"foreign-nodes-are-nobodys", "NodeGroupForNode", failing},
      {"foreign-nodes-are-nobodys", "NodeGroupForNode", {GrpcCode::ok, {}, some_group.str()}},
      {"unknown-groups-are-errors", "NodeGroupNodes", ok},
      {"templates-are-whole", "NodeGroupTemplateNodeInfo", {GrpcCode::unimplemented, "no", {}}},
      {"templates-are-whole", "NodeGroupTemplateNodeInfo", ok},
      {"templates-are-for-both-generations",
       "NodeGroupTemplateNodeInfo",
       {GrpcCode::ok, {}, ProtoWriter().bytes(1, "x").take()}},
      {"options-are-not-answered", "NodeGroupGetOptions", ok},
      {"options-are-not-answered", "NodeGroupGetOptions", failing},
      {"prices-follow-the-window", "PricingNodePrice", failing},
      {"pods-have-a-price", "PricingPodPrice", ok},
      {"nonsense-changes-nothing", "NodeGroupIncreaseSize", ok},
      {"increase-raises-the-target", "NodeGroupIncreaseSize", failing},
      {"units-in-flight-are-listed", "NodeGroupNodes", ok},
      {"instances-have-a-state",
       "NodeGroupNodes",
       {GrpcCode::ok, {}, ProtoWriter().message(1, stateless).take()}},
      {"instances-are-known-by-both-names", "NodeGroupForNode", ok},
      {"foreign-nodes-are-not-deleted", "NodeGroupDeleteNodes", ok},
      {"decrease-cancels", "NodeGroupDecreaseTargetSize", failing},
      {"decrease-deletes-no-node", "NodeGroupDecreaseTargetSize", ok},
      {"deleting-is-idempotent", "NodeGroupDeleteNodes", failing}};
  std::set<std::string> caught;
  for (const Fault& fault : faults) {
    const Report run = run_suite([&fault](const std::string& call, GrpcAnswer told) {
      return call == fault.call ? fault.told : told;
    });
    EXPECT_EQ(run.verdicts.at(fault.rule), Verdict::broken) << fault.rule << " by " << fault.call;
    caught.insert(fault.rule);
  }
  EXPECT_EQ(caught.size(), rule_names().size());
}

// Also from a server that cancels nothing.
TEST(Conformance, GivesBackWhatItBought) {
  const Report run = run_suite([](const std::string& call, GrpcAnswer told) {
    if (call != "NodeGroupDecreaseTargetSize") return told;
    return GrpcAnswer{GrpcCode::unavailable, "no", {}};
  });
  EXPECT_EQ(run.left, 0);
}

TEST(Conformance, NoticesAServerThatIsSlow) {
  const Report run = run_suite(unbent, 6000);
  EXPECT_EQ(run.verdicts.at("refresh-is-quick"), Verdict::broken);
  EXPECT_EQ(run.verdicts.at("increase-raises-the-target"), Verdict::broken);
}

TEST(Conformance, SaysWhatItCouldNotTry) {
  const Report run = run_suite([](const std::string& call, GrpcAnswer told) {
    return call == "NodeGroups" ? GrpcAnswer{GrpcCode::ok, {}, {}} : told;
  });
  EXPECT_EQ(run.verdicts.at("groups-are-listed"), Verdict::held);
  EXPECT_EQ(run.verdicts.at("increase-raises-the-target"), Verdict::not_tried);
  EXPECT_EQ(run.left, 0);
}

}  // namespace
}  // namespace spillway::cluster_autoscaler
