// Messages of the relay as a hostile party may sign them, rows as a hostile broker may show them,
// and the fabric's talk inside: one text for each message, and nothing is believed but what the
// other side has signed.
#include <cstddef>
#include <cstdint>

#include "base/base64.h"
#include "base/check.h"
#include "base/text.h"
#include "fabric/network.h"
#include "fabric/talk.h"
#include "model/message.h"
#include "pki/ed25519.h"
#include "pki/jws.h"
#include "pki/signed_documents.h"
#include "services/agent/letters.h"

namespace {

using namespace spillway;

struct Stage {
  pki::Key sender = pki::Key::generate_member();
  pki::Key own = pki::Key::generate_member();
  pki::SealingKey sealing = pki::SealingKey::generate();
  agent::LetterKeys keys{own, sealing};
  agent::Peer peer{std::string(64, 'a'), model::Direction::to_buyer, sender.public_key(),
                   pki::SealingKey::generate().public_key()};
};

// Sealed well, as anybody can.
wire::MessageRow sealed(const Stage& stage, std::string_view inside) {
  const pki::Binding binding{stage.peer.agreement, stage.peer.to_us, "step", 1};
  const auto envelope = seal_envelope(stage.sealing.public_key(), binding, inside);
  return {1, "step", envelope ? to_base64(*envelope) : std::string(), {}};
}

template <class T>
void check_talk(Result<T> (*read)(std::string_view), std::string_view body) {
  const Result<T> talk = read(body);
  if (talk) {
    SPILLWAY_CHECK(read(to_body(*talk)) == talk, "what was said reads as another thing");
  } else {
    SPILLWAY_CHECK(is_utf8(talk.error().message()), "an error repeats the input");
  }
}

void check_talks(std::string_view body) {
  check_talk(fabric::read_nonce_talk, body);
  check_talk(fabric::read_request_talk, body);
  check_talk(fabric::read_identity_talk, body);
  check_talk(fabric::read_network_talk, body);
  const auto network = fabric::read_network_talk(body);
  if (!network) return;
  const Status believed = check_network(*network);
  if (!believed) SPILLWAY_CHECK(is_utf8(believed.error().message()), "an error repeats the input");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Stage k_stage;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);

  check_talks(bytes);
  const auto message = model::message_from_payload(bytes);
  if (message) {
    SPILLWAY_CHECK(to_payload(*message) == bytes, "two texts for one message");
    SPILLWAY_CHECK(validate(*message).has_value(), "it was read, and is not valid");
  } else {
    SPILLWAY_CHECK(is_utf8(message.error().message()), "an error repeats the input");
  }
  const wire::MessageRow shown{1, "step", std::string(bytes), {}};
  SPILLWAY_CHECK(!agent::read_letter(k_stage.peer, k_stage.keys, shown), "nobody sealed it");
  SPILLWAY_CHECK(!agent::read_letter(k_stage.peer, k_stage.keys, sealed(k_stage, bytes)),
                 "nobody signed it");

  // Signed by the other side, whatever it is: handed over only if it says that it belongs here.
  const auto jws = pki::Jws::sign(model::k_message_type, std::string(bytes), k_stage.sender);
  if (!jws) return 0;
  const auto body = agent::read_letter(k_stage.peer, k_stage.keys, sealed(k_stage, jws->to_text()));
  const bool belongs = message && message->agreement == k_stage.peer.agreement &&
                       message->direction == k_stage.peer.to_us && message->step == "step" &&
                       message->sequence == 1;
  const bool fits = jws->to_text().size() <= pki::k_max_sealed_plaintext;
  SPILLWAY_CHECK(body.has_value() == (belongs && fits), "what does not belong here was believed");
  return 0;
}
