#include "pki/certificate.h"

#include <gtest/gtest.h>

#include "pki/authority.h"

namespace spillway::pki {
namespace {

constexpr Instant k_now{1'800'000'000'000};

// Made once by another program: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256
// -subj "/O=Other/CN=other" -addext "subjectAltName=DNS:a.example,IP:192.0.2.1,URI:one:1,URI:two:2"
// -set_serial 0xabcdef -days 20000; what it says is as `openssl x509` reads it.
constexpr std::string_view k_foreign = R"(-----BEGIN CERTIFICATE-----
MIIBsjCCAVegAwIBAgIEAKvN7zAKBggqhkjOPQQDAjAgMQ4wDAYDVQQKDAVPdGhl
cjEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTE1MjAxOTIyWhgPMjA4MTA4MTgyMDE5
MjJaMCAxDjAMBgNVBAoMBU90aGVyMQ4wDAYDVQQDDAVvdGhlcjBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABJ/YleobZSmRP/9yYrn3fN+weLRd9fI9CPoxVuQqzTsh
HZhdRS1UsD7jFcKlNoYlps7ltbM+YIPKmirmfs6duh2jfTB7MB0GA1UdDgQWBBRM
Cerh3Z9nXx+eAdEnc90gYO1yrjAfBgNVHSMEGDAWgBRMCerh3Z9nXx+eAdEnc90g
YO1yrjAPBgNVHRMBAf8EBTADAQH/MCgGA1UdEQQhMB+CCWEuZXhhbXBsZYcEwAAC
AYYFb25lOjGGBXR3bzoyMAoGCCqGSM49BAMCA0kAMEYCIQCa0oqe5WwwjmNE3zhk
K3RgBkh4i0Hc2BKMK3OUtkY5dwIhALoJzyFnR0scBy5hMgfT0h74WxZVm01gKrQF
LEQJcOvw
-----END CERTIFICATE-----
)";
constexpr std::string_view k_foreign_fingerprint =
    "86aef7620170f5bd51539438a2f33779cd08fead0a53544b0527444294bf703b";
constexpr std::string_view k_foreign_key_fingerprint =
    "7a276d2fea66262dd01406cd4233d6c4990858386ae7494f3d88f1646e4846fe";
constexpr std::string_view k_foreign_not_before = "2026-11-15T20:19:22Z";
constexpr std::string_view k_foreign_not_after = "2081-08-18T20:19:22Z";

// The same with a NUL for the dot of "a.example".
constexpr std::string_view k_nul_in_name = R"(-----BEGIN CERTIFICATE-----
MIIBsjCCAVegAwIBAgIEAKvN7zAKBggqhkjOPQQDAjAgMQ4wDAYDVQQKDAVPdGhl
cjEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTE1MjAxOTIyWhgPMjA4MTA4MTgyMDE5
MjJaMCAxDjAMBgNVBAoMBU90aGVyMQ4wDAYDVQQDDAVvdGhlcjBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABJ/YleobZSmRP/9yYrn3fN+weLRd9fI9CPoxVuQqzTsh
HZhdRS1UsD7jFcKlNoYlps7ltbM+YIPKmirmfs6duh2jfTB7MB0GA1UdDgQWBBRM
Cerh3Z9nXx+eAdEnc90gYO1yrjAfBgNVHSMEGDAWgBRMCerh3Z9nXx+eAdEnc90g
YO1yrjAPBgNVHRMBAf8EBTADAQH/MCgGA1UdEQQhMB+CCWEAZXhhbXBsZYcEwAAC
AYYFb25lOjGGBXR3bzoyMAoGCCqGSM49BAMCA0kAMEYCIQCa0oqe5WwwjmNE3zhk
K3RgBkh4i0Hc2BKMK3OUtkY5dwIhALoJzyFnR0scBy5hMgfT0h74WxZVm01gKrQF
LEQJcOvw
-----END CERTIFICATE-----
)";

TEST(Certificate, ReadsWhatOthersMade) {
  const Result<Certificate> facts = read_certificate(k_foreign);
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->uri, "one:1");
  EXPECT_EQ(facts->dns_names, std::vector<std::string>{"a.example"});
  EXPECT_EQ(facts->ip_addresses, std::vector<std::string>{"192.0.2.1"});
  EXPECT_EQ(facts->serial, "abcdef");
  EXPECT_EQ(facts->common_name, "other");
  EXPECT_TRUE(facts->is_authority);
  EXPECT_EQ(facts->fingerprint, k_foreign_fingerprint);
  EXPECT_EQ(facts->key_fingerprint, k_foreign_key_fingerprint);
  EXPECT_EQ(to_text(facts->not_before), k_foreign_not_before);
  EXPECT_EQ(to_text(facts->not_after), k_foreign_not_after);
  EXPECT_FALSE(federation_of_authority(*facts));
}

TEST(Certificate, NoCutOrGarbledTextCrashesOrPassesForTheSame) {
  const std::string pem(k_foreign);
  for (size_t length = 0; length + 1 < pem.size(); ++length) {
    EXPECT_FALSE(read_certificate(pem.substr(0, length))) << length;
  }
  for (size_t at = 28; at < pem.size() - 28; ++at) {
    std::string garbled = pem;
    garbled[at] = pem[at] == 'A' ? 'B' : 'A';
    const Result<Certificate> facts = read_certificate(garbled);
    EXPECT_TRUE(!facts || facts->fingerprint != k_foreign_fingerprint) << at;
  }
}

TEST(Certificate, ANameWithANulInItIsRefused) {
  const Result<Certificate> facts = read_certificate(k_nul_in_name);
  ASSERT_FALSE(facts);
  EXPECT_NE(facts.error().reason.find("names"), std::string::npos);
}

TEST(Certificate, BundlesAreSplitInOrder) {
  const std::string one = Authority::create("one", k_now)->certificate_pem();
  const std::string two = Authority::create("two", k_now)->certificate_pem();
  const Result<std::vector<std::string>> split = split_bundle(one + "\n" + two);
  ASSERT_TRUE(split) << split.error().message();
  EXPECT_EQ(*split, (std::vector<std::string>{one, two}));
}

TEST(Certificate, BundlesHoldCertificatesOnly) {
  const Authority authority = *Authority::create("one", k_now);
  const std::string& pem = authority.certificate_pem();
  EXPECT_FALSE(split_bundle(""));
  EXPECT_FALSE(split_bundle("\n \n"));
  EXPECT_FALSE(split_bundle(pem + std::string(authority.key_pem().view())));
  EXPECT_FALSE(split_bundle(pem + "hello"));
  EXPECT_FALSE(split_bundle(pem.substr(0, pem.size() - 3)));
  EXPECT_FALSE(split_bundle(std::string(k_max_bundle + 1, '\n')));
  EXPECT_FALSE(read_certificate(pem + pem));
  EXPECT_FALSE(fingerprint_of(pem + pem));
  EXPECT_FALSE(fingerprint_of("hello"));
}

TEST(Certificate, IssuedByIsAboutTheKeyNotTheName) {
  const Authority right = *Authority::create("lab", k_now);
  const Authority impostor = *Authority::create("lab", k_now);
  const Key key = Key::generate();
  const std::string member =
      *right.issue_member(key.public_key(), "edge-1", k_now, k_now + hours(1));
  EXPECT_TRUE(check_issued_by(member, right.certificate_pem()));
  EXPECT_TRUE(check_issued_by(member, impostor.certificate_pem() + right.certificate_pem()));
  const Status by_impostor = check_issued_by(member, impostor.certificate_pem());
  ASSERT_FALSE(by_impostor);
  EXPECT_EQ(by_impostor.error().code, Code::denied);
  EXPECT_FALSE(check_issued_by(member, member)) << "a member is no authority";
  EXPECT_FALSE(check_issued_by("hello", right.certificate_pem()));
  EXPECT_FALSE(check_issued_by(member, ""));
}

}  // namespace
}  // namespace spillway::pki
