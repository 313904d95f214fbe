#include "pki/envelope.h"

#include <gtest/gtest.h>

#include "pki/base64url.h"
#include "pki/hash.h"
#include "unit/pki/known_keys.h"

namespace spillway::pki {
namespace {

const Binding k_binding{std::string(64, 'c'), Direction::to_provider, "csr", 7};

// The u of the points of order 1, 2, 4 and 8 on the curve and its twist, and those spellings of
// them that are beyond the field.
const std::vector<std::string> k_small_order{
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};

std::string refusal(const Result<Secret>& opened) {
  if (opened) return "opened";
  EXPECT_EQ(opened.error().message().find("hello"), std::string::npos);
  return opened.error().reason;
}

constexpr const char* k_changed =
    "it was changed, or is for another key, contract, direction, step or number";

TEST(Envelope, OpensForItsReceiver) {
  const SealingKey receiver = SealingKey::generate();
  for (const std::string& text : {std::string(), std::string("hello"), std::string(65536, 'x')}) {
    const Result<std::string> envelope = seal_envelope(receiver.public_key(), k_binding, text);
    ASSERT_TRUE(envelope) << envelope.error().message();
    EXPECT_EQ(envelope->size(), text.size() + k_envelope_overhead);
    const Result<Secret> opened = open_envelope(receiver, k_binding, *envelope);
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(opened->view(), text);
  }
}

TEST(Envelope, IsNeverTheSameTwice) {
  const SealingKey receiver = SealingKey::generate();
  const std::string envelope = *seal_envelope(receiver.public_key(), k_binding, "hello");
  EXPECT_NE(*seal_envelope(receiver.public_key(), k_binding, "hello"), envelope);
  EXPECT_EQ(envelope.find("hello"), std::string::npos);
}

TEST(Envelope, OpensForNobodyElseAndNothingElse) {
  const SealingKey receiver = SealingKey::generate();
  const std::string envelope = *seal_envelope(receiver.public_key(), k_binding, "hello");
  EXPECT_EQ(refusal(open_envelope(SealingKey::generate(), k_binding, envelope)), k_changed);
  std::vector<Binding> others(6, k_binding);
  others[0].contract.back() = 'd';
  others[1].direction = Direction::to_buyer;
  others[2].step = "identity";
  others[3].sequence = 8;
  // The same letters, divided otherwise.
  others[4].contract += "c";
  others[4].step = "sr";
  others[5].contract.clear();
  for (const Binding& other : others) {
    EXPECT_EQ(refusal(open_envelope(receiver, other, envelope)), k_changed);
  }
}

TEST(Envelope, AnyChangeIsNoticed) {
  const SealingKey receiver = SealingKey::generate();
  const std::string envelope = *seal_envelope(receiver.public_key(), k_binding, "hello");
  for (size_t at = 0; at < envelope.size(); ++at) {
    for (const int bit : {1, 0x80}) {
      std::string changed = envelope;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      EXPECT_NE(refusal(open_envelope(receiver, k_binding, changed)), "opened") << at;
    }
  }
  EXPECT_EQ(refusal(open_envelope(receiver, k_binding, envelope + "x")), k_changed);
  for (size_t size = 0; size < envelope.size(); ++size) {
    EXPECT_EQ(refusal(open_envelope(receiver, k_binding, envelope.substr(0, size))),
              size < k_envelope_overhead ? "it is cut off" : k_changed);
  }
}

TEST(Envelope, SaysWhichFormsItDoesNotKnow) {
  const SealingKey receiver = SealingKey::generate();
  std::string envelope = *seal_envelope(receiver.public_key(), k_binding, "hello");
  envelope[0] = 2;
  EXPECT_EQ(refusal(open_envelope(receiver, k_binding, envelope)),
            "it is of a version that is not known here");
  EXPECT_EQ(refusal(open_envelope(receiver, k_binding, std::string(65536 + 50, '\x01'))),
            "65586 bytes are too many");
  EXPECT_FALSE(seal_envelope(receiver.public_key(), k_binding, std::string(65537, 'x')));
}

// Under such a point everybody knows the shared secret: zero.
TEST(Envelope, PointsOfSmallOrderAreRefused) {
  const SealingKey receiver = SealingKey::generate();
  std::string envelope = *seal_envelope(receiver.public_key(), k_binding, "hello");
  for (const std::string& hex : k_small_order) {
    const std::string point = test::bytes_of_hex(hex);
    EXPECT_EQ(refusal(open_envelope(receiver, k_binding, envelope.replace(1, 32, point))),
              "its key is of small order: anybody could have opened it");
    const Result<std::string> sealed = seal_envelope({point}, k_binding, "hello");
    ASSERT_FALSE(sealed) << hex;
    EXPECT_EQ(sealed.error().reason, "it is of small order: everybody could open it");
  }
}

TEST(SealingKey, ReadsWhatItWrites) {
  const SealingKey key = SealingKey::generate();
  const std::string text = to_text(key.public_key());
  EXPECT_EQ(text.size(), 43U);
  EXPECT_EQ(*read_sealing_key(text), key.public_key());
  EXPECT_EQ(SealingKey::from_bytes(Secret(key.bytes().view()))->public_key(), key.public_key());
  EXPECT_FALSE(SealingKey::from_bytes(Secret("short")));
  for (const std::string& odd : {std::string(), text + "A", text + "=", text.substr(1)}) {
    EXPECT_FALSE(read_sealing_key(odd)) << odd;
  }
}

TEST(SealingKey, OneTextForEachKey) {
  std::string point = SealingKey::generate().public_key().point;
  point.back() = static_cast<char>(point.back() | 0x80);  // X25519 would not look at it
  EXPECT_FALSE(read_sealing_key(to_base64url(point).view()));
  for (const char first : {'\xed', '\xff'}) {
    EXPECT_FALSE(read_sealing_key(to_base64url(first + std::string(30, '\xff') + '\x7f').view()));
  }
}

}  // namespace
}  // namespace spillway::pki
