// How long it takes to an address and back: the time until a TCP connection stands. It is closed at
// once, and nothing is sent over it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "net/poll.h"

namespace spillway::net {

// An address and a port, "192.0.2.7:443" or "[2001:db8::7]:443": never a name, which would be
// somebody else's word for where to go.
bool is_address_and_port(const std::string& text);
// Nothing of this machine, of a private network, or of many at once.
bool is_public_address(const std::string& text);

// Microseconds; none: it could not be reached. Calls once, later, on the poll.
void measure_round_trip(Poll& poll, const std::string& address, Duration patience,
                        std::function<void(std::optional<int64_t>)> then);

}  // namespace spillway::net
