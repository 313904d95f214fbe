#include "cluster_home_fixture.h"

namespace spillway::agent {
namespace {

TEST_F(ClusterHomeTest, JoinsWithATokenAndKeepsTheKeyBeforeItAsks) {
  const std::string token = put_token();
  Tenant a(loop, log, shelf, "a", token);
  int asked = 0;
  std::string first_key;
  a.broker.script = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
    const std::string key = shelf.text_of(k_identity, k_key_file);
    if (asked++ == 0) first_key = key;
    EXPECT_EQ(key, first_key);
    EXPECT_FALSE(key.empty());
    if (asked < 3) return test::lost();  // the broker is not there yet
    const auto body = model::read_json<wire::JoinRequest>(request.body, "request");
    return test::ScriptedBroker::ok(certify(pki::read_request(body->request).value().key));
  };
  loop.run_for(minutes(1));
  ASSERT_TRUE(a.is_home());
  EXPECT_EQ(a.credentials[0].name, "edge-1");
  EXPECT_EQ(a.credentials[0].broker, "https://broker:7443");
  EXPECT_EQ(a.pinned_authority, pki::fingerprint_of(authority.certificate_pem()).value());
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(shelf.text_of(k_identity, k_token_file).empty());
}

TEST_F(ClusterHomeTest, WhatTheRoleForbidsIsTold) {
  shelf.takes_new = false;
  shelf.store("/apis/coordination.k8s.io/v1/namespaces/spillway/leases/a",
              kube::new_object(kube::k_leases, "Lease", {"spillway", "a"}));
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(5));
  ASSERT_EQ(a.lost.size(), 1U);
  EXPECT_NE(a.lost[0].message().find("role"), std::string::npos);
}

TEST_F(ClusterHomeTest, ARenewedCertificateIsInTheSecretBeforeItIsUsed) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  const Credentials& old = a.credentials.at(0);
  loop.sleep(hours(2));
  const auto key = pki::Key::from_pem(old.tls.key_pem);
  std::optional<Result<Credentials>> kept;
  a.home.identity().renew(old.broker, certify(key->public_key()), [&](Result<Credentials> told) {
    EXPECT_EQ(shelf.text_of(k_identity, k_certificate_file), told->tls.certificate_chain_pem);
    kept = std::move(told);
  });
  loop.run_for(seconds(1));
  ASSERT_TRUE(kept && *kept);
  EXPECT_GT((*kept)->not_after, old.not_after);
  EXPECT_EQ((*kept)->tls.key_pem, old.tls.key_pem);
}

}  // namespace
}  // namespace spillway::agent
