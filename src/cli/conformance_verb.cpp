// spillway conformance externalgrpc: whether a server for the Cluster Autoscaler keeps the rules
// that it acts on. Any server, ours first.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/grpc_calls.h"
#include "cli/outcome.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"
#include "cli/when.h"
#include "cluster_autoscaler/conformance.h"

namespace spillway::cli {
namespace {

using cluster_autoscaler::RuleFinding;
using cluster_autoscaler::Verdict;

struct ConformanceArguments {
  GrpcTarget target;
  std::string group;
};

void print_rule(const RuleFinding& finding) {
  const char* mark = finding.verdict == Verdict::held     ? "✓"
                     : finding.verdict == Verdict::broken ? "✗"
                                                          : "–";
  const std::string seen = finding.seen.empty() ? "" : ": " + safe(finding.seen);
  fmt::print("{} {}{}\n", mark, finding.rule, seen);
  std::fflush(stdout);  // the next one may take its time
}

int run_conformance(const ConformanceArguments& arguments) {
  constexpr std::string_view k_verb = "conformance";
  auto options = read_grpc_target(arguments.target);
  if (!options) return wrongly_called(k_verb, options.error());
  StraightCalls calls(std::move(*options));
  cluster_autoscaler::CloudClient client([&calls](const std::string& method, std::string message) {
    return calls.call(method, std::move(message));
  });
  if (const auto groups = client.groups(); !groups) {
    tell(k_verb, {Code::unavailable, arguments.target.target, groups.error().reason,
                  "look whether it listens there and takes this certificate"});
    return k_unreachable;
  }
  cluster_autoscaler::ConformanceOptions suite;
  suite.group = arguments.group;
  suite.now = now();
  suite.clock_ms = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  suite.told = print_rule;
  const auto findings = check_cloud_provider(client, suite);
  const auto count = [&findings](Verdict verdict) {
    return std::count_if(findings.begin(), findings.end(),
                         [verdict](const RuleFinding& one) { return one.verdict == verdict; });
  };
  fmt::print("{} of {} rules held, {} broken, {} not tried\n", count(Verdict::held),
             findings.size(), count(Verdict::broken), count(Verdict::not_tried));
  return count(Verdict::broken) == 0 ? k_ok : k_failed;
}

}  // namespace

void add_conformance(Word verb) {
  verb.require_word();
  verb.examples(
      "  spillway conformance externalgrpc --target 127.0.0.1:8086 --plaintext\n"
      "  spillway conformance externalgrpc --target scaler:8086 --ca ca.pem --cert client.pem "
      "--key client.key\n"
      "\nIt buys two units of one group for a moment, and gives them back.\n");
  const Word external = verb.add("externalgrpc", "A cloud provider of the Cluster Autoscaler");
  auto arguments = std::make_shared<ConformanceArguments>();
  add_grpc_target(external, arguments->target);
  external.option("--group", arguments->group, "To try on (the first that may grow by two)")
      .type_name("ID");
  external.run([arguments] { return run_conformance(*arguments); });
}

}  // namespace spillway::cli
