#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "base/arithmetic.h"
#include "base/text.h"

namespace spillway {
namespace {

__extension__ using Word = unsigned __int128;

// An int64 has 19 digits. More than 30 that count are no amount that anybody means, and within
// them the long division below is exact in 128 bits.
constexpr int k_max_digits = 30;
constexpr int k_max_decimals = 37;
constexpr int k_max_exponent = 999;  // larger ones cannot be whole or cannot fit; see scale()

struct Suffix {
  std::string_view name;
  int ten;  // the power of ten
  int two;  // the power of two
};
constexpr std::array<Suffix, 16> k_suffixes{{{"n", -9, 0},
                                             {"u", -6, 0},
                                             {"m", -3, 0},
                                             {"", 0, 0},
                                             {"k", 3, 0},
                                             {"M", 6, 0},
                                             {"G", 9, 0},
                                             {"T", 12, 0},
                                             {"P", 15, 0},
                                             {"E", 18, 0},
                                             {"Ki", 0, 10},
                                             {"Mi", 0, 20},
                                             {"Gi", 0, 30},
                                             {"Ti", 0, 40},
                                             {"Pi", 0, 50},
                                             {"Ei", 0, 60}}};

// digits × 10^ten × 2^two
struct Exact {
  bool negative = false;
  Word digits = 0;
  int ten = 0;
  int two = 0;
};

tl::unexpected<Error> no_quantity(std::string_view text, std::string reason,
                                  std::string next = {}) {
  if (next.empty()) next = "write a Kubernetes quantity, such as 2, 500m, 1.5 or 4Gi";
  return fail(Code::invalid, "quantity", in_quotes(text) + " " + std::move(reason),
              std::move(next));
}

// The exponent of "e3", "E-2"; nullopt when it is none.
std::optional<int> read_exponent(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  int exponent = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    exponent = std::min(exponent * 10 + (c - '0'), k_max_exponent);
  }
  return negative ? -exponent : exponent;
}

Result<Exact> read(std::string_view text) {
  Exact exact;
  size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) exact.negative = text[i++] == '-';
  int significant = 0;
  int pending_zeros = 0;  // trailing zeros so far: they count only when a digit follows
  bool any = false;
  bool point = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(text[i])) break;
    any = true;
    if (point) --exact.ten;
    if (text[i] == '0') {
      if (significant > 0) ++pending_zeros;
      continue;
    }
    significant += pending_zeros + 1;
    if (significant > k_max_digits)
      return no_quantity(text, "has more digits than any amount needs");
    for (; pending_zeros > 0; --pending_zeros) exact.digits *= 10;
    exact.digits = exact.digits * 10 + static_cast<Word>(text[i] - '0');
  }
  if (!any) return no_quantity(text, "is no number");
  exact.ten += pending_zeros;
  const std::string_view suffix = text.substr(i);
  for (const Suffix& known : k_suffixes) {
    if (known.name != suffix) continue;
    exact.ten += known.ten;
    exact.two = known.two;
    return exact;
  }
  const auto exponent = read_exponent(suffix);
  if (!exponent) {
    return no_quantity(text, "ends in " + in_quotes(suffix) + ", which is no suffix",
                       "use one of n u m k M G T P E Ki Mi Gi Ti Pi Ei, or none");
  }
  exact.ten += *exponent;
  return exact;
}

struct Scaled {
  bool fits = false;
  bool exact = false;
  int64_t nearest = 0;
  int64_t towards_zero = 0;
};

// The value as a whole number and whether it is one; at most k_max_decimals decimals. Long
// division: the whole part, then the remainder doubled `two` times; no step exceeds 128 bits.
Scaled scale(const Exact& value) {
  if (value.digits == 0) return {true, true, 0, 0};
  Word whole = value.digits;
  Word rest = 0;
  Word divisor = 1;
  const Word limit = static_cast<Word>(1) << 63;
  if (value.ten < 0) {
    for (int i = 0; i < -value.ten; ++i) divisor *= 10;
    whole = value.digits / divisor;
    rest = value.digits % divisor;
  }
  if (whole > limit) return {};
  for (int i = 0; i < value.ten; ++i) {
    whole *= 10;
    if (whole > limit) return {};
  }
  for (int i = 0; i < value.two; ++i) {
    whole *= 2;
    rest *= 2;
    if (rest >= divisor) {
      rest -= divisor;
      ++whole;
    }
    if (whole > limit) return {};
  }
  const auto with_sign = [&value](Word magnitude) {
    const uint64_t bits = static_cast<uint64_t>(magnitude);
    return static_cast<int64_t>(value.negative ? uint64_t{0} - bits : bits);
  };
  const bool exact = rest == 0;
  const Word towards_zero = whole;
  if (rest * 2 >= divisor && !exact) ++whole;
  if (whole > limit || (whole == limit && !value.negative)) return {};
  return {true, exact, with_sign(whole), with_sign(towards_zero)};
}

int64_t rounded(const Scaled& scaled, bool negative, Rounding rounding) {
  using Limits = std::numeric_limits<int64_t>;
  if (!scaled.fits) return negative ? Limits::min() : Limits::max();
  const bool from_zero = !scaled.exact && negative == (rounding == Rounding::down);
  const int64_t step = !from_zero ? 0 : negative ? -1 : 1;
  return try_add(scaled.towards_zero, step).value_or(scaled.towards_zero);
}

// A value in the largest unit in which it is a whole number.
struct InUnits {
  std::string number;
  std::string_view unit;
};

InUnits in_units(int64_t value, int64_t base, std::span<const std::string_view> units) {
  size_t power = 0;
  while (value != 0 && power + 1 < units.size() && value % base == 0) {
    value /= base;
    ++power;
  }
  return {std::to_string(value), units[power]};
}

}  // namespace

Result<int64_t> parse_quantity(std::string_view text, QuantityStep step, Rounding rounding) {
  auto exact = read(text);
  if (!exact) return tl::unexpected(std::move(exact).error());
  if (step == QuantityStep::milli) exact->ten += 3;
  if (exact->digits != 0 && exact->ten < -k_max_decimals) {
    return no_quantity(text, "is finer than any amount");
  }
  const Scaled scaled = scale(*exact);
  if (rounding != Rounding::none) return rounded(scaled, exact->negative, rounding);
  if (!scaled.fits) return no_quantity(text, "is too large");
  if (scaled.exact) return scaled.nearest;
  if (step == QuantityStep::milli) {
    return no_quantity(text, "is no whole number of thousandths",
                       "the nearest that is one is " + cpu_to_text(scaled.nearest));
  }
  return no_quantity(text, "is no whole number",
                     "the nearest that is one is " + std::to_string(scaled.nearest));
}

std::string cpu_to_text(int64_t millicores) {
  if (millicores % 1000 == 0) return std::to_string(millicores / 1000);
  return std::to_string(millicores) + "m";
}

std::string bytes_to_text(int64_t bytes) {
  constexpr std::array<std::string_view, 7> k_binary{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  constexpr std::array<std::string_view, 7> k_decimal{"", "k", "M", "G", "T", "P", "E"};
  const InUnits binary = in_units(bytes, 1024, k_binary);
  const InUnits decimal = in_units(bytes, 1000, k_decimal);
  const InUnits& shorter = decimal.number.size() < binary.number.size() ? decimal : binary;
  return shorter.number + std::string(shorter.unit);
}

}  // namespace spillway
