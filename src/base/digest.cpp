#include "base/digest.h"

#include <fmt/format.h>

namespace spillway {

std::string to_hex(const Fingerprint& fingerprint) {
  return fmt::format("{:016x}{:016x}", fingerprint.high, fingerprint.low);
}

void Digest::byte(uint8_t b) {
  constexpr Word k_prime = (static_cast<Word>(1) << 88) + 0x13b;
  state_ ^= b;
  state_ *= k_prime;
}

// A leading byte per kind of value keeps a number from looking like a text's length.
Digest& Digest::add(std::string_view text) {
  byte('s');
  for (int shift = 0; shift < 64; shift += 8) {
    byte(static_cast<uint8_t>(static_cast<uint64_t>(text.size()) >> shift));
  }
  for (const char c : text) byte(static_cast<uint8_t>(c));
  return *this;
}

Digest& Digest::add(int64_t number) {
  byte('n');
  for (int shift = 0; shift < 64; shift += 8) {
    byte(static_cast<uint8_t>(static_cast<uint64_t>(number) >> shift));
  }
  return *this;
}

Fingerprint Digest::value() const {
  return {static_cast<uint64_t>(state_ >> 64), static_cast<uint64_t>(state_)};
}

}  // namespace spillway
