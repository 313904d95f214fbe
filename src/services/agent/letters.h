// Letters: messages of the relay, made and judged. No state and no I/O: what a message is worth
// follows from the agreement and the keys alone, whoever brought it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/agreement.h"
#include "model/message.h"
#include "pki/envelope.h"
#include "pki/key.h"
#include "services/wire/bodies.h"

namespace spillway::agent {

// Why a message was not handed over.
enum class Refusal {
  replayed,        // its number was handed over before
  out_of_order,    // it came after one with a higher number
  altered,         // or not sealed for this contract, direction, step and number
  unreadable,      // sealed well, and no signed message
  other_sender,    // signed by another key than the agreement has for the other side
  other_contract,  // signed for another agreement
  redirected,      // signed for the other direction
  other_step,      // signed for another step
  other_number,    // signed under another number
};
inline constexpr size_t k_refusals = 9;
inline constexpr std::array<std::string_view, k_refusals> k_refusal_words{
    "replayed",       "out-of-order", "altered",    "unreadable",  "other-sender",
    "other-contract", "redirected",   "other-step", "other-number"};
constexpr std::string_view to_text(Refusal refusal) {
  return k_refusal_words[static_cast<size_t>(refusal)];
}

// This member's own keys.
struct LetterKeys {
  pki::Key signing;
  const pki::SealingKey& sealing;
};

// The other side of an agreement, and which side is ours.
struct Peer {
  std::string agreement;  // its id
  model::Direction to_us = model::Direction::to_buyer;
  pki::PublicKey signing;
  pki::SealingPublicKey sealing;
};
// Refused when the agreement is not ours, or has other keys for us than we have.
Result<Peer> peer_of(const model::Agreement& agreement, const ClusterId& own,
                     const LetterKeys& keys);

// Signed by us and sealed to the peer, in base64.
Result<std::string> write_letter(const Peer& peer, const LetterKeys& keys, std::string_view step,
                                 int64_t sequence, std::string body);
// The body, or why it is not believed.
tl::expected<std::string, Refusal> read_letter(const Peer& peer, const LetterKeys& keys,
                                               const wire::MessageRow& row);

}  // namespace spillway::agent
