// Quantities against a model that is slow and plainly right: digits in a list, multiplied and
// divided one by one.
#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace spillway {
namespace {

struct Suffix {
  const char* name;
  int ten;
  int two;
};
const std::array<Suffix, 16> k_suffixes{{{"n", -9, 0},
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

// A natural number of any length, least digit first.
using Digits = std::vector<int>;

Digits times(Digits number, int factor) {
  int carry = 0;
  for (int& digit : number) {
    carry += digit * factor;
    digit = carry % 10;
    carry /= 10;
  }
  for (; carry > 0; carry /= 10) number.push_back(carry % 10);
  return number;
}

// number × 10^ten × 2^two, when that is a whole number within int64.
std::optional<int64_t> naive(const std::string& whole, const std::string& fraction, bool negative,
                             int ten, int two) {
  Digits number;
  for (const char c : whole + fraction) number.insert(number.begin(), c - '0');
  ten -= static_cast<int>(fraction.size());
  for (int i = 0; i < two; ++i) number = times(number, 2);
  for (; ten > 0; --ten) number.insert(number.begin(), 0);
  for (; ten < 0; ++ten) {
    if (number.empty()) break;
    if (number.front() != 0) return std::nullopt;
    number.erase(number.begin());
  }
  int64_t value = 0;
  for (auto digit = number.rbegin(); digit != number.rend(); ++digit) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value)) return std::nullopt;
    const int64_t change = negative ? -*digit : *digit;
    if (__builtin_add_overflow(value, change, &value)) return std::nullopt;
  }
  return value;
}

std::string digits(size_t most) {
  const auto length = *rc::gen::inRange<size_t>(0, most + 1);
  return *rc::gen::container<std::string>(length, rc::gen::elementOf(std::string("0001234567589")));
}

RC_GTEST_PROP(Quantity, AgreesWithTheNaiveModel, ()) {
  const std::string whole = digits(12) + *rc::gen::elementOf(std::string("0123456789"));
  const std::string fraction = digits(15);
  const bool negative = *rc::gen::arbitrary<bool>();
  const Suffix suffix = *rc::gen::elementOf(k_suffixes);
  const bool milli = *rc::gen::arbitrary<bool>();
  const std::string text =
      (negative ? "-" : "") + whole + (fraction.empty() ? "" : "." + fraction) + suffix.name;
  const auto parsed = parse_quantity(text, milli ? QuantityStep::milli : QuantityStep::whole);
  const auto expected = naive(whole, fraction, negative, suffix.ten + (milli ? 3 : 0), suffix.two);
  RC_LOG() << text;
  RC_CLASSIFY(expected.has_value(), "exact");
  RC_ASSERT(parsed.has_value() == expected.has_value());
  if (expected) RC_ASSERT(*parsed == *expected);
}

RC_GTEST_PROP(Quantity, ExponentsAreSuffixesByAnotherName, (uint32_t number)) {
  const Suffix suffix = *rc::gen::elementOf(k_suffixes);
  RC_PRE(suffix.two == 0);
  const auto plain = parse_quantity(std::to_string(number) + suffix.name, QuantityStep::milli);
  const auto exponent = parse_quantity(
      std::to_string(number) + *rc::gen::element("e", "E") + std::to_string(suffix.ten),
      QuantityStep::milli);
  RC_ASSERT(plain.has_value() == exponent.has_value());
  if (plain) RC_ASSERT(*plain == *exponent);
}

RC_GTEST_PROP(Quantity, ReadsBackWhatItWrote, ()) {
  const int64_t value = *rc::gen::oneOf(
      rc::gen::arbitrary<int64_t>(), rc::gen::inRange(INT64_MIN, INT64_MAX),
      rc::gen::map(rc::gen::inRange<int64_t>(-4096, 4096), [](int64_t n) { return n << 40; }));
  RC_ASSERT(parse_quantity(bytes_to_text(value), QuantityStep::whole).value() == value);
  RC_ASSERT(parse_quantity(cpu_to_text(value), QuantityStep::milli).value() == value);
}

RC_GTEST_PROP(Quantity, AnyBytesAreReadOrRefused, (const std::string& text)) {
  parse_quantity(text, QuantityStep::whole);
  parse_quantity(text, QuantityStep::milli);
}

}  // namespace
}  // namespace spillway
