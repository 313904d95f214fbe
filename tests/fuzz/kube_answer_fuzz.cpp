// Any bytes as the answer of an API server to whatever we ask it, and as what an exec plugin
// prints: each call is answered once, every error says what and why, no wait is longer than a
// minute, and who finds a senseless Lease does not believe to hold it.
//
// The first byte chooses the status, the second what Retry-After says; the rest is the body.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "kube/exec_token.h"
#include "kube/failure.h"
#include "kube/lease.h"
#include "model/json.h"
#include "support/manual_loop.h"
#include "support/scripted_channel.h"

namespace spillway::kube {
namespace {

constexpr std::array k_statuses{200, 201, 202, 400, 401, 403, 404,
                                409, 410, 422, 429, 500, 503, 504};
constexpr std::array<std::string_view, 6> k_waits{"",    "0", "1", "-1", "99999999999999999999",
                                                  "soon"};

void check_error(const Error& error) {
  SPILLWAY_CHECK(!error.thing.empty() && !error.reason.empty(), "an error that does not say why");
}

// The answer to the first request of each kind; after that the server has nothing.
struct Server {
  explicit Server(net::Response answer) {
    channel.script = [this, answer = std::move(answer)](
                         const net::Request&) -> std::optional<Result<net::Response>> {
      if (left-- > 0) return answer;
      return net::Response{404, {}, R"({"kind":"Status","code":404,"message":"no more"})"};
    };
  }
  test::ManualLoop loop;
  host::SeededRandom random{7};
  test::ScriptedChannel channel{loop};
  Api api{loop, random, channel, {}};
  int left = 3;
};

void check_verbs(const net::Response& answer) {
  Server server(answer);
  int answers = 0;
  const auto count = [&answers](const Result<Object>& told) {
    ++answers;
    if (!told) check_error(told.error());
  };
  server.api.get(k_pods, {"s", "a"}, count);
  server.loop.run_for(minutes(2));
  server.left = 3;
  server.api.list(
      k_pods, {}, [](const ListPage&) {},
      [&answers](const Result<std::string>& told) {
        ++answers;
        if (!told) check_error(told.error());
      });
  server.loop.run_for(minutes(2));
  server.left = 3;
  server.api.change(
      k_pods, {"s", "a"}, [](Object&) { return Status{}; }, count);
  server.loop.run_for(minutes(2));
  SPILLWAY_CHECK(answers == 3, "a call was not answered once");
}

void check_lease(const net::Response& answer) {
  Server server(answer);
  bool is_held = false;
  Lease lease(server.api, {.name = {"s", "agent"}, .holder = "me"},
              {[&is_held] { is_held = true; }, [&is_held] { is_held = false; },
               [](const Error& error) { check_error(error); }});
  lease.start();
  server.loop.run_for(seconds(20));
  // It was written by nobody: the server has said 404 to everything else.
  SPILLWAY_CHECK(is_held == lease.is_held(), "it holds what it did not tell of");
  server.loop.run_for(minutes(1));
  SPILLWAY_CHECK(!lease.is_held(), "it holds what nobody keeps");
}

void check(int status, std::string_view wait, std::string body) {
  net::Response answer{status, {}, std::move(body)};
  if (!wait.empty()) answer.headers = {{"Retry-After", std::string(wait)}};
  check_error(failure_of(answer, "pods s/a"));
  const auto asked = asked_to_wait(answer);
  SPILLWAY_CHECK(!asked || (asked->ms >= 0 && *asked <= minutes(1)), "a wait without end");
  if (const auto document = model::parse_json(answer.body)) {
    check_error(failure_in(*document, "pods s/a"));
  }
  const auto credential = read_exec_credential(answer.body, {"plugin", {}, {}});
  if (credential) {
    SPILLWAY_CHECK(!credential->token.empty() && is_printable(credential->token),
                   "a token that ends its header");
  } else {
    check_error(credential.error());
  }
  check_verbs(answer);
  check_lease(answer);
}

}  // namespace
}  // namespace spillway::kube

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway::kube;
  if (size < 2) return 0;
  check(k_statuses[data[0] % k_statuses.size()], k_waits[data[1] % k_waits.size()],
        std::string(reinterpret_cast<const char*>(data) + 2, size - 2));
  return 0;
}
