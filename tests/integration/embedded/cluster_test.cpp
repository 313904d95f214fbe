// The embedded cluster over TLS: who gets in, what a client sees of faults, what it costs.
#include <chrono>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "model/json.h"
#include "model/tree.h"
#include "support/embedded_server.h"
#include "support/embedded_world.h"
#include "support/test_client.h"

namespace spillway::test {
namespace {

const std::string k_maps = "/api/v1/namespaces/default/configmaps";

net::Request get(std::string target) { return {"GET", std::move(target), {}, {}}; }

int64_t rss_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  }
  return 0;
}

// Runs `f` on the cluster's thread.
template <class F>
void on(EmbeddedServer& server, F f) {
  server.on_loop([&] {
    f(*server.cluster);
    return true;
  });
}

TEST(EmbeddedCluster, KnowsItsClientsByTheirCertificates) {
  EmbeddedServer server(1);
  TestClient admin(server.client_options());
  const auto nodes = admin.ask(get("/api/v1/nodes"));
  ASSERT_TRUE(nodes.has_value());
  EXPECT_EQ(nodes->status, 200);
  auto options = server.client_options();
  options.identity.reset();
  TestClient stranger(options);
  EXPECT_EQ(stranger.ask(get("/api/v1/nodes"))->status, 401);
}

TEST(EmbeddedCluster, StreamsChanges) {
  EmbeddedServer server;
  TestClient client(server.client_options());
  std::string seen;
  net::StreamCalls calls;
  calls.on_head = [](const net::Response& head) { EXPECT_EQ(head.status, 200); };
  calls.on_bytes = [&](std::string_view bytes) { seen += bytes; };
  calls.on_end = [](const Error&) {};
  const auto reading = client.client->open(get(k_maps + "?watch=true"), std::move(calls));
  ASSERT_TRUE(client.ask({"POST", k_maps, {{"Content-Type", "application/json"}}, config_text("a")})
                  .has_value());
  client.run_until([&] { return seen.find("\n") != std::string::npos; });
  EXPECT_TRUE(
      seen.starts_with(R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap")"));
}

TEST(EmbeddedCluster, CutsConnectionsWhenAFaultSaysSo) {
  EmbeddedServer server;
  TestClient client(server.client_options());
  EXPECT_EQ(client.ask(get("/readyz"))->status, 200);
  on(server, [](embedded::Cluster& cluster) {
    cluster.faults().add({.verb = "create", .times = 1, .loses_answer = true});
  });
  const auto lost =
      client.ask({"POST", k_maps, {{"Content-Type", "application/json"}}, config_text("a")});
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Code::unavailable);
  EXPECT_EQ(client.ask(get(k_maps + "/a"))->status, 200) << "it was carried out";
}

TEST(EmbeddedCluster, ShowsAnExpiredCertificateWhenToldTo) {
  EmbeddedServer server;
  on(server, [](embedded::Cluster& cluster) { EXPECT_TRUE(cluster.expire_certificate()); });
  TestClient client(server.client_options());
  const auto refused = client.ask(get("/readyz"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::denied);
  on(server, [](embedded::Cluster& cluster) { EXPECT_TRUE(cluster.renew_certificate()); });
  TestClient later(server.client_options());
  EXPECT_EQ(later.ask(get("/readyz"))->status, 200);
}

TEST(EmbeddedCluster, ComesBackAfterARestart) {
  EmbeddedServer server;
  TestClient client(server.client_options());
  EXPECT_EQ(client.ask(get("/readyz"))->status, 200);
  on(server, [](embedded::Cluster& cluster) { cluster.restart(milliseconds(50)); });
  EXPECT_FALSE(client.ask(get("/readyz")).has_value());
  int answered = 0;
  while (answered == 0) {
    const auto answer = client.ask(get("/readyz"));
    answered = answer ? answer->status : 0;
  }
  EXPECT_EQ(answered, 200);
}

// The goals are 100 ms and 15 MiB, on an idle machine; here they only must not be far away.
TEST(EmbeddedCluster, StartsFastAndStaysSmall) {
  const int64_t before = rss_kib();
  const auto start = std::chrono::steady_clock::now();
  EmbeddedServer server(10);
  TestClient client(server.client_options());
  ASSERT_EQ(client.ask(get("/readyz"))->status, 200);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::steady_clock::now() - start)
                      .count();
  for (int i = 0; i < 100; ++i) {
    const auto made = client.ask({"POST",
                                  "/api/v1/namespaces/default/pods",
                                  {{"Content-Type", "application/json"}},
                                  pod_text(fmt::format("p{}", i))});
    ASSERT_EQ(made->status, 201);
  }
  const int64_t grown = rss_kib() - before;
  fmt::print("embedded.start_ms {}, embedded.rss_mib grew by {:.1f} to {:.1f} with its client\n",
             ms, static_cast<double>(grown) / 1024, static_cast<double>(rss_kib()) / 1024);
  if (k_is_sanitized) return;
  EXPECT_LT(ms, 2000);
  EXPECT_LT(grown, 15 * 1024);
}

}  // namespace
}  // namespace spillway::test
