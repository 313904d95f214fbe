#include "pki/subject_request.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include "base/base64.h"
#include "odd_requests.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "pki/openssl.h"
#include "pki/public_key.h"
#include "support/liqo_recordings.h"

namespace spillway::pki {
namespace {

const Subject k_subject{"buyer", "unit-6dbd0f28d0d9"};

std::string refused(std::string_view pem, const PublicKey& key,
                    const Subject& subject = k_subject) {
  const Status status = check_subject_request(pem, subject, key);
  return status ? "nothing is wrong" : status.error().reason;
}

// Each pair is an attribute; a multi-valued set where `together`.
std::string request_with(const Key& key, const std::vector<std::pair<int, std::string>>& entries,
                         bool together = false, bool extension = false) {
  const OwnedRequest request(X509_REQ_new());
  X509_NAME* name = X509_REQ_get_subject_name(request.get());
  for (size_t i = 0; i < entries.size(); ++i) {
    X509_NAME_add_entry_by_NID(name, entries[i].first, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(entries[i].second.data()),
                               static_cast<int>(entries[i].second.size()), -1,
                               together && i > 0 ? -1 : 0);
  }
  if (extension) {
    STACK_OF(X509_EXTENSION)* list = sk_X509_EXTENSION_new_null();
    sk_X509_EXTENSION_push(
        list, X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:else.example"));
    X509_REQ_add_extensions(request.get(), list);
    sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
  }
  X509_REQ_set_pubkey(request.get(), key.handle());
  X509_REQ_sign(request.get(), key.handle(), nullptr);
  const OwnedBio bio = memory_writer();
  PEM_write_bio_X509_REQ(bio.get(), request.get());
  return std::string(written(bio));
}

TEST(SubjectRequest, WhatIsMadePasses) {
  const Key key = Key::generate_member();
  const auto pem = make_subject_request(key, k_subject);
  ASSERT_TRUE(pem) << pem.error().message();
  EXPECT_EQ(refused(*pem, key.public_key()), "nothing is wrong");
}

TEST(SubjectRequest, ASubjectThatKubernetesWouldReadOtherwiseIsNotMade) {
  const Key key = Key::generate_member();
  for (const char* bad : {"", "a b", "a,b", "a\nb", "ä", "a=b"}) {
    EXPECT_FALSE(make_subject_request(key, {bad, "cn"})) << bad;
    EXPECT_FALSE(make_subject_request(key, {"o", bad})) << bad;
  }
  EXPECT_FALSE(make_subject_request(key, {std::string(65, 'a'), "cn"}));
}

TEST(SubjectRequest, AnotherKeyIsDenied) {
  const Key key = Key::generate_member();
  EXPECT_EQ(
      refused(make_subject_request(key, k_subject).value(), Key::generate_member().public_key()),
      "it is for another key");
}

TEST(SubjectRequest, EveryOtherSubjectIsDenied) {
  const Key key = Key::generate_member();
  constexpr int o = NID_organizationName;
  constexpr int cn = NID_commonName;
  const std::string& buyer = k_subject.organization;
  const std::string& user = k_subject.common_name;
  const std::vector<std::vector<std::pair<int, std::string>>> odd{
      {},
      {{cn, user}},
      {{o, buyer}},
      {{o, buyer}, {o, "liqo.io"}, {cn, user}},
      {{o, "liqo.io"}, {o, buyer}, {cn, user}},
      {{o, buyer}, {cn, user}, {cn, "admin"}},
      {{o, buyer}, {cn, user}, {o, "system:masters"}},
      {{o, "system:masters"}, {cn, user}},
      {{o, buyer}, {cn, user + "x"}},
      {{o, "Buyer"}, {cn, user}},
      {{o, buyer + " "}, {cn, user}},
      {{cn, user}, {o, buyer}},
      {{o, buyer}, {NID_organizationalUnitName, user}},
      {{o, buyer}, {cn, user}, {NID_serialNumber, "1"}}};
  for (const auto& entries : odd) {
    EXPECT_NE(refused(request_with(key, entries), key.public_key()), "nothing is wrong")
        << entries.size() << " entries";
  }
  EXPECT_EQ(refused(request_with(key, {{o, buyer}, {cn, user}}), key.public_key()),
            "nothing is wrong");
}

TEST(SubjectRequest, TwoInOneSetAreDenied) {
  const Key key = Key::generate_member();
  EXPECT_NE(refused(request_with(key,
                                 {{NID_organizationName, k_subject.organization},
                                  {NID_commonName, k_subject.common_name}},
                                 true),
                    key.public_key()),
            "nothing is wrong");
}

TEST(SubjectRequest, ExtensionsAreDenied) {
  const Key key = Key::generate_member();
  EXPECT_EQ(refused(request_with(key,
                                 {{NID_organizationName, k_subject.organization},
                                  {NID_commonName, k_subject.common_name}},
                                 false, true),
                    key.public_key()),
            "it asks for extensions");
}

// Parties keep what they are sent.
TEST(SubjectRequest, OneThatIsMadeLongerIsDenied) {
  const Key key = Key::generate_member();
  const std::string longest =
      *make_subject_request(key, {std::string(64, 'o'), std::string(64, 'n')});
  EXPECT_LT(longest.size(), 1024U);
  EXPECT_TRUE(check_subject_request(longest, {std::string(64, 'o'), std::string(64, 'n')},
                                    key.public_key()));
  const std::string padded = *make_subject_request(key, k_subject) + std::string(1024, '\n');
  EXPECT_EQ(refused(padded, key.public_key()),
            fmt::format("it has {} bytes, at most 1024", padded.size()));
}

TEST(SubjectRequest, WhatIsNoRequestIsRefused) {
  EXPECT_FALSE(check_subject_request("", k_subject, Key::generate_member().public_key()));
}

// ---- what real Liqo has made
// ---------------------------------------------------------------------

std::string bytes_in(const model::Node& object, model::Path path) {
  return from_base64(model::text_at(object, path)).value_or("");
}

TEST(LiqoHandshake, TheSignatureIsOverTheTextOfTheNonce) {
  const auto secret = versions("01-peer", "buyer", "Secret", "liqo-signed-nonce").back();
  const auto tenant = versions("01-peer", "seller", "Tenant", "buyer").back();
  const auto key = read_public_key(bytes_in(tenant, {"spec", "publicKey"}));
  ASSERT_TRUE(key) << key.error().message();
  const std::string nonce = bytes_in(secret, {"data", "nonce"});
  EXPECT_TRUE(verify_message(*key, nonce, bytes_in(tenant, {"spec", "signature"})));
  EXPECT_FALSE(verify_message(*key, nonce + "x", bytes_in(tenant, {"spec", "signature"})));
  EXPECT_EQ(to_pem(*key), bytes_in(tenant, {"spec", "publicKey"}));
}

TEST(LiqoHandshake, LiqosRequestsPassForTheirSubjectAndNoOther) {
  const auto tenant = versions("01-peer", "seller", "Tenant", "buyer").back();
  const auto key = read_public_key(bytes_in(tenant, {"spec", "publicKey"}));
  ASSERT_TRUE(key);
  const std::string request = bytes_in(tenant, {"spec", "csr"});
  EXPECT_EQ(refused(request, *key, {"liqo.io", "buyer"}), "nothing is wrong");
  EXPECT_EQ(refused(request, *key, {"liqo.io", "buyers"}), "its common name is not buyers");
  for (const auto& [step, slice] :
       {std::pair{"02-unit-by-liqoctl", "unit-by-liqoctl"}, std::pair{"03-unit", "unit-0"}}) {
    const auto object = versions(step, "seller", "ResourceSlice", slice).back();
    const Subject subject{"buyer", fmt::format("{}-{}", slice, sha256_hex("buyer").substr(0, 12))};
    EXPECT_EQ(refused(bytes_in(object, {"spec", "csr"}), *key, subject), "nothing is wrong");
  }
}

TEST(LiqoHandshake, AClustersKeyIsReadAsLiqoKeepsIt) {
  const auto keys = versions("00-keys", "buyer", "Secret", "authentication-keys").back();
  EXPECT_TRUE(Key::from_pem(bytes_in(keys, {"data", "privateKey"})));
  EXPECT_TRUE(read_public_key(bytes_in(keys, {"data", "publicKey"})));
}

TEST(PublicKey, OddOnesAreRefused) {
  EXPECT_FALSE(read_public_key(""));
  EXPECT_FALSE(read_public_key(std::string(k_max_public_key + 1, 'a')));
  EXPECT_FALSE(read_public_key("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"));
  EXPECT_FALSE(read_public_key(Key::generate().to_pem().view()));
  EXPECT_TRUE(read_public_key(to_pem(Key::generate().public_key())));
}

}  // namespace
}  // namespace spillway::pki
