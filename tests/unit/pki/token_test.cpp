#include "pki/token.h"

#include <gtest/gtest.h>

#include "pki/hash.h"

namespace spillway::pki {
namespace {

const std::string k_fingerprint(64, 'a');

TEST(Base64Url, KnownAnswers) {
  // RFC 4648 section 10, without padding.
  const std::pair<const char*, const char*> k_cases[] = {
      {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
      {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff", "-_8"}};
  for (const auto& [bytes, text] : k_cases) {
    EXPECT_EQ(to_base64url(bytes).view(), text);
    const auto back = from_base64url(text);
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(back->view(), bytes);
  }
}

TEST(Base64Url, OneTextForEachBytes) {
  for (const char* text :
       {"Z", "Zg==", "Zh", "Zm9", "Zm8=", "+_8", "-/8", "Zg\n", " Zg", "Zm9vY"}) {
    EXPECT_FALSE(from_base64url(text)) << text;
  }
}

TEST(Token, ReadsWhatItWrites) {
  const Token token = make_token(k_fingerprint);
  EXPECT_EQ(token.secret.size(), k_token_secret_bytes);
  const Secret text = to_text(token);
  EXPECT_EQ(text.size(), 113U);
  EXPECT_TRUE(text.view().starts_with("swt1."));
  const Result<Token> again = parse_token(text.view());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(again->secret.equals(token.secret.view()));
  EXPECT_EQ(again->authority, k_fingerprint);
}

TEST(Token, SecretsAreNew) {
  EXPECT_FALSE(make_token(k_fingerprint).secret.equals(make_token(k_fingerprint).secret.view()));
}

TEST(Token, IdIsTheBeginningOfTheHash) {
  EXPECT_EQ(token_id(Secret(std::string(32, '\0'))), "66687aadf862bd776c8fc18b8e9f8e20");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Token, OtherTextsAreRefusedWithoutRepeatingThem) {
  const Secret secret_text = to_text(make_token(k_fingerprint));
  const std::string good(secret_text.view());
  const std::string secret = good.substr(5, 43);
  std::vector<std::string> bad{"",
                               "swt1.",
                               "hello",
                               "swt2." + good.substr(5),
                               " " + good,
                               good + "\n",
                               good + "0",
                               "SWT1." + good.substr(5),
                               "swt1." + secret + "." + std::string(64, 'A'),
                               "swt1." + secret + "." + std::string(64, 'g'),
                               "swt1." + secret + ":" + k_fingerprint,
                               "swt1." + secret.substr(1) + "=." + k_fingerprint,
                               "swt1." + secret.substr(0, 42) + "B." + k_fingerprint};
  for (size_t length = 0; length < good.size(); ++length) bad.push_back(good.substr(0, length));
  for (const std::string& text : bad) {
    const Result<Token> token = parse_token(text);
    ASSERT_FALSE(token) << text;
    EXPECT_EQ(token.error().code, Code::invalid);
    EXPECT_EQ(token.error().message().find(secret.substr(4, 8)), std::string::npos);
  }
}

}  // namespace
}  // namespace spillway::pki
