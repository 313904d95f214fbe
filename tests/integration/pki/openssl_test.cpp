// What we make, judged by a program that we did not write: openssl.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "pki/authority_folder.h"
#include "pki/request.h"
#include "support/temporary_folder.h"

namespace spillway::pki {
namespace {

using testing::HasSubstr;

constexpr Instant k_now{1'800'000'000'000};

struct Answer {
  int code = -1;
  std::string text;  // both its outputs
};

class WithOpenssl : public testing::Test {
 protected:
  std::string put(const std::string& name, std::string_view text) const {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    return path;
  }

  static Answer openssl(const std::string& arguments) {
    FILE* pipe = ::popen(("openssl " + arguments + " </dev/null 2>&1").c_str(), "r");
    Answer answer;
    std::array<char, 4096> buffer{};
    while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      answer.text.append(buffer.data(), got);
    }
    const int status = ::pclose(pipe);
    answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return answer;
  }

  // With nothing trusted but the bundle.
  Answer verify(const std::string& pem, const std::string& bundle, const std::string& options,
                Instant at = k_now) const {
    return openssl("verify -x509_strict -no-CApath -no-CAstore -CAfile " + put("bundle", bundle) +
                   " -attime " + std::to_string(at.ms / 1000) + " " + options + " " +
                   put("judged", pem));
  }

  test::TemporaryFolder folder;
  const Authority authority = *Authority::create("lab", k_now);
  const Key key = Key::generate();
};

TEST_F(WithOpenssl, TheAuthorityIsOne) {
  const Answer text = openssl("x509 -noout -text -in " + put("a", authority.certificate_pem()));
  EXPECT_THAT(text.text, HasSubstr("Subject: CN = lab authority"));
  EXPECT_THAT(text.text, HasSubstr("NIST CURVE: P-256"));
  EXPECT_THAT(text.text,
              HasSubstr("Basic Constraints: critical\n                CA:TRUE, pathlen:0"));
  EXPECT_THAT(text.text,
              HasSubstr("Key Usage: critical\n                Certificate Sign, CRL Sign"));
  EXPECT_THAT(text.text, HasSubstr("Signature Algorithm: ecdsa-with-SHA256"));
  EXPECT_EQ(verify(authority.certificate_pem(), authority.certificate_pem(), "").code, 0);
}

TEST_F(WithOpenssl, FingerprintAndSerialAreTheSame) {
  const Answer answer = openssl("x509 -noout -fingerprint -sha256 -serial -in " +
                                put("a", authority.certificate_pem()));
  std::string said;
  for (const char c : answer.text) {
    if (c != ':') said += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  EXPECT_THAT(said, HasSubstr("fingerprint=" + authority.fingerprint()));
  EXPECT_THAT(said, HasSubstr("serial=" + authority.facts().serial));
}

TEST_F(WithOpenssl, MembersAreClientsOnlyAndForTheirTime) {
  const std::string pem =
      *authority.issue_member(key.public_key(), "edge-1", k_now, k_now + hours(24));
  const std::string& bundle = authority.certificate_pem();
  EXPECT_EQ(verify(pem, bundle, "-purpose sslclient").code, 0);
  EXPECT_NE(verify(pem, bundle, "-purpose sslserver").code, 0);
  EXPECT_EQ(verify(pem, bundle, "", k_now - minutes(4)).code, 0) << "clocks differ";
  EXPECT_NE(verify(pem, bundle, "", k_now - minutes(6)).code, 0);
  EXPECT_NE(verify(pem, bundle, "", k_now + hours(25)).code, 0);
  EXPECT_NE(verify(pem, Authority::create("lab", k_now)->certificate_pem(), "").code, 0);

  const Answer text = openssl("x509 -noout -text -in " + put("m", pem));
  EXPECT_THAT(text.text, HasSubstr("Subject: CN = edge-1"));
  EXPECT_THAT(text.text, HasSubstr("Issuer: CN = lab authority"));
  EXPECT_THAT(text.text, HasSubstr("Subject Alternative Name: \n                "
                                   "URI:spillway://lab/edge-1"));
  EXPECT_THAT(text.text, HasSubstr("Extended Key Usage: \n                TLS Web Client"));
  EXPECT_THAT(text.text, HasSubstr("Key Usage: critical\n                Digital Signature\n"));
  EXPECT_THAT(text.text, HasSubstr("CA:FALSE"));
}

TEST_F(WithOpenssl, ServersAreServersOnlyAndForTheirNames) {
  const std::string pem = *authority.issue_server(
      key.public_key(), {{"broker.example"}, {"203.0.113.7", "2001:db8::7"}}, k_now,
      k_now + hours(24 * 90));
  const std::string& bundle = authority.certificate_pem();
  const std::string server = "-purpose sslserver ";
  EXPECT_EQ(verify(pem, bundle, server + "-verify_hostname broker.example").code, 0);
  EXPECT_EQ(verify(pem, bundle, server + "-verify_ip 203.0.113.7").code, 0);
  EXPECT_EQ(verify(pem, bundle, server + "-verify_ip 2001:db8::7").code, 0);
  EXPECT_NE(verify(pem, bundle, server + "-verify_hostname other.example").code, 0);
  EXPECT_NE(verify(pem, bundle, server + "-verify_ip 203.0.113.8").code, 0);
  EXPECT_NE(verify(pem, bundle, "-purpose sslclient").code, 0);
}

TEST_F(WithOpenssl, AMemberCannotSignForOthers) {
  // Its key, as if it were an authority: signs another member's certificate.
  const std::string member =
      *authority.issue_member(key.public_key(), "edge-1", k_now, k_now + hours(24));
  const std::string request = put("r", *make_request(Key::generate(), "edge-2"));
  const Answer signing = openssl("x509 -req -days 9000 -CA " + put("m", member) + " -CAkey " +
                                 put("k", key.to_pem().view()) + " -CAcreateserial -in " + request +
                                 " -out " + (folder / "forged"));
  ASSERT_EQ(signing.code, 0) << signing.text;
  const std::string forged(read_private(folder / "forged", Readers::anyone)->view());
  EXPECT_NE(verify(forged, authority.certificate_pem(), "-untrusted " + put("m", member)).code, 0);
  EXPECT_FALSE(check_issued_by(forged, authority.certificate_pem()));
}

TEST_F(WithOpenssl, ItReadsOurRequestsAndKeys) {
  const Answer request =
      openssl("req -verify -noout -subject -in " + put("r", *make_request(key, "edge-1")));
  EXPECT_EQ(request.code, 0);
  EXPECT_THAT(request.text, HasSubstr("verify OK"));
  EXPECT_THAT(request.text, HasSubstr("subject=CN = edge-1"));

  const std::string encrypted = put("e", *key.to_encrypted_pem("correct horse battery"));
  const std::string passphrase = put("p", "correct horse battery");
  const Answer plain = openssl("pkey -in " + encrypted + " -passin file:" + passphrase);
  EXPECT_EQ(plain.code, 0) << plain.text;
  EXPECT_EQ(plain.text, key.to_pem().view());
  EXPECT_NE(openssl("pkey -in " + encrypted + " -passin pass:wrong").code, 0);
}

TEST_F(WithOpenssl, WeReadItsRequestsAndKeys) {
  const std::string make = "req -new -nodes -subj /CN=edge-1 -keyout " + (folder / "k") + " -out " +
                           (folder / "r") + " -newkey ";
  const auto request = [&](const std::string& algorithm) {
    const Answer made = openssl(make + algorithm);
    EXPECT_EQ(made.code, 0) << made.text;
    return read_request(read_private(folder / "r", Readers::anyone)->view());
  };
  EXPECT_TRUE(request("ed25519"));
  EXPECT_FALSE(request("rsa:2048"));
  EXPECT_FALSE(request("ec -pkeyopt ec_paramgen_curve:P-384"));
  EXPECT_FALSE(request("ec -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit"));
  const Result<Request> p256 = request("ec -pkeyopt ec_paramgen_curve:P-256");
  ASSERT_TRUE(p256) << p256.error().message();
  const Result<Key> its_key = Key::from_pem(read_private(folder / "k")->view());
  ASSERT_TRUE(its_key) << its_key.error().message();
  EXPECT_EQ(its_key->fingerprint(), p256->fingerprint);

  const Answer encrypted =
      openssl("pkcs8 -topk8 -v2 aes-256-cbc -passout pass:short -in " + (folder / "k"));
  ASSERT_EQ(encrypted.code, 0) << encrypted.text;
  EXPECT_TRUE(Key::from_encrypted_pem(encrypted.text, "short")) << "PBKDF2 as well";
}

TEST_F(WithOpenssl, NobodyIsCutOffByARotation) {
  AuthorityFolder home = *AuthorityFolder::create(folder / "authority", "lab", k_now);
  const auto member = [&] {
    return *home.signer().issue_member(key.public_key(), "edge-1", k_now, k_now + hours(24));
  };
  const auto trusted = [&](const std::string& pem, const std::string& bundle) {
    return verify(pem, bundle, "-purpose sslclient").code == 0 &&
           check_issued_by(pem, bundle).has_value();
  };
  const std::string before = member();
  ASSERT_TRUE(home.begin_rotation(k_now));
  const std::string early_bundle = home.bundle();
  EXPECT_TRUE(trusted(before, early_bundle));
  EXPECT_TRUE(trusted(member(), early_bundle));
  ASSERT_TRUE(home.finish_rotation(k_now));
  const std::string after = member();
  EXPECT_TRUE(trusted(after, early_bundle)) << "who fetched the bundle in time knows the new one";
  EXPECT_TRUE(trusted(before, home.bundle()));
  EXPECT_TRUE(trusted(after, home.bundle()));
  ASSERT_TRUE(home.retire_former(k_now));
  EXPECT_TRUE(trusted(after, home.bundle()));
  EXPECT_NE(verify(before, home.bundle(), "").code, 0);
  EXPECT_FALSE(check_issued_by(before, home.bundle()));
}

}  // namespace
}  // namespace spillway::pki
