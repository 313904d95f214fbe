// Hostile words between two agents: each reader takes them or says why not, what it takes comes
// back the same from what would be said, and a name or a server that no contract allows is never
// taken.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"
#include "fabric/talk.h"
#include "services/fabric/hearing.h"

namespace spillway::fabric {
namespace {

template <class T>
void check_refusal(const Result<T>& read) {
  if (!read) SPILLWAY_CHECK(is_printable(read.error().message()), "an error repeats the input");
}

template <class T>
void check_same(Result<T> (*read)(std::string_view), std::string_view body) {
  const Result<T> first = read(body);
  check_refusal(first);
  if (!first) return;
  const Result<T> again = read(to_body(*first));
  SPILLWAY_CHECK(again.has_value() && *again == *first, "what was said reads as another thing");
}

void check_heard(std::string_view body) {
  const model::LiqoPart part{"rome", "milan", "a2V5", std::string(64, 'a'), {}};
  const std::vector<std::string> units = {"sw-01m7jvqwfj4xxt60c2xbz461h3-0"};
  const agent::Heard on{part, units};
  check_refusal(agent::hear_nonce(body));
  const auto request = agent::hear_request(body, on);
  check_refusal(request);
  SPILLWAY_CHECK(!request || request->units.empty(), "a request that nobody signed for");
  const auto kubeconfig = agent::hear_kubeconfig(body, on, {"https://milan:6443"});
  check_refusal(kubeconfig);
  if (kubeconfig) {
    const kube::Access& access = kubeconfig->access;
    SPILLWAY_CHECK(access.server.host == "milan" && access.server.port == 6443,
                   "a kubeconfig for somebody else's server");
    SPILLWAY_CHECK(access.space == "liqo-tenant-rome", "a kubeconfig for another namespace");
    SPILLWAY_CHECK(!access.plugin && access.token_file.empty() && !access.token.empty(),
                   "a kubeconfig that reads or runs something");
  }
  const auto identity = agent::hear_identity(body, on, {"https://milan:6443"});
  check_refusal(identity);
  if (!identity) return;
  SPILLWAY_CHECK(identity->access.api_server == "https://milan:6443", "sent to somebody else");
  for (const std::string& unit : identity->units) {
    SPILLWAY_CHECK(unit == units[0], "a unit of no contract");
  }
}

}  // namespace
}  // namespace spillway::fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway::fabric;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  check_same(&read_nonce_talk, body);
  check_same(&read_request_talk, body);
  check_same(&read_identity_talk, body);
  check_same(&read_kubeconfig_talk, body);
  check_heard(body);
  return 0;
}
