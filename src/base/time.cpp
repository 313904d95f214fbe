#include "base/time.h"

#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace spillway {
namespace {

constexpr int64_t k_ms_per_day = 86'400'000;

struct Date {
  int64_t year;
  int64_t month;
  int64_t day;
};

// Days since 1970-01-01 in the proleptic Gregorian calendar and back, by eras of 400 years that
// begin in March (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
int64_t days_from(Date date) {
  const int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year =
      (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

Date date_from(int64_t days) {
  days += 719'468;
  const int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const int64_t day_of_era = days - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int64_t month = shifted_month + (shifted_month < 10 ? 3 : -9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * shifted_month + 2) / 5 + 1};
}

int64_t days_in_month(int64_t year, int64_t month) {
  constexpr std::array<int64_t, 12> k_days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : k_days[static_cast<size_t>(month - 1)];
}

// Reads a text from the left; after the first thing that is not as expected nothing reads any more.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool literal(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<int64_t> digits(size_t count) {
    if (rest_.size() < count) return std::nullopt;
    int64_t number = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!is_digit(rest_[i])) return std::nullopt;
      number = number * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return number;
  }
  std::string_view digit_run() {
    size_t length = 0;
    while (length < rest_.size() && is_digit(rest_[length])) ++length;
    const std::string_view run = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return run;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

tl::unexpected<Error> no_time(std::string_view text, std::string reason) {
  return fail(Code::invalid, "time", in_quotes(text) + " " + std::move(reason),
              "write it as 2026-01-31T09:30:00Z");
}

tl::unexpected<Error> no_duration(std::string_view text, std::string reason) {
  return fail(Code::invalid, "duration", in_quotes(text) + " " + std::move(reason),
              "write it as 1h30m, with the units d h m s ms, largest first");
}

// Milliseconds east of UTC; nullopt when the text is no offset.
std::optional<int64_t> read_offset(Cursor& cursor) {
  if (cursor.literal('Z') || cursor.literal('z')) return 0;
  const bool east = cursor.literal('+');
  if (!east && !cursor.literal('-')) return std::nullopt;
  const auto hour = cursor.digits(2);
  if (!hour || *hour > 23 || !cursor.literal(':')) return std::nullopt;
  const auto minute = cursor.digits(2);
  if (!minute || *minute > 59) return std::nullopt;
  const int64_t ms = (*hour * 60 + *minute) * 60'000;
  return east ? ms : -ms;
}

struct DurationUnit {
  std::string_view name;
  int64_t ms;
};
constexpr std::array<DurationUnit, 5> k_units{
    {{"d", k_ms_per_day}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};

char* put_digits(char* out, int64_t value, int count) {
  for (int i = count; i > 0; --i) {
    out[i - 1] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  return out + count;
}

}  // namespace

std::string to_text(Instant t) {
  int64_t days = t.ms / k_ms_per_day;
  int64_t ms = t.ms % k_ms_per_day;
  if (ms < 0) {
    ms += k_ms_per_day;
    --days;
  }
  const Date date = date_from(days);
  std::array<char, 64> buffer{};
  char* out = buffer.data();
  if (date.year >= 0 && date.year <= 9999) {
    out = put_digits(out, date.year, 4);
  } else {
    // Nothing valid has such a year; it is shown, for errors, and reads as no time.
    out = std::to_chars(out, buffer.data() + buffer.size(), date.year).ptr;
  }
  *out++ = '-';
  out = put_digits(out, date.month, 2);
  *out++ = '-';
  out = put_digits(out, date.day, 2);
  *out++ = 'T';
  out = put_digits(out, ms / 3'600'000, 2);
  *out++ = ':';
  out = put_digits(out, ms / 60'000 % 60, 2);
  *out++ = ':';
  out = put_digits(out, ms / 1000 % 60, 2);
  if (ms % 1000 != 0) {
    *out++ = '.';
    out = put_digits(out, ms % 1000, 3);
  }
  *out++ = 'Z';
  return {buffer.data(), out};
}

Result<Instant> parse_instant(std::string_view text) {
  Cursor cursor(text);
  const auto year = cursor.digits(4);
  const auto month = year && cursor.literal('-') ? cursor.digits(2) : std::nullopt;
  const auto day = month && cursor.literal('-') ? cursor.digits(2) : std::nullopt;
  if (!day || !(cursor.literal('T') || cursor.literal('t'))) {
    return no_time(text, "is no RFC 3339 time");
  }
  const auto hour = cursor.digits(2);
  const auto minute = hour && cursor.literal(':') ? cursor.digits(2) : std::nullopt;
  const auto second = minute && cursor.literal(':') ? cursor.digits(2) : std::nullopt;
  if (!second) return no_time(text, "is no RFC 3339 time");
  int64_t ms = 0;
  if (cursor.literal('.')) {
    const std::string_view fraction = cursor.digit_run();
    if (fraction.empty()) return no_time(text, "is no RFC 3339 time");
    if (fraction.find_first_not_of('0', 3) != std::string_view::npos) {
      return no_time(text, "is finer than a millisecond");
    }
    for (size_t i = 0; i < 3; ++i) ms = ms * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  }
  const auto offset = read_offset(cursor);
  if (!offset) return no_time(text, "does not end in Z or an offset from UTC");
  if (!cursor.rest().empty()) return no_time(text, "goes on after the time");
  if (*month < 1 || *month > 12 || *day < 1 || *day > days_in_month(*year, *month)) {
    return no_time(text, "is no day of the calendar");
  }
  // Leap seconds have no place in milliseconds since 1970; Kubernetes refuses them as well.
  if (*hour > 23 || *minute > 59 || *second > 59) return no_time(text, "is no time of day");
  const int64_t time_of_day = ((*hour * 60 + *minute) * 60 + *second) * 1000 + ms;
  return Instant{days_from({*year, *month, *day}) * k_ms_per_day + time_of_day - *offset};
}

std::string to_text(Duration d) {
  if (d.ms == 0) return "0s";
  uint64_t rest =
      d.ms < 0 ? uint64_t{0} - static_cast<uint64_t>(d.ms) : static_cast<uint64_t>(d.ms);
  std::string text = d.ms < 0 ? "-" : "";
  for (const DurationUnit& unit : k_units) {
    const uint64_t size = static_cast<uint64_t>(unit.ms);
    if (rest < size) continue;
    text += std::to_string(rest / size);
    text += unit.name;
    rest %= size;
  }
  return text;
}

Result<Duration> parse_duration(std::string_view text) {
  Cursor cursor(text);
  const bool negative = cursor.literal('-');
  if (cursor.rest().empty()) return no_duration(text, "is no duration");
  int64_t total = 0;  // built up below zero, where int64 has one value more
  size_t next_unit = 0;
  while (!cursor.rest().empty()) {
    const std::string_view number = cursor.digit_run();
    if (number.empty()) return no_duration(text, "is no duration");
    int64_t count = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), count).ec != std::errc{}) {
      return no_duration(text, "is too long");
    }
    std::string_view name = cursor.rest();
    size_t length = 0;
    while (length < name.size() && !is_digit(name[length])) ++length;
    name = name.substr(0, length);
    if (name.empty()) return no_duration(text, "lacks a unit");
    size_t unit = next_unit;
    while (unit < k_units.size() && k_units[unit].name != name) ++unit;
    if (unit == k_units.size()) {
      return no_duration(text, "has " + in_quotes(name) + " where no such unit can be");
    }
    for (size_t i = 0; i < length; ++i) cursor.literal(name[i]);
    int64_t ms = 0;
    if (__builtin_mul_overflow(count, k_units[unit].ms, &ms) ||
        __builtin_sub_overflow(total, ms, &total)) {
      return no_duration(text, "is too long");
    }
    next_unit = unit + 1;
  }
  if (negative) return Duration{total};
  if (total == INT64_MIN) return no_duration(text, "is too long");
  return Duration{-total};
}

}  // namespace spillway
