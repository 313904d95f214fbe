#include "services/agent/credentials.h"

#include "pki/authority.h"
#include "pki/request.h"
#include "services/agent/renewal_timer.h"
#include "support/temporary_folder.h"
#include "unit/services/agent_fixture.h"

namespace spillway::agent {
namespace {

class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest()
      : authority(pki::Authority::create("lab", loop.now() - hours(24)).value()), broker(loop) {}

  // As the broker answers to a key, at the loop's time.
  wire::CertificateAnswer certify(const pki::PublicKey& key) {
    wire::CertificateAnswer told;
    told.federation = "lab";
    told.name = "edge-1";
    told.roles = {model::Role::provider, model::Role::consumer};
    told.not_after = loop.now() + hours(24);
    told.certificate = authority.issue_member(key, "edge-1", loop.now(), told.not_after).value();
    told.authorities = authority.certificate_pem();
    return told;
  }
  Credentials join() {
    const pki::Key key = keep_key(folder.path().string()).value();
    const auto told = certify(key.public_key());
    EXPECT_TRUE(save_credentials(folder.path().string(), "https://broker:7443", told));
    return load_credentials(folder.path().string()).value();
  }
  // Answers requests for certificates from now on.
  void answer_requests() {
    broker.first = [this](const net::Request& request) -> std::optional<Result<net::Response>> {
      const auto body = model::read_json<wire::CertificateRequest>(request.body, "request");
      return test::ScriptedBroker::ok(certify(pki::read_request(body->request).value().key));
    };
  }
  void watch(const Credentials& credentials) {
    timer.emplace(loop, random, broker.channel, log, store, credentials,
                  [this](const Credentials& next) { renewed.push_back(next); });
    timer->start();
  }

  test::TemporaryFolder folder;
  FolderIdentity store{folder.path().string()};
  test::ManualLoop loop;
  host::SeededRandom random{1};
  MemoryLog log;
  pki::Authority authority;
  test::ScriptedBroker broker;
  std::vector<Credentials> renewed;
  std::optional<RenewalTimer> timer;
};

TEST_F(CredentialsTest, AreKeptInTheirFolder) {
  const std::string path = folder.path().string();
  EXPECT_FALSE(has_joined(path));
  const auto nothing = load_credentials(path);
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message().find("spillway join"), std::string::npos);
  const Credentials credentials = join();
  EXPECT_TRUE(has_joined(path));
  EXPECT_EQ(credentials.name, "edge-1");
  EXPECT_EQ(credentials.broker, "https://broker:7443");
  EXPECT_EQ(keep_key(path)->fingerprint(),
            pki::Key::from_pem(credentials.tls.key_pem)->fingerprint());
}

TEST_F(CredentialsTest, AreRenewedAfterTwoThirdsOfTheirLife) {
  answer_requests();
  const Credentials first = join();
  watch(first);
  loop.run_for(hours(14));
  EXPECT_TRUE(renewed.empty());
  loop.run_for(hours(2) + minutes(2));
  ASSERT_EQ(renewed.size(), 1U);
  EXPECT_GT(renewed[0].not_after, first.not_after);
  EXPECT_EQ(renewed[0].tls.key_pem, first.tls.key_pem);
  EXPECT_EQ(load_credentials(folder.path().string())->not_after, renewed[0].not_after);
  loop.run_for(hours(48));
  EXPECT_GE(renewed.size(), 3U);
}

TEST_F(CredentialsTest, AreRenewedFirstThingWhenTheyHaveExpired) {
  answer_requests();
  const Credentials old = join();
  loop.sleep(hours(24 * 10));
  watch(old);
  loop.run_for(seconds(1));
  EXPECT_EQ(renewed.size(), 1U);
}

TEST_F(CredentialsTest, ARenewalThatFailsIsTriedAgainAndTold) {
  const Credentials old = join();
  loop.sleep(hours(24));
  broker.first = [](const net::Request&) {
    return std::optional<Result<net::Response>>(test::lost());
  };
  watch(old);
  loop.run_for(minutes(10));
  EXPECT_TRUE(renewed.empty());
  EXPECT_GE(log.count("certificate not renewed"), 3);
  answer_requests();
  loop.run_for(minutes(6));
  EXPECT_EQ(renewed.size(), 1U);
}

TEST_F(CredentialsTest, ACertificateForAnotherKeyIsNotTaken) {
  const Credentials old = join();
  broker.first = [this](const net::Request&) -> std::optional<Result<net::Response>> {
    return test::ScriptedBroker::ok(certify(pki::Key::generate().public_key()));
  };
  loop.sleep(hours(20));
  watch(old);
  loop.run_for(seconds(1));
  EXPECT_TRUE(renewed.empty());
  EXPECT_EQ(load_credentials(folder.path().string())->not_after, old.not_after);
}

}  // namespace
}  // namespace spillway::agent
