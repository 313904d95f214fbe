#include "fabric/cidr.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace spillway::fabric {
namespace {

constexpr Cidr k_unreachable[] = {
    {0x00000000, 8},   // this network
    {0x7f000000, 8},   // this host
    {0xa9fe0000, 16},  // one link
    {0xe0000000, 3},   // many receivers, reserved, everybody
};

constexpr Cidr k_private[] = {
    {0x0a000000, 8}, {0x64400000, 10}, {0xac100000, 12}, {0xc0a80000, 16}};

uint32_t mask_of(int prefix) { return prefix == 0 ? 0 : ~uint32_t{0} << (32 - prefix); }

// Without signs, spaces and leading zeros: an address has one spelling.
std::optional<uint32_t> parse_number(std::string_view text, uint32_t most) {
  const bool is_number = !text.empty() && text.size() <= 3 &&
                         std::all_of(text.begin(), text.end(), is_digit) &&
                         (text.size() == 1 || text.front() != '0');
  if (!is_number) return std::nullopt;
  uint32_t value = 0;
  for (const char c : text) value = value * 10 + static_cast<uint32_t>(c - '0');
  return value <= most ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<uint32_t> parse_address(std::string_view text) {
  uint32_t address = 0;
  for (int i = 0; i < 4; ++i) {
    const size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (i == 3)) return std::nullopt;
    const auto byte = parse_number(text.substr(0, dot), 255);
    if (!byte) return std::nullopt;
    address = address << 8 | *byte;
    text.remove_prefix(i == 3 ? text.size() : dot + 1);
  }
  return address;
}

std::string address_to_text(uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                     address & 255);
}

bool Cidr::contains(uint32_t address) const { return (address & mask_of(prefix)) == base; }

bool Cidr::overlaps(const Cidr& other) const {
  return prefix <= other.prefix ? contains(other.base) : other.contains(base);
}

std::optional<Cidr> parse_cidr(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto base = parse_address(text.substr(0, slash));
  const auto prefix = parse_number(text.substr(slash + 1), 32);
  if (!base || !prefix) return std::nullopt;
  const Cidr made{*base, static_cast<int>(*prefix)};
  return made.contains(*base) ? std::optional(made) : std::nullopt;
}

bool is_reachable(uint32_t address) {
  return std::none_of(std::begin(k_unreachable), std::end(k_unreachable),
                      [address](const Cidr& one) { return one.contains(address); });
}

bool is_private(const Cidr& range) {
  return std::any_of(std::begin(k_private), std::end(k_private), [&range](const Cidr& one) {
    return one.prefix <= range.prefix && one.contains(range.base);
  });
}

std::optional<uint32_t> remap(uint32_t address, const Cidr& from, const Cidr& to) {
  if (!from.contains(address) || to.prefix > from.prefix) return std::nullopt;
  return to.base | (address & ~mask_of(from.prefix));
}

}  // namespace spillway::fabric
