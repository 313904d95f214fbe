#include "pki/request.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "odd_requests.h"
#include "pki/base64url.h"
#include "pki/ed25519.h"

namespace spillway::pki {
namespace {

TEST(Request, CarriesTheKeyOfWhoMadeIt) {
  const Key key = Key::generate();
  const Result<std::string> pem = make_request(key, "edge-1");
  ASSERT_TRUE(pem) << pem.error().message();
  const Result<Request> request = read_request(*pem);
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(request->fingerprint, key.fingerprint());
  EXPECT_EQ(request->key.fingerprint(), key.fingerprint());
  EXPECT_TRUE(read_request("\n" + *pem + "\r\n")) << "white space around it is harmless";
}

TEST(Request, ACommonNameMustFit) {
  const Key key = Key::generate();
  EXPECT_FALSE(make_request(key, ""));
  EXPECT_FALSE(make_request(key, std::string(65, 'a')));
  EXPECT_FALSE(make_request(key, "a\nb"));
  EXPECT_TRUE(make_request(key, std::string(64, 'a')));
  EXPECT_TRUE(make_request(key, "Büro"));
}

TEST(Request, Ed25519IsWelcome) {
  const Result<Request> request = read_request(odd_request(ed25519_key()));
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(request->fingerprint, request->key.fingerprint());
}

TEST(Request, OtherKeysAreRefused) {
  for (const TestKey& key : {rsa_key(), curve_key("P-384"), curve_key("P-521"),
                             curve_key("secp256k1"), compressed_key()}) {
    const Result<Request> request = read_request(odd_request(key));
    ASSERT_FALSE(request);
    EXPECT_EQ(request.error().code, Code::invalid);
    EXPECT_NE(request.error().reason.find("P-256"), std::string::npos);
  }
}

// Under the point of order 1 the signature "that point, zero" is right for every message.
TEST(Request, AKeyForWhichAnybodyCanSignIsRefused) {
  const Key key = Key::generate_member();
  const std::string pem = *make_request(key, "edge-1");
  const size_t first = pem.find('\n') + 1;
  std::string base64 = pem.substr(first, pem.find("\n-----END") - first);
  std::erase(base64, '\n');
  std::string der = *from_base64(base64);
  const auto point = from_base64url(*signing_key_text(key.public_key()));
  const std::string one = "\x01" + std::string(31, '\0');
  der.replace(der.find(point->view()), 32, one);
  der.replace(der.size() - 64, 64, one + std::string(32, '\0'));
  const Result<Request> request =
      read_request("-----BEGIN CERTIFICATE REQUEST-----\n" + to_base64(der) +
                   "\n-----END CERTIFICATE REQUEST-----\n");
  ASSERT_FALSE(request);
  EXPECT_NE(request.error().reason.find("small order"), std::string::npos)
      << request.error().reason;
}

TEST(Request, SignedByAnotherKeyIsRefused) {
  const Result<Request> request = read_request(
      odd_request(curve_key("P-256"), curve_key("P-256"), "edge-1", "URI:spillway://lab/edge-1"));
  ASSERT_FALSE(request);
  EXPECT_NE(request.error().reason.find("signature"), std::string::npos);
}

TEST(Request, NoChangedBitPasses) {
  const Key key = Key::generate();
  const std::string pem = *make_request(key, "edge-1");
  const size_t first = pem.find('\n') + 1;
  const size_t last = pem.find("\n-----END");
  for (size_t at = first; at < last; ++at) {
    if (pem[at] == '\n') continue;
    std::string garbled = pem;
    garbled[at] = pem[at] == 'A' ? 'B' : 'A';
    const Result<Request> request = read_request(garbled);
    // Bits that stand for nothing in the last digits of base64 may change.
    EXPECT_TRUE(!request || at + 4 >= last) << at;
  }
}

TEST(Request, NoCutTextPasses) {
  const std::string pem = *make_request(Key::generate(), "edge-1");
  for (size_t length = 0; length + 1 < pem.size(); ++length) {
    EXPECT_FALSE(read_request(pem.substr(0, length))) << length;
  }
}

TEST(Request, ExactlyOneBlockAndNothingElse) {
  const std::string pem = *make_request(Key::generate(), "edge-1");
  EXPECT_FALSE(read_request(""));
  EXPECT_FALSE(read_request("hello"));
  EXPECT_FALSE(read_request(pem + pem));
  EXPECT_FALSE(read_request("comment\n" + pem));
  EXPECT_FALSE(read_request(pem + "comment"));
  EXPECT_FALSE(read_request(Key::generate().to_pem().view()));
  std::string with_header = pem;
  with_header.insert(pem.find('\n') + 1, "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n");
  EXPECT_FALSE(read_request(with_header));
}

TEST(Request, MoreDerBehindItIsRefused) {
  const std::string pem = *make_request(Key::generate(), "edge-1");
  const std::shared_ptr<BIO> in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                BIO_free_all);
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  ASSERT_EQ(PEM_read_bio(in.get(), &name, &header, &data, &size), 1);
  std::string der(reinterpret_cast<char*>(data), static_cast<size_t>(size));
  OPENSSL_free(name);
  OPENSSL_free(header);
  OPENSSL_free(data);
  der += '\0';
  const std::shared_ptr<BIO> out(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio(out.get(), "CERTIFICATE REQUEST", "",
                reinterpret_cast<const unsigned char*>(der.data()), static_cast<long>(der.size()));
  char* text = nullptr;
  const long length = BIO_get_mem_data(out.get(), &text);
  EXPECT_FALSE(read_request({text, static_cast<size_t>(length)}));
}

TEST(Request, IsBounded) {
  const std::string pem = *make_request(Key::generate(), "edge-1");
  EXPECT_TRUE(read_request(pem + std::string(k_max_request - pem.size(), '\n')));
  const Result<Request> large = read_request(pem + std::string(k_max_request, '\n'));
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().reason.find("16 KiB"), std::string::npos);
}

}  // namespace
}  // namespace spillway::pki
