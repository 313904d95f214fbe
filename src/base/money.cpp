#include "base/money.h"

#include <algorithm>

#include "base/text.h"

namespace spillway {
namespace {

constexpr int64_t k_micros_per_unit = 1'000'000;
constexpr size_t k_decimals = 6;

tl::unexpected<Error> no_amount(std::string_view text, std::string reason) {
  return fail(Code::invalid, "amount", in_quotes(text) + " " + std::move(reason),
              "write a decimal with at most six decimals, such as 1.25");
}

}  // namespace

Result<Currency> parse_currency(std::string_view text) {
  const bool well_formed = text.size() == 3 && std::all_of(text.begin(), text.end(), [](char c) {
                             return c >= 'A' && c <= 'Z';
                           });
  if (!well_formed) {
    return fail(Code::invalid, "currency", in_quotes(text) + " is no currency code",
                "write three capital letters, such as EUR");
  }
  return Currency{{text[0], text[1], text[2]}};
}

Result<int64_t> parse_micros(std::string_view decimal) {
  std::string_view rest = decimal;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  const size_t point = std::min(rest.find('.'), rest.size());
  const std::string_view whole = rest.substr(0, point);
  const bool has_point = point < rest.size();
  const std::string_view fraction = has_point ? rest.substr(point + 1) : std::string_view{};
  if (whole.empty() || !std::all_of(whole.begin(), whole.end(), is_digit) ||
      !std::all_of(fraction.begin(), fraction.end(), is_digit) || (has_point && fraction.empty())) {
    return no_amount(decimal, "is no decimal number");
  }
  if (fraction.size() > k_decimals) return no_amount(decimal, "has more than six decimals");
  // Built up below zero, where int64 has one value more.
  int64_t micros = 0;
  const auto append = [&micros](char digit) {
    return !__builtin_mul_overflow(micros, int64_t{10}, &micros) &&
           !__builtin_sub_overflow(micros, int64_t{digit - '0'}, &micros);
  };
  for (const char digit : whole) {
    if (!append(digit)) return no_amount(decimal, "is too large");
  }
  for (size_t i = 0; i < k_decimals; ++i) {
    if (!append(i < fraction.size() ? fraction[i] : '0')) return no_amount(decimal, "is too large");
  }
  if (negative) return micros;
  if (micros == INT64_MIN) return no_amount(decimal, "is too large");
  return -micros;
}

std::string micros_to_text(int64_t micros) {
  const uint64_t magnitude =
      micros < 0 ? uint64_t{0} - static_cast<uint64_t>(micros) : static_cast<uint64_t>(micros);
  std::string text = micros < 0 ? "-" : "";
  text += std::to_string(magnitude / k_micros_per_unit);
  uint64_t rest = magnitude % k_micros_per_unit;
  if (rest == 0) return text;
  std::array<char, k_decimals> digits{};
  for (size_t i = k_decimals; i > 0; --i) {
    digits[i - 1] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  }
  std::string_view shown{digits.data(), digits.size()};
  shown.remove_suffix(shown.size() - 1 - shown.find_last_not_of('0'));
  text += '.';
  text += shown;
  return text;
}

std::string to_text(const Money& money) {
  return micros_to_text(money.micros) + " " + money.currency.text();
}

Result<Money> parse_money(std::string_view text) {
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) {
    return fail(Code::invalid, "money", in_quotes(text) + " does not name its currency",
                "write an amount and a currency, such as 1.25 EUR");
  }
  const auto micros = parse_micros(text.substr(0, space));
  if (!micros) return tl::unexpected(micros.error());
  const auto currency = parse_currency(text.substr(space + 1));
  if (!currency) return tl::unexpected(currency.error());
  return Money{*micros, *currency};
}

}  // namespace spillway
