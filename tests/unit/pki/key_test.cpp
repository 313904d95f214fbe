#include "pki/key.h"

#include <gtest/gtest.h>

#include "odd_requests.h"
#include "pki/hash.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_passphrase = "correct horse battery";

std::string pem_of(const TestKey& key, bool traditional = false) {
  const std::shared_ptr<BIO> bio(BIO_new(BIO_s_mem()), BIO_free_all);
  if (traditional) {
    PEM_write_bio_PrivateKey_traditional(bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                         nullptr);
  } else {
    PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

TEST(Key, EachIsNew) {
  EXPECT_NE(Key::generate().fingerprint(), Key::generate().fingerprint());
  EXPECT_TRUE(is_fingerprint(Key::generate().fingerprint()));
}

TEST(Key, ReadsWhatItWrites) {
  const Key key = Key::generate();
  const Secret pem = key.to_pem();
  EXPECT_TRUE(pem.view().starts_with("-----BEGIN PRIVATE KEY-----\n"));
  const Result<Key> again = Key::from_pem(pem.view());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->fingerprint(), key.fingerprint());
  EXPECT_TRUE(again->to_pem().equals(pem.view()));
}

TEST(Key, ReadsWhatItEncrypts) {
  const Key key = Key::generate();
  const Result<std::string> pem = key.to_encrypted_pem(k_passphrase);
  ASSERT_TRUE(pem) << pem.error().message();
  EXPECT_TRUE(pem->starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
  const Result<Key> again = Key::from_encrypted_pem(*pem, k_passphrase);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->fingerprint(), key.fingerprint());
  EXPECT_NE(*pem, *key.to_encrypted_pem(k_passphrase)) << "the salt must be new each time";
}

TEST(Key, AWrongPassphraseIsDeniedAndNotRepeated) {
  const Result<std::string> pem = Key::generate().to_encrypted_pem(k_passphrase);
  for (const std::string_view wrong : {"", "correct horse batterx", "correct horse"}) {
    const Result<Key> key = Key::from_encrypted_pem(*pem, wrong);
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().code, Code::denied);
    EXPECT_EQ(key.error().message().find("horse"), std::string::npos);
  }
  EXPECT_FALSE(Key::from_encrypted_pem(*pem, std::string(5000, 'x')));
}

TEST(Key, AnEncryptedOneIsNotReadAsPlainNorAskedFor) {
  const Result<std::string> pem = Key::generate().to_encrypted_pem(k_passphrase);
  EXPECT_FALSE(Key::from_pem(*pem));
  EXPECT_FALSE(Key::from_encrypted_pem(Key::generate().to_pem().view(), k_passphrase));
}

TEST(Key, APassphraseIsNeitherShortNorEndless) {
  EXPECT_FALSE(Key::generate().to_encrypted_pem(""));
  EXPECT_FALSE(Key::generate().to_encrypted_pem("elevenbytes"));
  EXPECT_TRUE(check_passphrase("twelve bytes"));
  EXPECT_FALSE(check_passphrase(std::string(1001, 'x')));
}

TEST(Key, OnlyP256AndEd25519InPkcs8) {
  for (const TestKey& key : {rsa_key(), curve_key("P-384"), compressed_key()}) {
    EXPECT_FALSE(Key::from_pem(pem_of(key)));
  }
  EXPECT_TRUE(Key::from_pem(pem_of(ed25519_key())));
  EXPECT_TRUE(Key::from_pem(pem_of(curve_key("P-256"))));
  const Result<Key> old = Key::from_pem(pem_of(curve_key("P-256"), true));
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().next.find("openssl pkcs8 -topk8"), std::string::npos);
}

TEST(Key, NoCutOrGarbledTextIsAKey) {
  const Secret pem = Key::generate().to_pem();
  const std::string text(pem.view());
  for (size_t length = 0; length + 1 < text.size(); ++length) {
    EXPECT_FALSE(Key::from_pem(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(Key::from_pem(text + text));
  EXPECT_FALSE(Key::from_pem("hello " + text));
  EXPECT_FALSE(Key::from_pem(text + "hello"));
  for (size_t at = 28; at < text.size() - 28; ++at) {
    std::string garbled = text;
    garbled[at] = garbled[at] == 'A' ? 'B' : 'A';
    const Result<Key> key = Key::from_pem(garbled);
    const std::string said = key ? "" : key.error().message();
    EXPECT_EQ(said.find(text.substr(40, 12)), std::string::npos);
  }
}

TEST(Key, HalvesOfTwoKeysAreNoKey) {
  // The public key is the end of the DER; the private one stays.
  const TestKey one = curve_key("P-256");
  const TestKey two = curve_key("P-256");
  const auto der = [](const TestKey& key) {
    const std::shared_ptr<PKCS8_PRIV_KEY_INFO> info(EVP_PKEY2PKCS8(key.get()),
                                                    PKCS8_PRIV_KEY_INFO_free);
    unsigned char* bytes = nullptr;
    const int size = i2d_PKCS8_PRIV_KEY_INFO(info.get(), &bytes);
    std::string text(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
    OPENSSL_free(bytes);
    return text;
  };
  std::string mixed = der(one);
  mixed.replace(mixed.size() - 64, 64, der(two).substr(mixed.size() - 64));
  const std::shared_ptr<BIO> bio(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio(bio.get(), "PRIVATE KEY", "", reinterpret_cast<unsigned char*>(mixed.data()),
                static_cast<long>(mixed.size()));
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  EXPECT_FALSE(Key::from_pem({data, static_cast<size_t>(size)}));
}

TEST(Key, LeavesNoErrorsForOthersToFind) {
  ERR_clear_error();
  EXPECT_FALSE(Key::from_pem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"));
  EXPECT_EQ(ERR_peek_error(), 0UL);
}

}  // namespace
}  // namespace spillway::pki
