// Envelopes that strangers send: none opens but those that were sealed, and those do.
#include "pki/envelope.h"

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway;
  using namespace spillway::pki;
  static const SealingKey k_receiver = SealingKey::generate();
  static const Binding k_binding{"contract", Direction::to_buyer, "step", 1};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);

  const Result<Secret> forged = open_envelope(k_receiver, k_binding, bytes);
  SPILLWAY_CHECK(!forged, "nobody sealed it");
  SPILLWAY_CHECK(is_printable(forged.error().message()), "an error repeats the input");
  if (const auto key = read_sealing_key(bytes)) {
    SPILLWAY_CHECK(to_text(*key) == bytes, "two texts for one key");
    if (const auto sealed = seal_envelope(*key, k_binding, "x")) {
      SPILLWAY_CHECK(!open_envelope(k_receiver, k_binding, *sealed), "it is for another key");
    }
  }

  Result<std::string> sealed = seal_envelope(k_receiver.public_key(), k_binding, bytes);
  if (!sealed) return 0;  // too long
  SPILLWAY_CHECK(open_envelope(k_receiver, k_binding, *sealed)->view() == bytes, "it came through");
  const size_t at = size == 0 ? 0 : data[0] % sealed->size();
  (*sealed)[at] = static_cast<char>((*sealed)[at] ^ 1);
  SPILLWAY_CHECK(!open_envelope(k_receiver, k_binding, *sealed), "a change went unnoticed");
  return 0;
}
