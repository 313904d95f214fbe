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

// Of a member whose agent keeps its identity.
class SharedIdentityTest : public ClusterHomeTest {
 protected:
  Tenant reader() { return {loop, log, shelf, "a", {}, agent_state(), true}; }
  void follow(Tenant& tenant) {
    tenant.home.shared_identity().follow(
        tenant.credentials.at(0), [this](const Credentials& told) { renewed.push_back(told); },
        [this](const Error& why) { replaced.push_back(why); });
  }
  // As its agent does.
  void renew(const Credentials& old) {
    const auto key = pki::Key::from_pem(old.tls.key_pem);
    IdentityFiles files;
    ASSERT_TRUE(put_answer(files, old.broker, certify(key->public_key())));
    for (const auto& [name, bytes] : files) shelf.write(k_identity, name, bytes);
  }

  std::vector<Credentials> renewed;
  std::vector<Error> replaced;
};

TEST_F(SharedIdentityTest, IsWaitedForAndNeverWritten) {
  shelf.store(k_identity, kube::new_object(kube::k_secrets, "Secret", {"spillway", "a-identity"}));
  Tenant a = reader();
  loop.run_for(minutes(1));
  EXPECT_FALSE(a.is_home());
  EXPECT_TRUE(a.lost.empty());
  put_identity();
  const std::string version(kube::version_in(shelf.objects[k_identity]));
  loop.run_for(minutes(1));
  ASSERT_TRUE(a.is_home());
  EXPECT_EQ(a.credentials[0].name, "edge-1");
  EXPECT_EQ(kube::version_in(shelf.objects[k_identity]), version);
  EXPECT_NE(shelf.objects.find(k_state), shelf.objects.end()) << "the state is its own";
}

TEST_F(SharedIdentityTest, ARenewedCertificateIsFoundWithinAMinuteOrTwo) {
  put_identity();
  Tenant a = reader();
  loop.run_for(seconds(1));
  ASSERT_TRUE(a.is_home());
  follow(a);
  loop.run_for(minutes(5));
  EXPECT_TRUE(renewed.empty()) << "it is as it was";
  renew(a.credentials[0]);
  loop.run_for(minutes(2));
  ASSERT_EQ(renewed.size(), 1U);
  EXPECT_GT(renewed[0].not_after, a.credentials[0].not_after);
  EXPECT_TRUE(replaced.empty());
}

TEST_F(SharedIdentityTest, AnApiServerThatIsAwayEndsNothing) {
  put_identity();
  Tenant a = reader();
  loop.run_for(seconds(1));
  follow(a);
  a.is_cut = true;
  loop.run_for(minutes(5));
  EXPECT_TRUE(replaced.empty());
  renew(a.credentials[0]);
  a.is_cut = false;
  loop.run_for(minutes(3));
  EXPECT_EQ(renewed.size(), 1U);
}

TEST_F(SharedIdentityTest, AnotherKeyIsAnotherBeginning) {
  put_identity();
  Tenant a = reader();
  loop.run_for(seconds(1));
  follow(a);
  put_identity();  // joined anew
  loop.run_for(minutes(10));
  ASSERT_EQ(replaced.size(), 1U);
  EXPECT_NE(replaced[0].message().find("another key"), std::string::npos);
  EXPECT_TRUE(renewed.empty());
}

}  // namespace
}  // namespace spillway::agent
