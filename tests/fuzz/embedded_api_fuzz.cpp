// Any bytes as a request to an embedded cluster: it is answered, refusals say what they are, and
// the cluster goes on.
//
// The input is: method, target, content type and body, each but the last ended by a line break.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "embedded/cluster.h"
#include "host/random.h"
#include "model/json.h"
#include "model/tree.h"
#include "tests/support/manual_loop.h"
#include "tests/support/memory_exchange.h"

namespace {

using namespace spillway;

std::string take_line(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  std::string line(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

void check(const net::Response& response) {
  if (response.status < 400) return;
  const std::string* type = net::find_header(response.headers, "Content-Type");
  SPILLWAY_CHECK(type != nullptr, "a refusal without a type");
  if (*type != "application/json") return;
  const auto status = model::parse_json(response.body, "status", response.body.size(), 128);
  SPILLWAY_CHECK(status.has_value(), "a refusal that is no JSON");
  SPILLWAY_CHECK(model::text_at(*status, {"kind"}) == "Status", "a refusal that is no Status");
  SPILLWAY_CHECK(model::integer_at(*status, {"code"}) == response.status, "another code");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  test::ManualLoop loop;
  host::SeededRandom random(1);
  embedded::ClusterOptions options;
  options.trusts_strangers = true;
  options.has_debug_paths = true;
  options.nodes = 1;
  embedded::Cluster cluster(loop, random, options);
  loop.run();
  const auto ask = [&](net::Request request) {
    const auto exchange = std::make_shared<test::MemoryExchange>();
    cluster.handler().handle(std::move(request), {"fuzz:1", nullptr}, exchange);
    loop.run_for(seconds(5));
    return exchange;
  };
  // What there may be a collision with.
  ask({"POST",
       "/api/v1/namespaces/default/pods",
       {},
       R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})"});
  net::Request request;
  request.method = take_line(rest);
  request.target = take_line(rest);
  request.headers.push_back({"Content-Type", take_line(rest)});
  request.body = rest;
  const auto answered = ask(std::move(request));
  if (answered->response && answered->body == nullptr) check(*answered->response);
  cluster.faults().clear();
  loop.run_for(seconds(20));
  const auto after = ask({"GET", "/api/v1/pods", {}, {}});
  SPILLWAY_CHECK(after->response && after->response->status == 200, "the cluster is lost");
  return 0;
}
