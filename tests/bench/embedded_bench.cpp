// An embedded cluster: from nothing to the first answer over TLS.
#include <fmt/format.h>

#include "base/check.h"
#include "bench/bench.h"
#include "support/embedded_server.h"
#include "support/test_client.h"

namespace spillway::bench {
namespace {

void ask(test::TestClient& client, net::Request request, int expected) {
  const auto answer = client.ask(std::move(request));
  SPILLWAY_CHECK(answer.has_value() && answer->status == expected, "an unexpected answer");
}

}  // namespace

SPILLWAY_BENCH(embedded, start) {
  std::vector<double> starts;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    const double start = wall_seconds();
    test::EmbeddedServer server(10);
    test::TestClient client(server.client_options());
    ask(client, {"GET", "/readyz", {}, {}}, 200);
    starts.push_back((wall_seconds() - start) * 1000);
  }
  report.at_most("start_ms", starts, "ms", 100);
}

}  // namespace spillway::bench
