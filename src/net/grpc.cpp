#include "net/grpc.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace spillway::net {
namespace {

constexpr size_t k_prefix_bytes = 5;
constexpr size_t k_most_digits = 8;

struct TimeUnit {
  char letter;
  int64_t nanoseconds;
};
constexpr std::array<TimeUnit, 6> k_units{{{'n', 1},
                                           {'u', 1'000},
                                           {'m', 1'000'000},
                                           {'S', 1'000'000'000},
                                           {'M', 60'000'000'000},
                                           {'H', 3'600'000'000'000}}};

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

GrpcAnswer to_grpc(const Error& error) {
  return {static_cast<GrpcCode>(describe(error.code).grpc), error.message(), {}};
}

std::string grpc_prefix(size_t size) {
  std::string bytes(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(static_cast<unsigned char>(size >> shift));
  }
  return bytes;
}

std::string framed(std::string_view message) { return grpc_prefix(message.size()).append(message); }

std::optional<std::string> unframed(std::string_view body) {
  if (body.size() < k_prefix_bytes || body[0] != '\0') return std::nullopt;
  uint32_t size = 0;
  for (size_t i = 1; i < k_prefix_bytes; ++i)
    size = size << 8 | static_cast<unsigned char>(body[i]);
  body.remove_prefix(k_prefix_bytes);
  if (body.size() != size) return std::nullopt;
  return std::string(body);
}

std::optional<Duration> parse_grpc_timeout(std::string_view text) {
  if (text.size() < 2 || text.size() > k_most_digits + 1) return std::nullopt;
  int64_t amount = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    if (!is_digit(c)) return std::nullopt;
    amount = amount * 10 + (c - '0');
  }
  for (const TimeUnit& unit : k_units) {
    if (unit.letter != text.back()) continue;
    // Whole milliseconds are enough, but nothing is not: somebody waits.
    const int64_t per_ms = 1'000'000;
    const int64_t ms = unit.nanoseconds >= per_ms ? amount * (unit.nanoseconds / per_ms)
                                                  : amount * unit.nanoseconds / per_ms;
    return Duration{std::max<int64_t>(ms, 1)};
  }
  return std::nullopt;
}

std::string grpc_timeout(Duration within) {
  constexpr int64_t k_most = 99'999'999;
  return within.ms <= k_most ? fmt::format("{}m", std::max<int64_t>(within.ms, 1))
                             : fmt::format("{}S", std::min(within.ms / 1000, k_most));
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                        hex_value(text[i + 2]) >= 0;
    if (escape) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace spillway::net
