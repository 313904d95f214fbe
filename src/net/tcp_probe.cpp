#include "net/tcp_probe.h"

#include <charconv>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/resolver.h"

namespace spillway::net {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<uint16_t> read_port(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole && port > 0 ? std::optional(port) : std::nullopt;
}

std::optional<Address> read_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto port = read_port(std::string_view(text).substr(colon + 1));
  std::string host = text.substr(0, colon);
  if (!port) return std::nullopt;
  Address address;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    auto& six = reinterpret_cast<sockaddr_in6&>(address.bytes);
    if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1) return std::nullopt;
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(*port);
    address.size = sizeof six;
    return address;
  }
  auto& four = reinterpret_cast<sockaddr_in&>(address.bytes);
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) return std::nullopt;
  four.sin_family = AF_INET;
  four.sin_port = htons(*port);
  address.size = sizeof four;
  return address;
}

struct Net4 {
  uint32_t address;
  int bits;
};

// RFC 6890: what does not belong on the open network, and documentation's own.
bool is_public_four(uint32_t address) {
  constexpr Net4 k_closed[] = {
      {0x00000000, 8},  {0x0A000000, 8},  {0x64400000, 10}, {0x7F000000, 8},  {0xA9FE0000, 16},
      {0xAC100000, 12}, {0xC0000000, 24}, {0xC0000200, 24}, {0xC0A80000, 16}, {0xC6120000, 15},
      {0xC6336400, 24}, {0xCB007100, 24}, {0xE0000000, 3}};
  for (const Net4& net : k_closed) {
    if (((address ^ net.address) >> (32 - net.bits)) == 0) return false;
  }
  return true;
}

// Global unicast is 2000::/3; ways around (6to4, Teredo, mapped) and documentation are not.
bool is_public_six(const in6_addr& address) {
  const uint8_t* b = address.s6_addr;
  if ((b[0] & 0xE0) != 0x20) return false;
  const uint32_t front = static_cast<uint32_t>(b[0]) << 24 | static_cast<uint32_t>(b[1]) << 16 |
                         static_cast<uint32_t>(b[2]) << 8 | b[3];
  return front != 0x20010000 && front != 0x20010DB8 && (front >> 16) != 0x2002;
}

// Alive until it has answered.
class Probe : public std::enable_shared_from_this<Probe> {
 public:
  Probe(Poll& poll, std::function<void(std::optional<int64_t>)> then)
      : poll_(poll), then_(std::move(then)) {}

  void start(const Address& address, Duration patience) {
    fd_ = ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return end(false);
    begun_ = Clock::now();
    const int result =
        ::connect(fd_, reinterpret_cast<const sockaddr*>(&address.bytes), address.size);
    if (result == 0) return end(true);
    if (errno != EINPROGRESS) return end(false);
    poll_.watch(fd_, false, true, [self = shared_from_this()](Ready) { self->on_ready(); });
    poll_.after(patience, [self = shared_from_this()] { self->end(false); });
  }
  void end(bool is_connected) {
    if (!then_) return;
    std::optional<int64_t> micros;
    if (is_connected) {
      micros = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun_).count();
    }
    if (fd_ >= 0) {
      poll_.unwatch(fd_);
      ::close(std::exchange(fd_, -1));
    }
    std::exchange(then_, nullptr)(micros);
  }

 private:
  void on_ready() {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    const auto self = shared_from_this();  // the poll lets go of us now
    end(error == 0);
  }

  Poll& poll_;
  std::function<void(std::optional<int64_t>)> then_;
  int fd_ = -1;
  Clock::time_point begun_;
};

}  // namespace

bool is_address_and_port(const std::string& text) { return read_address(text).has_value(); }

bool is_public_address(const std::string& text) {
  const auto address = read_address(text);
  if (!address) return false;
  if (address->bytes.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address->bytes);
    return is_public_four(ntohl(four.sin_addr.s_addr));
  }
  return is_public_six(reinterpret_cast<const sockaddr_in6&>(address->bytes).sin6_addr);
}

void measure_round_trip(Poll& poll, const std::string& address, Duration patience,
                        std::function<void(std::optional<int64_t>)> then) {
  const auto read = read_address(address);
  poll.post([&poll, read, patience, then = std::move(then)]() mutable {
    const auto probe = std::make_shared<Probe>(poll, std::move(then));
    if (read) return probe->start(*read, patience);
    probe->end(false);
  });
}

}  // namespace spillway::net
