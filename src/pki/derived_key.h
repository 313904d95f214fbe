// The key that a member's envelopes are sealed to (pki/envelope.h), made from the key that it
// signs with: every process that has the identity has it, and there is no second secret to keep,
// move or lose. Nobody can tell from one of the two public keys that the other belongs to it; the
// card says so, signed.
//
//   X25519 private key = HKDF-SHA-256(the 32 bytes of the Ed25519 private key,
//                                     salt = the federation, info = "spillway sealing key 1")
#pragma once

#include <string_view>

#include "base/result.h"
#include "pki/envelope.h"
#include "pki/key.h"

namespace spillway::pki {

// Refuses any other key than Ed25519: identities of before it had P-256 ones.
Result<SealingKey> derive_sealing_key(const Key& identity, std::string_view federation);

}  // namespace spillway::pki
