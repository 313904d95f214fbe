// Money: whole micro-units of one currency. It never floats and never mixes currencies.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/arithmetic.h"
#include "base/result.h"

namespace spillway {

// Three capital letters (ISO 4217 form; private codes such as "XCR" are fine).
struct Currency {
  std::array<char, 3> letters{'E', 'U', 'R'};

  auto operator<=>(const Currency&) const = default;
  std::string text() const { return {letters.data(), letters.size()}; }
};

Result<Currency> parse_currency(std::string_view text);

struct Money {
  int64_t micros = 0;
  Currency currency;

  bool operator==(const Money&) const = default;
};

// "1.25" → 1'250'000. At most six decimals; a seventh is refused, not rounded.
Result<int64_t> parse_micros(std::string_view decimal);
std::string micros_to_text(int64_t micros);  // the shortest exact decimal: "1.25"
std::string to_text(const Money& money);     // "1.25 EUR"
Result<Money> parse_money(std::string_view text);

}  // namespace spillway
