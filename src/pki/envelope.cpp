#include "pki/envelope.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "pki/base64url.h"
#include "pki/hash.h"
#include "pki/sealing_parts.h"

namespace spillway::pki {
namespace {

constexpr char k_version = 1;
constexpr size_t k_head_bytes = 1 + k_x25519_bytes;
constexpr std::string_view k_info = "spillway envelope 1";
constexpr const char* k_envelope = "envelope";
constexpr const char* k_sealing_key = "sealing key";

void append_number(std::string& bytes, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>((number >> shift) & 255);
}

// With their lengths before them: no two bindings have the same bytes.
std::string bytes_of_binding(const Binding& binding) {
  std::string bytes(k_info);
  for (const std::string& text : {binding.contract, binding.step}) {
    append_number(bytes, text.size());
    bytes += text;
  }
  bytes += static_cast<char>(binding.direction);
  append_number(bytes, binding.sequence);
  return bytes;
}

Secret keys_of(const Secret& shared, std::string_view ephemeral, std::string_view receiver) {
  return hkdf_sha256(shared.view(), std::string(ephemeral).append(receiver), k_info,
                     k_aead_key_bytes + k_aead_nonce_bytes);
}

// 2^255 - 19 and above, or the bit that X25519 does not look at: the same point has another text.
bool is_spelled_oddly(std::string_view point) {
  const auto last = static_cast<unsigned char>(point.back());
  return last >= 0x80 ||
         (last == 0x7f && static_cast<unsigned char>(point.front()) >= 0xed &&
          std::all_of(point.begin() + 1, point.end() - 1, [](char c) { return c == '\xff'; }));
}

tl::unexpected<Error> refuse_envelope(std::string reason) {
  return fail(Code::invalid, k_envelope, std::move(reason), "ask its sender to send it again");
}

}  // namespace

std::string to_text(const SealingPublicKey& key) {
  return std::string(to_base64url(key.point).view());
}

Result<SealingPublicKey> read_sealing_key(std::string_view text) {
  const std::optional<Secret> point = from_base64url(text);
  if (!point || point->size() != k_x25519_bytes) {
    return fail(Code::invalid, k_sealing_key, "it is not 32 bytes in base64url without padding",
                "copy all 43 characters of it");
  }
  if (is_spelled_oddly(point->view())) {
    return fail(Code::invalid, k_sealing_key, "it is spelled with a number beyond the field",
                "let its owner make another");
  }
  return SealingPublicKey{std::string(point->view())};
}

SealingKey::SealingKey(Secret bytes) : bytes_(std::move(bytes)) {
  public_.point = x25519_public(bytes_.view());
}

SealingKey SealingKey::generate() { return SealingKey(random_secret(k_x25519_bytes)); }

Result<SealingKey> SealingKey::from_bytes(Secret bytes) {
  if (bytes.size() != k_x25519_bytes) {
    return fail(Code::invalid, k_sealing_key, fmt::format("it has {} bytes, not 32", bytes.size()),
                "restore it from a backup");
  }
  return SealingKey(std::move(bytes));
}

Result<std::string> seal_envelope(const SealingPublicKey& receiver, const Binding& binding,
                                  std::string_view plaintext) {
  if (plaintext.size() > k_max_sealed_plaintext) {
    return fail(Code::invalid, k_envelope, fmt::format("{} bytes are too many", plaintext.size()),
                fmt::format("send at most {}", k_max_sealed_plaintext));
  }
  if (receiver.point.size() != k_x25519_bytes) {
    return fail(Code::invalid, k_sealing_key, "it has not 32 bytes");
  }
  const SealingKey ephemeral = SealingKey::generate();
  const std::optional<Secret> shared = x25519(ephemeral.bytes().view(), receiver.point);
  if (!shared) {
    return fail(Code::invalid, k_sealing_key, "it is of small order: everybody could open it",
                "let its owner make another");
  }
  const std::string& point = ephemeral.public_key().point;
  const Secret keys = keys_of(*shared, point, receiver.point);
  std::string envelope(1, k_version);
  envelope += point;
  envelope +=
      aead_encrypt(keys.view().substr(0, k_aead_key_bytes), keys.view().substr(k_aead_key_bytes),
                   bytes_of_binding(binding), plaintext);
  return envelope;
}

Result<Secret> open_envelope(const SealingKey& receiver, const Binding& binding,
                             std::string_view envelope) {
  if (envelope.size() < k_envelope_overhead) return refuse_envelope("it is cut off");
  if (envelope.size() > k_envelope_overhead + k_max_sealed_plaintext) {
    return refuse_envelope(fmt::format("{} bytes are too many", envelope.size()));
  }
  if (envelope.front() != k_version) {
    return refuse_envelope("it is of a version that is not known here");
  }
  const std::string_view point = envelope.substr(1, k_x25519_bytes);
  const std::optional<Secret> shared = x25519(receiver.bytes().view(), point);
  if (!shared) return refuse_envelope("its key is of small order: anybody could have opened it");
  const Secret keys = keys_of(*shared, point, receiver.public_key().point);
  std::optional<Secret> plaintext =
      aead_decrypt(keys.view().substr(0, k_aead_key_bytes), keys.view().substr(k_aead_key_bytes),
                   bytes_of_binding(binding), envelope.substr(k_head_bytes));
  if (!plaintext) {
    return fail(Code::denied, k_envelope,
                "it was changed, or is for another key, contract, direction, step or number",
                "drop it; what was sent is still to come");
  }
  return std::move(*plaintext);
}

}  // namespace spillway::pki
