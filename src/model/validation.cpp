#include "model/validation.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "base/quantity.h"
#include "base/text.h"
#include "model/limits.h"

namespace spillway::model {
namespace {

constexpr size_t k_longest_name = 63;
constexpr size_t k_longest_prefix = 253;

bool is_letter_or_digit(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > k_longest_name) return false;
  if (!is_letter_or_digit(text.front()) || !is_letter_or_digit(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
  });
}

bool is_dns_subdomain(std::string_view text) {
  if (text.empty() || text.size() > k_longest_prefix) return false;
  bool label_begins = true;
  char last = '.';
  for (const char c : text) {
    if (c == '.') {
      if (label_begins || last == '-') return false;
      label_begins = true;
    } else {
      if (!is_lower_or_digit(c) && (c != '-' || label_begins)) return false;
      label_begins = false;
    }
    last = c;
  }
  return last != '.' && last != '-';
}

tl::unexpected<Error> out_of_range(std::string_view path, bool is_negative, std::string value,
                                   const std::string& low, const std::string& high) {
  return refuse(path, std::move(value) + (is_negative ? " is negative" : " is out of range"),
                "use " + low + " to " + high);
}

std::string share_to_text(int64_t permille) {
  constexpr int64_t k_micros_in_tenth = 100'000;
  return micros_to_text(checked_multiply(permille, k_micros_in_tenth)) + "%";
}

}  // namespace

Status under(std::string_view step, Status status) {
  if (!status) {
    std::string& thing = status.error().thing;
    std::string path(step);
    if (!thing.empty() && !thing.starts_with('[')) path += '.';
    path += thing;
    thing = std::move(path);
  }
  return status;
}

Status under(std::string_view step, size_t index, Status status) {
  if (status) return status;
  return under(std::string(step) + "[" + std::to_string(index) + "]", std::move(status));
}

Status at(std::string_view path, Status status) {
  if (!status) status.error().thing = path;
  return status;
}

Status check_range(std::string_view path, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return {};
  return out_of_range(path, value < 0 && low == 0, std::to_string(value), std::to_string(low),
                      std::to_string(high));
}

Status check_cpu(std::string_view path, int64_t millis, int64_t high) {
  if (millis >= 0 && millis <= high) return {};
  const int64_t whole_cores = high - high % 1000;  // easier to read, and beyond all clusters
  return out_of_range(path, millis < 0, cpu_to_text(millis), "0", cpu_to_text(whole_cores));
}

Status check_bytes(std::string_view path, int64_t bytes, int64_t high) {
  if (bytes >= 0 && bytes <= high) return {};
  return out_of_range(path, bytes < 0, bytes_to_text(bytes), "0", bytes_to_text(high));
}

Status check_share(std::string_view path, int64_t permille, int64_t high) {
  if (permille >= 0 && permille <= high) return {};
  return out_of_range(path, permille < 0, share_to_text(permille), "0%", share_to_text(high));
}

Status check_range(std::string_view path, Duration value, Duration low, Duration high) {
  if (value >= low && value <= high) return {};
  return refuse(path, to_text(value) + " is out of range",
                "use " + to_text(low) + " to " + to_text(high));
}

Status check_time(std::string_view path, Instant value) {
  if (value >= k_first_instant && value <= k_last_instant) return {};
  return refuse(path, to_text(value) + " is out of range", "use a time from 1970 to 9999");
}

Status check_size(std::string_view path, size_t size, size_t most) {
  if (size <= most) return {};
  return refuse(path, std::to_string(size) + " entries are too many",
                "give at most " + std::to_string(most));
}

Status check_currency(std::string_view path, const Currency& currency) {
  const auto parsed = parse_currency({currency.letters.data(), currency.letters.size()});
  if (parsed) return {};
  return at(path, tl::unexpected(parsed.error()));
}

Status check_text(std::string_view path, std::string_view text) {
  if (text.size() > k_max_text_bytes) {
    return refuse(path, in_quotes(text) + " is too long",
                  "use at most " + std::to_string(k_max_text_bytes) + " bytes");
  }
  if (is_printable(text)) return {};
  return refuse(path, in_quotes(text) + " is no printable UTF-8");
}

Status check_country(std::string_view path, std::string_view country) {
  const bool well_formed = country.size() == 2 && country[0] >= 'A' && country[0] <= 'Z' &&
                           country[1] >= 'A' && country[1] <= 'Z';
  if (well_formed) return {};
  return refuse(path, in_quotes(country) + " is no country code",
                "write the two capital letters of ISO 3166-1, such as IT");
}

bool is_label_value(std::string_view text) { return text.empty() || is_name(text); }

bool is_qualified_name(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_name(text);
  return is_dns_subdomain(text.substr(0, slash)) && is_name(text.substr(slash + 1));
}

Status check_label_key(std::string_view path, std::string_view key) {
  if (is_qualified_name(key)) return {};
  return refuse(path, in_quotes(key) + " is no label key",
                "write [<DNS name>/]<name>, the name of at most 63 letters, digits, '-', '_', '.'");
}

Status check_label_value(std::string_view path, std::string_view value) {
  if (is_label_value(value)) return {};
  return refuse(path, in_quotes(value) + " is no label value",
                "use at most 63 letters, digits, '-', '_', '.', a letter or digit at both ends");
}

}  // namespace spillway::model
