#include "services/agent/letters.h"

#include "base/base64.h"
#include "pki/ed25519.h"
#include "pki/jws.h"
#include "pki/signed_documents.h"

namespace spillway::agent {
namespace {

using model::Direction;

tl::unexpected<Error> not_ours(const model::Agreement& agreement, std::string reason) {
  return fail(Code::conflict, "agreement on " + agreement.hold.text, std::move(reason),
              "hold anew, so that both sides sign with the keys that they have");
}

pki::Binding binding_of(const Peer& peer, Direction direction, std::string_view step,
                        int64_t sequence) {
  return {peer.agreement, direction, std::string(step), static_cast<uint64_t>(sequence)};
}

}  // namespace

Result<Peer> peer_of(const model::Agreement& agreement, const ClusterId& own,
                     const LetterKeys& keys) {
  const bool is_provider = agreement.provider.cluster == own;
  if (!is_provider && agreement.buyer.cluster != own) {
    return not_ours(agreement, fmt::format("{} is no party of it", own.text));
  }
  const model::Signatory& us = is_provider ? agreement.provider : agreement.buyer;
  const model::Signatory& them = is_provider ? agreement.buyer : agreement.provider;
  const auto our_key = pki::signing_key_text(keys.signing.public_key());
  if (!our_key) return tl::unexpected(our_key.error());
  if (us.key != *our_key || us.sealing != to_text(keys.sealing.public_key())) {
    return not_ours(agreement, fmt::format("it names other keys of {} than it has", own.text));
  }
  auto signing = pki::read_signing_key(them.key);
  if (!signing) return tl::unexpected(signing.error());
  auto sealing = pki::read_sealing_key(them.sealing);
  if (!sealing) return tl::unexpected(sealing.error());
  return Peer{pki::payload_id(to_payload(agreement)),
              is_provider ? Direction::to_provider : Direction::to_buyer, std::move(*signing),
              std::move(*sealing)};
}

Result<std::string> write_letter(const Peer& peer, const LetterKeys& keys, std::string_view step,
                                 int64_t sequence, std::string body) {
  const Direction direction = opposite(peer.to_us);
  const auto document = pki::sign(
      model::Message{peer.agreement, direction, std::string(step), sequence, std::move(body)},
      keys.signing);
  if (!document) return tl::unexpected(document.error());
  const auto envelope =
      seal_envelope(peer.sealing, binding_of(peer, direction, step, sequence), *document);
  if (!envelope) return tl::unexpected(envelope.error());
  return to_base64(*envelope);
}

tl::expected<std::string, Refusal> read_letter(const Peer& peer, const LetterKeys& keys,
                                               const wire::MessageRow& row) {
  const auto envelope = from_base64(row.envelope);
  if (!envelope) return tl::unexpected(Refusal::altered);
  const auto document =
      open_envelope(keys.sealing, binding_of(peer, peer.to_us, row.step, row.sequence), *envelope);
  if (!document) return tl::unexpected(Refusal::altered);
  auto message = pki::verify_message(document->view(), peer.signing);
  if (!message) {
    const bool by_another = message.error().code == Code::denied;
    return tl::unexpected(by_another ? Refusal::other_sender : Refusal::unreadable);
  }
  // Anybody can seal: what its sender has signed for elsewhere does not become a message here.
  if (message->agreement != peer.agreement) return tl::unexpected(Refusal::other_contract);
  if (message->direction != peer.to_us) return tl::unexpected(Refusal::redirected);
  if (message->step != row.step) return tl::unexpected(Refusal::other_step);
  if (message->sequence != row.sequence) return tl::unexpected(Refusal::other_number);
  return std::move(message->body);
}

}  // namespace spillway::agent
