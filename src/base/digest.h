// A 128-bit fingerprint (FNV-1a) of a sequence of values. For telling bodies and traces apart, not
// for security: whoever can choose both inputs only deceives itself.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace spillway {

struct Fingerprint {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Fingerprint&) const = default;
};

std::string to_hex(const Fingerprint& fingerprint);  // 32 digits

class Digest {
 public:
  Digest& add(std::string_view text);  // length and bytes: ("ab","c") differs from ("a","bc")
  Digest& add(int64_t number);
  Fingerprint value() const;

 private:
  void byte(uint8_t b);

  __extension__ using Word = unsigned __int128;
  Word state_ = (static_cast<Word>(0x6c62272e07bb0142ULL) << 64) | 0x62b821756295c58dULL;
};

}  // namespace spillway
