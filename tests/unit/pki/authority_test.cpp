#include "pki/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "odd_requests.h"
#include "pki/request.h"

namespace spillway::pki {
namespace {

using testing::ElementsAre;

constexpr Instant k_now{1'800'000'000'000};

class AuthorityOfLab : public testing::Test {
 protected:
  const Authority authority = *Authority::create("lab", k_now);
  const Key key = Key::generate();
};

TEST_F(AuthorityOfLab, IsWhatItSays) {
  const Result<Certificate> facts = read_certificate(authority.certificate_pem());
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_TRUE(facts->is_authority);
  EXPECT_EQ(facts->common_name, "lab authority");
  EXPECT_EQ(facts->not_before, k_now - minutes(5));
  EXPECT_EQ(facts->not_after, k_now + hours(24 * 3652));
  EXPECT_EQ(facts->fingerprint, authority.fingerprint());
  EXPECT_EQ(*fingerprint_of(authority.certificate_pem()), authority.fingerprint());
  EXPECT_EQ(authority.federation(), "lab");
  EXPECT_LE(facts->serial.size(), 32U);
  EXPECT_GE(facts->serial.size(), 24U);
  EXPECT_EQ(facts->uri, "");
}

TEST_F(AuthorityOfLab, ComesBackFromItsPem) {
  const Result<Authority> again =
      Authority::from_pem(authority.certificate_pem(), authority.key_pem().view());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->fingerprint(), authority.fingerprint());
  EXPECT_EQ(again->certificate_pem(), authority.certificate_pem());
}

TEST_F(AuthorityOfLab, LetsInUsersWhoAreNoMembers) {
  const Result<std::string> pem =
      authority.issue_user(key.public_key(), {"liqo.io", "rome"}, k_now, k_now + hours(1));
  ASSERT_TRUE(pem) << pem.error().message();
  const Certificate facts = read_certificate(*pem).value();
  EXPECT_EQ(facts.common_name, "rome");
  EXPECT_EQ(facts.uri, "") << "nobody takes it for a member";
  EXPECT_EQ(facts.key_fingerprint, key.fingerprint());
  EXPECT_TRUE(check_issued_by(*pem, authority.certificate_pem()));
  EXPECT_FALSE(authority.issue_user(key.public_key(), {"", "rome"}, k_now, k_now + hours(1)));
  EXPECT_FALSE(authority.issue_user(key.public_key(), {"a,b", "rome"}, k_now, k_now + hours(1)));
}

TEST_F(AuthorityOfLab, ComesNotBackFromAnothersPem) {
  const Authority other = *Authority::create("lab", k_now);
  EXPECT_FALSE(Authority::from_pem(authority.certificate_pem(), other.key_pem().view()));
  const std::string member =
      *authority.issue_member(key.public_key(), "edge-1", k_now, k_now + hours(1));
  EXPECT_FALSE(Authority::from_pem(member, key.to_pem().view()));
  EXPECT_FALSE(Authority::from_pem("", authority.key_pem().view()));
  EXPECT_FALSE(Authority::from_pem(authority.certificate_pem(), ""));
}

TEST_F(AuthorityOfLab, IssuesMembers) {
  const Result<std::string> pem =
      authority.issue_member(key.public_key(), "edge-1", k_now, k_now + hours(24));
  ASSERT_TRUE(pem) << pem.error().message();
  const Result<Certificate> facts = read_certificate(*pem);
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->uri, "spillway://lab/edge-1");
  EXPECT_EQ(facts->common_name, "edge-1");
  EXPECT_EQ(facts->key_fingerprint, key.fingerprint());
  EXPECT_EQ(facts->not_before, k_now - minutes(5));
  EXPECT_EQ(facts->not_after, k_now + hours(24));
  EXPECT_FALSE(facts->is_authority);
  EXPECT_TRUE(facts->dns_names.empty());
  EXPECT_TRUE(check_issued_by(*pem, authority.certificate_pem()));
}

TEST_F(AuthorityOfLab, SerialsDiffer) {
  const auto serial = [&] {
    return read_certificate(
               *authority.issue_member(key.public_key(), "edge-1", k_now, k_now + hours(1)))
        ->serial;
  };
  EXPECT_NE(serial(), serial());
}

TEST_F(AuthorityOfLab, NothingOfARequestButItsKeyIsUsed) {
  const TestKey theirs = ed25519_key();
  const Result<Request> request = read_request(
      odd_request(theirs, theirs, "operator", "URI:spillway://lab/operator,DNS:broker.example"));
  ASSERT_TRUE(request) << request.error().message();
  const Certificate facts =
      *read_certificate(*authority.issue_member(request->key, "edge-1", k_now, k_now + hours(1)));
  EXPECT_EQ(facts.uri, "spillway://lab/edge-1");
  EXPECT_EQ(facts.common_name, "edge-1");
  EXPECT_TRUE(facts.dns_names.empty());
  EXPECT_FALSE(facts.is_authority);
  EXPECT_EQ(facts.key_fingerprint, request->fingerprint);
}

TEST_F(AuthorityOfLab, NamesAreLabels) {
  for (const char* name : {"", "Edge", "a.b", "a/b", "-a", "a-", "a b", "a,DNS:b"}) {
    EXPECT_FALSE(authority.issue_member(key.public_key(), name, k_now, k_now + hours(1))) << name;
  }
  EXPECT_TRUE(
      authority.issue_member(key.public_key(), std::string(63, 'a'), k_now, k_now + hours(1)));
}

TEST_F(AuthorityOfLab, WhatItIssuesEndsWithIt) {
  const Instant end = authority.facts().not_after;
  const std::string pem =
      *authority.issue_member(key.public_key(), "edge-1", end - hours(1), end + hours(1));
  EXPECT_EQ(read_certificate(pem)->not_after, end);
  const auto late = authority.issue_member(key.public_key(), "edge-1", end, end + hours(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::conflict);
  EXPECT_FALSE(authority.issue_member(key.public_key(), "edge-1", k_now, k_now));
  EXPECT_FALSE(authority.issue_member(key.public_key(), "edge-1", Instant{0}, k_now));
}

TEST_F(AuthorityOfLab, IssuesServers) {
  const Result<std::string> pem = authority.issue_server(
      key.public_key(), {{"broker.example", "*.example"}, {"203.0.113.7", "2001:db8::7"}}, k_now,
      k_now + hours(24 * 90));
  ASSERT_TRUE(pem) << pem.error().message();
  const Certificate facts = *read_certificate(*pem);
  EXPECT_THAT(facts.dns_names, ElementsAre("broker.example", "*.example"));
  EXPECT_THAT(facts.ip_addresses, ElementsAre("203.0.113.7", "2001:db8::7"));
  EXPECT_EQ(facts.common_name, "broker.example");
  EXPECT_EQ(facts.uri, "");
  EXPECT_TRUE(check_issued_by(*pem, authority.certificate_pem()));
}

TEST_F(AuthorityOfLab, ServersNeedProperNames) {
  const auto issue = [&](const ServerNames& names) {
    return authority.issue_server(key.public_key(), names, k_now, k_now + hours(1)).has_value();
  };
  EXPECT_FALSE(issue({}));
  EXPECT_FALSE(issue({{"Broker.example"}, {}}));
  EXPECT_FALSE(issue({{"a..b"}, {}}));
  EXPECT_FALSE(issue({{"*"}, {}}));
  EXPECT_FALSE(issue({{"a.*.b"}, {}}));
  EXPECT_FALSE(issue({{}, {"203.0.113"}}));
  EXPECT_FALSE(issue({{}, {"203.0.113.7/24"}}));
  EXPECT_FALSE(issue({std::vector<std::string>(101, "a.example"), {}}));
  EXPECT_TRUE(issue({{}, {"::1"}}));
  ServerNames longer_than_a_common_name;
  longer_than_a_common_name.dns_names.push_back(std::string(60, 'a') + ".example");
  EXPECT_TRUE(issue(longer_than_a_common_name));
}

TEST(Authority, FederationsHaveDnsNames) {
  for (const char* name : {"", "Lab", "a b", "a/b", ".a", "a.", "a..b"}) {
    EXPECT_FALSE(Authority::create(name, k_now)) << name;
  }
  EXPECT_TRUE(Authority::create(std::string(54, 'a'), k_now));
  EXPECT_FALSE(Authority::create(std::string(55, 'a'), k_now));
  EXPECT_EQ(Authority::create("eu.example", k_now)->federation(), "eu.example");
}

TEST(Authority, NeedsAClockThatCanBeRight) {
  EXPECT_FALSE(Authority::create("lab", Instant{0}));
  EXPECT_FALSE(Authority::create("lab", k_last_instant));
}

TEST(MemberUri, StrictInverse) {
  EXPECT_EQ(member_uri("lab", "edge-1"), "spillway://lab/edge-1");
  const Result<MemberName> name = parse_member_uri("spillway://eu.example/edge-1");
  ASSERT_TRUE(name);
  EXPECT_EQ(*name, (MemberName{"eu.example", "edge-1"}));
  for (const char* uri :
       {"", "spillway://", "spillway://lab", "spillway://lab/", "spillway:///a", "Spillway://lab/a",
        "spillway://lab/a/", "spillway://lab/a/b", "spillway://lab/A", "spillway://Lab/a",
        "spillway://lab/a?b", "spillway://lab/a%20", "spillway://u@lab/a", "spillway://lab:1/a",
        "https://lab/a", " spillway://lab/a", "spillway://lab//a"}) {
    EXPECT_FALSE(parse_member_uri(uri)) << uri;
  }
}

}  // namespace
}  // namespace spillway::pki
