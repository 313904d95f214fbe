// Ranges of IPv4 addresses, as clusters tell them to each other. Liqo's networks have no others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::fabric {

std::optional<uint32_t> parse_address(std::string_view text);  // "10.0.0.1", and no other spelling
std::string address_to_text(uint32_t address);

struct Cidr {
  uint32_t base = 0;
  int prefix = 32;
  bool operator==(const Cidr&) const = default;

  bool contains(uint32_t address) const;
  bool overlaps(const Cidr& other) const;
};
// "10.0.0.0/16": with all bits behind the prefix zero.
std::optional<Cidr> parse_cidr(std::string_view text);

// Whether somebody's pods, or gateway, can be there: not for this host, one link, many receivers,
// or nobody. Among the second are the metadata servers of clouds.
bool is_reachable(uint32_t address);

// For use inside of networks (RFC 1918, RFC 6598): who says that others are its own takes traffic
// that is meant for somebody else.
bool is_private(const Cidr& range);

// Where an address of `from` is in `to`, which has room for it.
std::optional<uint32_t> remap(uint32_t address, const Cidr& from, const Cidr& to);

}  // namespace spillway::fabric
