#include "pki/jws.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pki/base64url.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "unit/pki/known_keys.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_type = "spillway-contract";
constexpr std::string_view k_payload = R"({"buyer":"edge-1","units":2})";

struct Parties {
  Key buyer = test::key_of_seed(std::string(32, 'b'));
  Key seller = test::key_of_seed(std::string(32, 's'));
  std::vector<PublicKey> keys{seller.public_key(), buyer.public_key()};
};

std::string encoded(std::string_view text) { return std::string(to_base64url(text).view()); }

Jws signed_by_both(const Parties& parties, std::string_view payload = k_payload) {
  Jws jws = *Jws::sign(k_type, std::string(payload), parties.buyer);
  EXPECT_TRUE(jws.add_signature(parties.seller));
  return jws;
}

std::string reason_of(std::string_view text) {
  const Result<Jws> jws = Jws::parse(text);
  if (jws) return "accepted";
  EXPECT_EQ(jws.error().code, Code::invalid);
  return jws.error().reason;
}

std::string verdict(const Status& status) {
  if (status) return "accepted";
  EXPECT_EQ(status.error().code, Code::denied);
  return status.error().reason;
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// A document of one signature that is right but for its header.
std::string headed(const std::string& header) {
  return R"({"payload":")" + encoded(k_payload) + R"(","signatures":[{"protected":")" +
         encoded(header) + R"(","signature":")" + encoded(std::string(64, 'x')) + R"("}]})";
}

std::string parsed_second_id(const std::string& text) {
  return Jws::parse(text)->unverified_signers()[1];
}

TEST(Jws, WhatBothSignedBothVerify) {
  const Parties parties;
  const Jws jws = signed_by_both(parties);
  const Result<Jws> read = Jws::parse(jws.to_text());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(verdict(read->verify(k_type, parties.keys)), "accepted");
  EXPECT_EQ(read->unverified_payload(), k_payload);
  EXPECT_EQ(read->to_text(), jws.to_text());
  EXPECT_EQ(read->unverified_signers().size(), 2U);
}

TEST(Jws, WhoSignsFirstDoesNotShow) {
  const Parties parties;
  Jws other = *Jws::sign(k_type, std::string(k_payload), parties.seller);
  ASSERT_TRUE(other.add_signature(parties.buyer));
  EXPECT_EQ(other.to_text(), signed_by_both(parties).to_text());
}

// Checked by hand, not by the code under test: each signature is one of RFC 7515 over the payload.
TEST(Jws, EverySignatureIsOverTheSamePayload) {
  const Parties parties;
  const std::string text = signed_by_both(parties).to_text();
  for (const Key* key : {&parties.buyer, &parties.seller}) {
    const std::string id = *key_id(key->public_key());
    const std::string header =
        encoded(R"({"alg":"EdDSA","kid":")" + id + R"(","typ":"spillway-contract"})");
    const std::string signature = encoded(*sign_message(*key, header + "." + encoded(k_payload)));
    const std::string expected =
        fmt::format(R"({{"protected":"{}","signature":"{}"}})", header, signature);
    EXPECT_NE(text.find(expected), std::string::npos);
  }
  EXPECT_TRUE(text.starts_with(R"({"payload":")" + encoded(k_payload) + R"(","signatures":[{)"));
}

TEST(Jws, AKeySignsOnce) {
  const Parties parties;
  Jws jws = signed_by_both(parties);
  const std::string text = jws.to_text();
  EXPECT_EQ(jws.add_signature(parties.buyer).error().reason, "that key has signed it already");
  EXPECT_EQ(jws.to_text(), text);
}

TEST(Jws, OnlyEd25519KeysSign) {
  const Parties parties;
  EXPECT_EQ(Jws::sign(k_type, "x", Key::generate()).error().reason, "it is no Ed25519 key");
  const std::vector<PublicKey> keys{parties.buyer.public_key(), Key::generate().public_key()};
  EXPECT_EQ(signed_by_both(parties).verify(k_type, keys).error().reason, "it is no Ed25519 key");
}

TEST(Jws, ExactlyTheExpectedKeysHaveSigned) {
  const Parties parties;
  const Jws jws = signed_by_both(parties);
  const PublicKey stranger = Key::generate_member().public_key();
  const std::string strange = *key_id(stranger);
  const std::string buyer = *key_id(parties.buyer.public_key());
  const std::string seller = *key_id(parties.seller.public_key());
  const auto check = [&](const Jws& document, std::vector<PublicKey> keys) {
    return verdict(document.verify(k_type, keys));
  };
  EXPECT_EQ(check(jws, {parties.buyer.public_key()}),
            "the key " + seller + " has signed it and should not have");
  EXPECT_EQ(check(jws, {parties.seller.public_key()}),
            "the key " + buyer + " has signed it and should not have");
  EXPECT_NE(check(jws, {parties.keys[0], stranger}), "accepted");
  EXPECT_NE(check(jws, {parties.keys[0], parties.keys[1], stranger}), "accepted");
  const Jws half = *Jws::sign(k_type, std::string(k_payload), parties.buyer);
  EXPECT_EQ(check(half, parties.keys), "the key " + seller + " has not signed it");
  EXPECT_EQ(check(half, {parties.buyer.public_key()}), "accepted");
  EXPECT_EQ(check(half, {parties.buyer.public_key(), parties.buyer.public_key()}),
            "the key " + buyer + " has not signed it");
}

TEST(Jws, ASignatureOverOneTypeIsNoneOverAnother) {
  const Parties parties;
  EXPECT_EQ(verdict(signed_by_both(parties).verify("spillway-event", parties.keys)),
            "it is a spillway-contract, no spillway-event");
}

// The inner-signature attack on nested tokens, and others that put a good signature elsewhere.
TEST(Jws, SignaturesDoNotMove) {
  const Parties parties;
  const std::string text = signed_by_both(parties).to_text();
  const std::string older = signed_by_both(parties, R"({"buyer":"edge-1","units":1})").to_text();
  const auto signature = [](const std::string& of, size_t from) {
    return of.substr(of.find(R"("signature":")", from) + 13, 86);
  };
  const size_t second = text.rfind("{\"protected\"");
  const auto judged = [&](const std::string& changed) {
    const Result<Jws> jws = Jws::parse(changed);
    return jws ? verdict(jws->verify(k_type, parties.keys)) : jws.error().reason;
  };
  // Swapped, doubled, and taken from another contract.
  const std::string a = signature(text, 0);
  const std::string b = signature(text, second);
  EXPECT_NE(judged(with(with(with(text, a, "@"), b, a), "@", b)).find("is not over this payload"),
            std::string::npos);
  EXPECT_NE(judged(with(text, b, a)).find("is not over this payload"), std::string::npos);
  EXPECT_NE(judged(with(text, a, signature(older, 0))).find("is not over this payload"),
            std::string::npos);
  EXPECT_NE(judged(with(text, encoded(k_payload), encoded(R"({"buyer":"edge-1","units":3})")))
                .find("is not over this payload"),
            std::string::npos);
}

TEST(Jws, NoByteCanBeChanged) {
  const Parties parties;
  const std::string text = signed_by_both(parties).to_text();
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'A', '"', '_', ' '}) {
      if (text[at] == c) continue;
      std::string changed = text;
      changed[at] = c;
      const Result<Jws> jws = Jws::parse(changed);
      EXPECT_FALSE(jws && jws->verify(k_type, parties.keys)) << at << c;
    }
  }
}

TEST(Jws, RefusesOtherHeaders) {
  const std::string id = *key_id(Parties().buyer.public_key());
  const std::string kid = R"("kid":")" + id + "\"";
  const std::string rest = "," + kid + R"(,"typ":"spillway-contract"})";
  EXPECT_EQ(reason_of(headed(R"({"alg":"EdDSA")" + rest)), "accepted");
  EXPECT_EQ(reason_of(headed(R"({"alg":"none")" + rest)), "its algorithm is \"none\", not EdDSA");
  EXPECT_EQ(reason_of(headed(R"({"alg":"HS256")" + rest)), "its algorithm is \"HS256\", not EdDSA");
  EXPECT_EQ(reason_of(headed(R"({"alg":"eddsa")" + rest)), "its algorithm is \"eddsa\", not EdDSA");
  EXPECT_EQ(reason_of(headed("{" + rest.substr(1))), "it has no \"alg\"");
  EXPECT_EQ(reason_of(headed(R"({"alg":["EdDSA"])" + rest)), "its \"alg\" is no text");
  EXPECT_EQ(reason_of(headed(R"({"alg":"EdDSA","crit":["exp"])" + rest)),
            "its \"crit\" asks for what nobody here understands");
  EXPECT_EQ(reason_of(headed(R"({"alg":"EdDSA","b64":false)" + rest)),
            "\"b64\" is none of its fields");
  EXPECT_EQ(reason_of(headed(R"({"alg":"EdDSA","jwk":{})" + rest)),
            "\"jwk\" is none of its fields");
  EXPECT_EQ(reason_of(headed(R"({"alg":"EdDSA","typ":"spillway-contract"})")), "it has no \"kid\"");
  EXPECT_EQ(reason_of(headed(R"({"alg":"EdDSA","kid":"me","typ":"spillway-contract"})")),
            "its \"kid\" is no thumbprint of a key");
  EXPECT_EQ(reason_of(headed(R"({"alg":"EdDSA",)" + kid + "}")), "it has no \"typ\"");
  EXPECT_EQ(reason_of(headed(R"({"alg":"EdDSA",)" + kid + R"(,"typ":"JWT"})")),
            "its \"typ\" is no type of ours");
  EXPECT_EQ(reason_of(headed(R"({"alg": "EdDSA")" + rest)),
            "it is JSON, but not as RFC 8785 writes it");
  EXPECT_EQ(reason_of(headed(R"({"alg":"none","alg":"EdDSA")" + rest)), "\"alg\" is there twice");
  EXPECT_NE(reason_of(headed("")), "accepted");
  EXPECT_EQ(reason_of(headed("[]")), "it has no \"alg\"");
}

TEST(Jws, RefusesOtherForms) {
  const Parties parties;
  const std::string text = signed_by_both(parties).to_text();
  const std::string list = text.substr(text.find('['));
  const size_t second = text.rfind("{\"protected\"");
  const size_t first = text.find("{\"protected\"");
  const std::string one = text.substr(first, second - first - 1);
  const std::string two = text.substr(second, text.size() - second - 2);
  const std::string head = text.substr(0, first);
  ASSERT_EQ(text, head + one + "," + two + "]}");
  EXPECT_EQ(reason_of(head + two + "," + one + "]}"),
            "it is out of place: signatures are in the order of their key ids");
  EXPECT_EQ(reason_of(head + one + "," + one + "]}"), "that key has signed already");
  const std::string event = encoded(R"({"alg":"EdDSA","kid":")" + parsed_second_id(text) +
                                    R"(","typ":"spillway-event"})");
  EXPECT_EQ(reason_of(head + one + R"(,{"protected":")" + event + R"(","signature":")" +
                      encoded(std::string(64, 'x')) + R"("}]})"),
            "it is of another type");
  EXPECT_EQ(reason_of(head + "]}"), "it has no list of signatures");
  EXPECT_EQ(reason_of(R"({"payload":"e30"})"), "it has no list of signatures");
  EXPECT_EQ(reason_of(R"({"signatures":)" + list), "it has no \"payload\"");
  EXPECT_EQ(reason_of(with(text, "{\"payload\"", "{\"alg\":\"none\",\"payload\"")),
            "\"alg\" is none of its fields");
  EXPECT_EQ(reason_of(with(text, "{\"protected\"", "{\"header\":{},\"protected\"")),
            "it has an unprotected header, which nobody signed");
  EXPECT_EQ(reason_of(with(text, "{\"protected\"", "{\"note\":1,\"protected\"")),
            "\"note\" is none of its fields");
  EXPECT_EQ(reason_of(with(text, "\"protected\"", "\"signature\"")),
            "\"signature\" is there twice");
  EXPECT_EQ(reason_of(" " + text), "it is not spelled as RFC 8785 has it");
  EXPECT_EQ(reason_of(with(text, "payload", "p\\u0061yload")),
            "it is not spelled as RFC 8785 has it");
  EXPECT_EQ(reason_of("[]"), "it is no object");
  EXPECT_EQ(reason_of(with(text, one, "7")), "it is no object");
  std::string many = head;
  for (size_t i = 0; i <= k_max_signatures; ++i) many += (i > 0 ? "," : "") + one;
  EXPECT_EQ(reason_of(many + "]}"), "9 signatures are too many");
  // Compact and flattened serialisations.
  EXPECT_NE(reason_of("eyJhbGciOiJFZERTQSJ9.e30.AAAA"), "accepted");
  EXPECT_EQ(reason_of(R"({"payload":"e30",)" + one.substr(1)),
            "\"protected\" is none of its fields");
}

TEST(Jws, RefusesASecondSpellingOfBytes) {
  const Parties parties;
  const std::string text = signed_by_both(parties).to_text();
  const std::string odd = "its \"signature\" is not base64url, or not the only one";
  const size_t end = text.find("\"}") - 1;  // 64 bytes leave four spare bits in the last digit
  std::string changed = text;
  changed[end] = static_cast<char>(changed[end] + 1);
  EXPECT_EQ(reason_of(changed), odd);
  EXPECT_EQ(reason_of(with(text, "\"}", "==\"}")), odd);
  EXPECT_EQ(reason_of(with(text, encoded(k_payload), encoded(k_payload) + "=")),
            "its \"payload\" is not base64url, or not the only one");
  changed = text;
  EXPECT_EQ(reason_of(changed.erase(end - 1, 2)), "it has 63 bytes, not 64");
}

TEST(Jws, APayloadIsKnownByItsHash) {
  EXPECT_EQ(payload_id("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace spillway::pki
