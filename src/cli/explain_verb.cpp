// spillway explain: why a node is there, where a pod's node was to come from, what is thought of a
// group.
#include <algorithm>

#include <fmt/format.h>

#include "cli/grpc_calls.h"
#include "cli/outcome.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"
#include "services/autoscaler/explain_door.h"

namespace spillway::cli {
namespace {

struct ExplainArguments {
  GrpcTarget target;
  std::string name;
};

void print_safely(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    fmt::print("{}\n", safe(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

int run_explain(const ExplainArguments& arguments) {
  constexpr std::string_view k_verb = "explain";
  auto options = read_grpc_target(arguments.target);
  if (!options) return wrongly_called(k_verb, options.error());
  StraightCalls calls(std::move(*options));
  const net::GrpcAnswer answer = calls.call(std::string(autoscaler::k_explain_call),
                                            autoscaler::explain_message(arguments.name));
  if (answer.code != net::GrpcCode::ok) {
    tell(k_verb, {Code::unavailable, arguments.target.target, safe(answer.reason),
                  "look whether spillway autoscaler listens there and takes this certificate"});
    return k_unreachable;
  }
  const std::string text = autoscaler::text_of_explain_message(answer.message);
  if (text.empty()) {
    return failed(k_verb, {Code::not_found, safe(arguments.name),
                           "the autoscaler knows no node, pod or group of this name",
                           "name a pod as namespace/name; pods are known from the expander's "
                           "questions, and decisions since the autoscaler was started"});
  }
  print_safely(text);
  return k_ok;
}

}  // namespace

void add_explain(Word verb) {
  auto arguments = std::make_shared<ExplainArguments>();
  verb.option("name", arguments->name, "A node, a pod as namespace/name, or a group").required();
  add_grpc_target(verb, arguments->target);
  verb.examples(
      "  spillway explain web/frontend-7d9c-x2 --target 127.0.0.1:8086 --plaintext\n"
      "  spillway explain lyon/m --target scaler:8086 --ca ca.pem --cert client.pem "
      "--key client.key\n");
  verb.run([arguments] { return run_explain(*arguments); });
}

}  // namespace spillway::cli
