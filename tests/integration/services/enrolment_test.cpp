// Joining, renewing and being thrown out, over real TLS.
#include <gtest/gtest.h>

#include "live/federation.h"
#include "pki/authority.h"

namespace spillway {
namespace {

using model::Role;
using test::Federation;
using test::Members;
using test::Papers;
using test::wall_clock;

// A certificate that the federation's own authority signed, as only a test or a thief could.
Papers forged(Federation& federation, const std::string& name, const pki::Key& key, Instant now,
              Instant not_after) {
  const auto folder = pki::AuthorityFolder::load(federation.data() + "/authority");
  const auto pem = folder->signer().issue_member(key.public_key(), name, now, not_after);
  return {name, net::TlsIdentity{*pem, std::string(key.to_pem().view())}};
}

TEST(Enrolment, TheIdentityComesFromTheTokenNeverFromTheRequest) {
  Federation federation;
  const Papers joined = federation.join("edge-1", {Role::provider});  // its request says "whatever"
  const auto me = Members::read<wire::WhoAmI>(federation.call(joined, Members::get("/v1/whoami")));
  EXPECT_EQ(me.name, "edge-1");
  EXPECT_EQ(me.federation, "testers");
  EXPECT_EQ(me.roles, model::Roles{Role::provider});
}

TEST(Enrolment, TheSameTokenAndKeyGetTheSameCertificateAndAnotherKeyNone) {
  Federation federation;
  const std::string token = federation.make_token("edge-1", {Role::provider});
  const pki::Key key = pki::Key::generate();
  const auto first = federation.ask_to_join(token, key);
  EXPECT_EQ(first.status, 201) << first.body;
  const auto again = federation.ask_to_join(token, key);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(Members::read<wire::CertificateAnswer>(first).certificate,
            Members::read<wire::CertificateAnswer>(again).certificate);
  const auto thief = federation.ask_to_join(token, pki::Key::generate());
  EXPECT_EQ(thief.status, 403) << thief.body;
}

TEST(Enrolment, GarbageIsNoTokenAndNoRequest) {
  Federation federation;
  const std::string token = federation.make_token("edge-1", {Role::provider});
  const auto join = [&](const std::string& with, const std::string& request) {
    return federation.call(
        {}, Members::post("/v1/join", model::write_json(wire::JoinRequest{with, request})));
  };
  const auto request = pki::make_request(pki::Key::generate(), "x");
  EXPECT_EQ(join("swt1.AAAA.BBBB", *request).status, 422);
  std::string other = token;
  other[10] = other[10] == 'A' ? 'B' : 'A';
  EXPECT_EQ(join(other, *request).status, 403);
  EXPECT_EQ(join(token, "-----BEGIN NONSENSE-----").status, 422);
  EXPECT_EQ(join(token, *request).status, 201) << "and none of it has used the token up";
}

TEST(Enrolment, ACancelledTokenIsOver) {
  Federation federation;
  const std::string token = federation.make_token("edge-1", {Role::provider});
  const auto page = Members::read<wire::TokenPage>(
      federation.call(federation.boss(), Members::get("/v1/tokens")));
  const auto unused = std::find_if(page.tokens.begin(), page.tokens.end(),
                                   [](const wire::TokenRow& row) { return !row.used; });
  ASSERT_NE(unused, page.tokens.end());
  EXPECT_EQ(
      federation.call(federation.boss(), {"DELETE", "/v1/tokens/" + unused->id, {}, {}}).status,
      204);
  EXPECT_EQ(federation.ask_to_join(token, pki::Key::generate()).status, 403);
}

TEST(Enrolment, RenewingGivesANewCertificateForTheSameName) {
  Federation federation;
  const pki::Key key = pki::Key::generate();
  const std::string token = federation.make_token("edge-1", {Role::consumer});
  const Papers member{"edge-1", federation.join_with(token, key)};
  const auto request = pki::make_request(key, "somebody-else");
  const auto told = Members::read<wire::CertificateAnswer>(federation.call(
      member,
      Members::post("/v1/certificates", model::write_json(wire::CertificateRequest{*request}))));
  EXPECT_EQ(told.name, "edge-1");
  const Papers renewed{"edge-1",
                       net::TlsIdentity{told.certificate, std::string(key.to_pem().view())}};
  EXPECT_EQ(federation.call(renewed, Members::get("/v1/whoami")).status, 200);
}

TEST(Enrolment, AnExpiredCertificateMayRenewAndNothingElse) {
  Federation federation;
  const pki::Key key = pki::Key::generate();
  const std::string token = federation.make_token("edge-1", {Role::consumer});
  federation.join_with(token, key);
  const Instant now = wall_clock();
  const Papers late = forged(federation, "edge-1", key, now - hours(24 * 8), now - hours(24 * 7));
  const auto refused = federation.call(late, Members::get("/v1/whoami"));
  EXPECT_EQ(refused.status, 401);
  EXPECT_NE(refused.body.find("expired"), std::string::npos) << refused.body;
  const auto renew = [&](const Papers& who) {
    const auto request = pki::make_request(key, "x");
    return federation.call(
        who,
        Members::post("/v1/certificates", model::write_json(wire::CertificateRequest{*request})));
  };
  EXPECT_EQ(renew(late).status, 201);
  const Papers lost = forged(federation, "edge-1", key, now - hours(24 * 40), now - hours(24 * 31));
  EXPECT_EQ(renew(lost).status, 401) << "after 30 days it needs a token";
  EXPECT_EQ(
      federation.call(federation.boss(), Members::post("/v1/identities/edge-1/revoke")).status,
      200);
  EXPECT_EQ(renew(late).status, 401) << "revoked";
}

TEST(Enrolment, ACertificateForAnotherKeyOrNameIsNotBelieved) {
  Federation federation;
  federation.join("edge-1", {Role::provider});
  const Instant now = wall_clock();
  const pki::Key key = pki::Key::generate();
  for (const char* name : {"edge-1", "edge-9"}) {
    const auto answer = federation.call(forged(federation, name, key, now, now + hours(1)),
                                        Members::get("/v1/whoami"));
    EXPECT_EQ(answer.status, 401) << name;
  }
}

TEST(Enrolment, AForeignAuthorityDoesNotEvenGetThrough) {
  Federation federation;
  const auto authority = pki::Authority::create("testers", wall_clock());
  const pki::Key key = pki::Key::generate();
  const auto pem =
      authority->issue_member(key.public_key(), "operator", wall_clock(), wall_clock() + hours(1));
  const Papers foreign{"operator", net::TlsIdentity{*pem, std::string(key.to_pem().view())}};
  const auto answer = federation.try_call(foreign, Members::get("/v1/whoami"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(federation.call(federation.boss(), Members::get("/readyz")).status, 200);
}

TEST(Enrolment, JoiningAgainReplacesTheKeyAndCutsTheOldOne) {
  Federation federation;
  const Papers before = federation.join("edge-1", {Role::provider});
  EXPECT_EQ(federation.call(before, Members::get("/v1/whoami")).status, 200);
  const Papers after = federation.join("edge-1", {Role::provider, Role::consumer});
  EXPECT_EQ(federation.call(before, Members::get("/v1/whoami")).status, 401);
  EXPECT_EQ(federation.call(after, Members::get("/v1/whoami")).status, 200);
}

TEST(Enrolment, NobodyRevokesItself) {
  Federation federation;
  EXPECT_EQ(
      federation.call(federation.boss(), Members::post("/v1/identities/operator/revoke")).status,
      409);
}

}  // namespace
}  // namespace spillway
