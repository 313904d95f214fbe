// The guard's webhook over real TLS, with an embedded cluster for what it looks up. It is asked as
// an API server asks.
#include "services/agent/guard_port.h"

#include <algorithm>
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "base/base64.h"
#include "fabric/liqo/guard_webhook.h"
#include "kube/access.h"
#include "kube/small_file.h"
#include "model/json.h"
#include "model/tree.h"
#include "pki/private_file.h"
#include "support/comes_true.h"
#include "support/embedded_server.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"
#include "support/test_client.h"
#include "unit/services/agent_fixture.h"

namespace spillway::agent {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* k_spaces = "/api/v1/namespaces";

class GuardPortTest : public testing::Test {
 protected:
  GuardPortTest() {
    EXPECT_TRUE(pki::write_private(folder_ / "kubeconfig", kube_.kubeconfig()));
    put(k_spaces, R"({"metadata": {"name": "sw4-rome-shop", "labels": {
        "liqo.io/remote-cluster-id": "rome", "spillway.dev/guard": "1"}}})");
    put(k_spaces, R"({"metadata": {"name": "liqo-tenant-rome", "labels": {
        "liqo.io/remote-cluster-id": "rome"}}})");
    put("/api/v1/namespaces/liqo-tenant-rome/configmaps",
        R"({"metadata": {"name": "spillway-units"}, "data": {"unit-1": "cmVxdWVzdA=="}})");
  }
  ~GuardPortTest() override { stop(); }

  void put(const std::string& path, const std::string& object) {
    test::TestClient admin(kube_.client_options());
    const auto made = admin.ask({"POST", path, {{"Content-Type", "application/json"}}, object});
    ASSERT_TRUE(made) << made.error().message();
    ASSERT_EQ(made->status, 201) << made->body;
  }

  template <class F>
  auto on_loop(F f) {
    std::promise<decltype(f())> promise;
    auto result = promise.get_future();
    poll_->post([&f, &promise] { promise.set_value(f()); });
    return result.get();
  }

  void start(GuardPortOptions options) {
    stop();
    options.listen = "127.0.0.1:0";
    if (options.certificate.empty()) options.names = {"localhost", "127.0.0.1"};
    const auto access = kube::read_access(folder_ / "kubeconfig");
    ASSERT_TRUE(access) << access.error().message();
    poll_ = std::make_unique<net::Poll>();
    loop_ = std::make_unique<services::ServiceLoop>(*poll_);
    guard_ = std::make_unique<GuardPort>(*poll_, *loop_, random_, log_, metrics_, options);
    const Status started = guard_->start(*access);
    ASSERT_TRUE(started) << started.error().message();
    thread_ = std::thread([this] { poll_->run(); });
    ASSERT_TRUE(
        test::comes_true([this] { return on_loop([this] { return guard_->is_listening(); }); }));
    port_ = on_loop([this] { return guard_->port(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    poll_->post([this] {
      guard_.reset();
      poll_->stop();
    });
    thread_.join();
  }
  test::TestClient client(const std::string& authorities) const {
    net::ClientOptions options;
    options.host = "127.0.0.1";
    options.port = port_;
    options.authorities_pem = authorities;
    return test::TestClient(options);
  }
  std::string authority_in_secret() {
    test::TestClient admin(kube_.client_options());
    const auto answer = admin.ask({"GET", "/api/v1/namespaces/default/secrets/a-webhook", {}, {}});
    const auto secret = model::parse_json(answer->body, "secret");
    return from_base64(model::text_at(*secret, {"data", "authority.crt"})).value_or("");
  }

  static std::string review(std::string_view space, std::string_view group,
                            std::string_view resource, std::string_view user,
                            std::string_view member, std::string_view object) {
    return fmt::format(
        R"({{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {{
        "uid": "u-1", "operation": "CREATE", "namespace": "{}",
        "resource": {{"group": "{}", "version": "v1", "resource": "{}"}},
        "userInfo": {{"username": "{}", "groups": ["{}"]}}, "object": {}}}}})",
        space, group, resource, user, member, object);
  }
  static std::string service(std::string_view type, std::string_view space = "sw4-rome-shop") {
    return review(space, "", "services", "unit-1-0123", "rome",
                  fmt::format(R"({{"metadata": {{}}, "spec": {{"type": "{}"}}}})", type));
  }
  static std::string slice(std::string_view name, std::string_view space = "liqo-tenant-rome") {
    return review(space, "authentication.liqo.io", "resourceslices", "rome", "liqo.io",
                  fmt::format(R"({{"metadata": {{"name": "{}", "labels": {{
        "liqo.io/replicated": "true", "liqo.io/replication": "false", "liqo.io/originID": "rome",
        "liqo.io/remote-cluster-id": "rome"}}}}, "spec": {{"class": "spillway",
        "consumerClusterID": "rome", "csr": "cmVxdWVzdA=="}}}})",
                              name));
  }
  // "passes", or the code and the message of the refusal.
  static std::string said(test::TestClient& by, const std::string& body) {
    const auto answer =
        by.ask({"POST", "/guard?timeout=5s", {{"Content-Type", "application/json"}}, body});
    if (!answer) return answer.error().message();
    if (answer->status != 200) return fmt::format("HTTP {}", answer->status);
    const auto told = model::parse_json(answer->body, "answer");
    if (!told || model::text_at(*told, {"response", "uid"}) != "u-1") return answer->body;
    if (model::boolean_at(*told, {"response", "allowed"})) return "passes";
    return fmt::format("{} {}", model::integer_at(*told, {"response", "status", "code"}),
                       model::text_at(*told, {"response", "status", "message"}));
  }

  test::TemporaryFolder folder_;
  test::EmbeddedServer kube_;
  host::SystemRandom random_;
  MemoryLog log_;
  services::Metrics metrics_;
  std::unique_ptr<net::Poll> poll_;
  std::unique_ptr<services::ServiceLoop> loop_;
  std::unique_ptr<GuardPort> guard_;
  std::thread thread_;
  uint16_t port_ = 0;
};

TEST_F(GuardPortTest, JudgesByWhatTheClusterHas) {
  start({.secret = "a-webhook"});
  auto asking = client(authority_in_secret());
  EXPECT_EQ(said(asking, service("ClusterIP")), "passes");
  EXPECT_THAT(said(asking, service("NodePort")),
              StartsWith("422 spillway-services: R7: Services are of type ClusterIP"));
  EXPECT_EQ(said(asking, slice("unit-1")), "passes");
  EXPECT_THAT(said(asking, slice("unit-2")), StartsWith("422 spillway-slices: R1: no contract"));
  // Its own namespace, without a record; and one that nobody knows.
  EXPECT_THAT(said(asking, slice("unit-1", "sw4-rome-shop")),
              HasSubstr("there is no record spillway-units"));
  EXPECT_THAT(said(asking, service("ClusterIP", "nowhere")),
              StartsWith("503 the guard cannot judge it now"));
}

// Whoever reaches the port can ask, and chooses what is looked up.
TEST_F(GuardPortTest, WhyItCannotLookUpIsInTheLogAlone) {
  start({.secret = "a-webhook"});
  auto asking = client(authority_in_secret());
  const std::string absent = said(asking, service("ClusterIP", "nowhere"));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(said(asking, service("ClusterIP", fmt::format("nowhere-{}", i))), absent);
  }
  const auto logged = [this](std::string_view part) {
    return on_loop([&] { return log_.count(part); });
  };
  EXPECT_EQ(logged("namespaces nowhere"), 1) << "and not once for each that asks";
  kube_.on_loop([this] {
    kube_.cluster.reset();
    return true;
  });
  EXPECT_EQ(said(asking, service("ClusterIP")), absent);
}

TEST_F(GuardPortTest, WhatItCannotLookUpIsRefused) {
  start({.secret = "a-webhook"});
  auto asking = client(authority_in_secret());
  kube_.on_loop([this] {
    kube_.cluster.reset();
    return true;
  });
  EXPECT_THAT(said(asking, service("ClusterIP")), StartsWith("503 the guard cannot judge it now"));
}

TEST_F(GuardPortTest, TakesNothingButReviewsAndNoneThatIsTooMuch) {
  start({.secret = "a-webhook"});
  auto asking = client(authority_in_secret());
  EXPECT_EQ(said(asking, "{}"), "HTTP 422");
  EXPECT_EQ(said(asking, "["), "HTTP 422");
  EXPECT_EQ(asking.ask({"GET", "/guard", {}, {}})->status, 404);
  EXPECT_EQ(asking.ask({"POST", "/", {}, "{}"})->status, 404);
  std::string many = "[0";
  for (size_t i = 0; i < GuardDoor::k_most_values; ++i) many += ",0";
  EXPECT_EQ(said(asking, many + "]"), "HTTP 422");
  // Long is not much: a megabyte in one string, and one in which commas are text.
  const std::string text(1'000'000, ',');
  EXPECT_EQ(
      said(asking, review("sw4-rome-shop", "", "configmaps", "unit-1-0123", "rome",
                          fmt::format(R"({{"metadata": {{}}, "data": {{"a": "{}"}}}})", text))),
      "passes");
  EXPECT_NE(said(asking, std::string(GuardDoor::k_most_bytes + 1, ' ')), "passes");
  EXPECT_EQ(said(asking, service("ClusterIP")), "passes");
}

TEST_F(GuardPortTest, AllAgentsOfAClusterShareOneAuthority) {
  start({.secret = "a-webhook"});
  const std::string first = authority_in_secret();
  EXPECT_THAT(first, StartsWith("-----BEGIN CERTIFICATE-----"));
  start({.secret = "a-webhook"});
  EXPECT_EQ(authority_in_secret(), first);
  auto asking = client(first);
  EXPECT_EQ(said(asking, service("ClusterIP")), "passes");
}

// An embedded cluster asks no webhooks, and so has no such kinds: it is given them.
TEST_F(GuardPortTest, ConfigurationsAreToldWhomToTrust) {
  const auto place = fabric::liqo::parse_webhook_place("spillway/guard:9443");
  const auto path_of = [](const fabric::liqo::GuardObject& one) {
    return fmt::format("/apis/{}/{}/{}", one.kind.group, one.kind.version, one.kind.plural);
  };
  const auto bare = fabric::liqo::webhook_objects(*place, {});
  for (const auto& one : bare) {
    put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        fmt::format(R"({{"metadata": {{"name": "{0}.{1}"}}, "spec": {{"group": "{1}",
            "scope": "Cluster", "names": {{"plural": "{0}", "kind": "{2}"}}, "versions": [{{
            "name": "v1", "served": true, "storage": true, "schema": {{"openAPIV3Schema": {{
            "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}}]}}}})",
                    one.kind.plural, one.kind.group, one.kind.kind));
    put(path_of(one), model::to_json(one.object));
  }
  start({.secret = "a-webhook"});
  const std::string authority = authority_in_secret();
  const auto are_told = [&] {
    test::TestClient admin(kube_.client_options());
    return std::all_of(bare.begin(), bare.end(), [&](const fabric::liqo::GuardObject& one) {
      const auto answer = admin.ask({"GET", path_of(one) + "/spillway-guard", {}, {}});
      auto seen = model::parse_json(answer->body, "configuration");
      return seen && !model::items_at(*seen, {"webhooks"}).empty() &&
             !fabric::liqo::set_authorities(*seen, authority);
    });
  };
  EXPECT_TRUE(test::comes_true(are_told));
  // Somebody applies them again, without.
  test::TestClient admin(kube_.client_options());
  for (const auto& one : bare) {
    const auto merged = admin.ask({"PATCH",
                                   path_of(one) + "/spillway-guard",
                                   {{"Content-Type", "application/merge-patch+json"}},
                                   model::to_json(one.object)});
    ASSERT_EQ(merged->status, 200) << merged->body;
  }
  EXPECT_TRUE(test::comes_true(are_told));
}

TEST_F(GuardPortTest, WithoutAClusterToLiveInTheAuthorityIsInAFolder) {
  start({.folder = folder_ / "webhook"});
  const auto authority = kube::read_small_file(folder_ / "webhook/ca.pem");
  ASSERT_TRUE(authority);
  start({.folder = folder_ / "webhook"});
  auto asking = client(*authority);
  EXPECT_EQ(said(asking, service("ClusterIP")), "passes");
}

TEST_F(GuardPortTest, AGivenCertificateIsReadAgain) {
  const auto show = [this](test::TestAuthority& authority) {
    const auto made = authority.issue({.name = "guard", .ip = "127.0.0.1", .is_server = true});
    ASSERT_TRUE(pki::write_private(folder_ / "key.pem", made.key_pem));
    ASSERT_TRUE(pki::write_private(folder_ / "cert.pem", made.certificate_pem));
  };
  test::TestAuthority first;
  show(first);
  start({.certificate = folder_ / "cert.pem", .key = folder_ / "key.pem"});
  auto asking = client(first.pem());
  EXPECT_EQ(said(asking, service("ClusterIP")), "passes");
  test::TestAuthority second("another authority");
  show(second);
  EXPECT_TRUE(test::comes_true([&] {
    auto again = client(second.pem());
    return said(again, service("ClusterIP")) == "passes";
  }));
}

}  // namespace
}  // namespace spillway::agent
