// Messages between the two parties of a contract that whoever carries them can neither read, nor
// change, nor deliver as another message: sealed to the receiver's key and bound to the contract,
// the direction, the step and the sequence number.
//
//   envelope = version (1 byte, 1) | ephemeral public key (32) | ciphertext | tag (16)
//   shared   = X25519(ephemeral, receiver)
//   key | nonce (32 | 12) = HKDF-SHA-256(shared, salt = ephemeral public | receiver's public key,
//                                        info = "spillway envelope 1")
//   ciphertext | tag = ChaCha20-Poly1305(key, nonce, the binding as associated data, plaintext)
//
// Every envelope has a key of its own, so a nonce cannot be used twice. Anybody can seal: who the
// sender is must be signed inside (pki/jws.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/message.h"
#include "pki/secret.h"

namespace spillway::pki {

inline constexpr size_t k_max_sealed_plaintext = size_t{64} << 10;
inline constexpr size_t k_envelope_overhead = 1 + 32 + 16;

// The public half of a SealingKey: 32 bytes.
struct SealingPublicKey {
  std::string point;
  bool operator==(const SealingPublicKey&) const = default;
};
// In base64url, 43 characters, one text for each key.
std::string to_text(const SealingPublicKey& key);
Result<SealingPublicKey> read_sealing_key(std::string_view text);

// X25519, apart from the key that signs: no key serves two purposes.
class SealingKey {
 public:
  static SealingKey generate();
  static Result<SealingKey> from_bytes(Secret bytes);  // 32

  const Secret& bytes() const { return bytes_; }
  const SealingPublicKey& public_key() const { return public_; }

 private:
  explicit SealingKey(Secret bytes);

  Secret bytes_;
  SealingPublicKey public_;
};

using model::Direction;

struct Binding {
  std::string contract;  // the payload's id, see payload_id()
  Direction direction = Direction::to_provider;
  std::string step;
  uint64_t sequence = 0;
  bool operator==(const Binding&) const = default;
};

Result<std::string> seal_envelope(const SealingPublicKey& receiver, const Binding& binding,
                                  std::string_view plaintext);
Result<Secret> open_envelope(const SealingKey& receiver, const Binding& binding,
                             std::string_view envelope);

}  // namespace spillway::pki
