// spillway conformance externalgrpc: whether a server for the Cluster Autoscaler keeps the rules
// that it acts on. Any server, ours first.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <thread>

#include "cli/files.h"
#include "cli/outcome.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"
#include "cli/when.h"
#include "cluster_autoscaler/conformance.h"
#include "net/grpc_client.h"
#include "services/host_port.h"

namespace spillway::cli {
namespace {

using cluster_autoscaler::RuleFinding;
using cluster_autoscaler::Verdict;

constexpr Duration k_call_patience = seconds(10);  // twice what the Cluster Autoscaler has

struct ConformanceArguments {
  std::string target;
  std::string group;
  std::string authorities;
  std::string certificate;
  std::string key;
  bool plaintext = false;
};

Result<net::TlsContext> read_trust(const ConformanceArguments& arguments) {
  if (arguments.plaintext) return net::TlsContext();
  if (arguments.authorities.empty() || arguments.certificate.empty() || arguments.key.empty()) {
    return fail(Code::invalid, "TLS", "--ca, --cert and --key are not all given",
                "give what the Cluster Autoscaler's cloud-config has, or --plaintext");
  }
  const auto authorities = read_file(arguments.authorities);
  if (!authorities) return tl::unexpected(authorities.error());
  const auto certificate = read_file(arguments.certificate);
  if (!certificate) return tl::unexpected(certificate.error());
  const auto key = read_file(arguments.key);
  if (!key) return tl::unexpected(key.error());
  const net::TlsIdentity identity{*certificate, *key};
  net::ClientTrust trust;
  trust.authorities_pem = *authorities;
  trust.identity = &identity;
  return net::client_context(std::move(trust));
}

// Calls in a straight line; the connection lives on a thread of its own.
class StraightCalls {
 public:
  explicit StraightCalls(net::GrpcClientOptions options) : thread_([this] { poll_.run(); }) {
    poll_.post([this, options = std::move(options)] {
      client_ = std::make_unique<net::GrpcClient>(poll_, options);
    });
  }
  ~StraightCalls() {
    poll_.post([this] { client_.reset(); });
    poll_.stop();
    thread_.join();
  }
  StraightCalls(const StraightCalls&) = delete;
  StraightCalls& operator=(const StraightCalls&) = delete;

  net::GrpcAnswer call(const std::string& method, std::string message) {
    std::promise<net::GrpcAnswer> promise;
    auto told = promise.get_future();
    poll_.post([&, message = std::move(message)] {
      client_->call(method, message, k_call_patience,
                    [&promise](net::GrpcAnswer answer) { promise.set_value(std::move(answer)); });
    });
    return told.get();
  }

 private:
  net::Poll poll_;
  std::unique_ptr<net::GrpcClient> client_;
  std::thread thread_;
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
  const auto target = services::parse_host_port(arguments.target, "--target");
  if (!target) return wrongly_called(k_verb, target.error());
  auto tls = read_trust(arguments);
  if (!tls) return wrongly_called(k_verb, tls.error());
  net::GrpcClientOptions options;
  options.host = target->host;
  options.port = target->port;
  options.tls = std::move(*tls);
  StraightCalls calls(std::move(options));
  cluster_autoscaler::CloudClient client([&calls](const std::string& method, std::string message) {
    return calls.call(method, std::move(message));
  });
  if (const auto groups = client.groups(); !groups) {
    tell(k_verb, {Code::unavailable, arguments.target, groups.error().reason,
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
  external.option("--target", arguments->target, "Where the server listens")
      .type_name("HOST:PORT")
      .required();
  external.option("--group", arguments->group, "To try on (the first that may grow by two)")
      .type_name("ID");
  external.option("--ca", arguments->authorities, "Who has issued the server's certificate")
      .type_name("FILE");
  external.option("--cert", arguments->certificate, "What the Cluster Autoscaler would show")
      .type_name("FILE");
  external.option("--key", arguments->key, "The key of that").type_name("FILE");
  external.flag("--plaintext", arguments->plaintext, "Without TLS");
  external.run([arguments] { return run_conformance(*arguments); });
}

}  // namespace spillway::cli
