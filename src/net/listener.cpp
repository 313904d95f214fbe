#include "net/listener.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace spillway::net {
namespace {

constexpr int k_at_once = 64;  // arrivals in a turn, so that the others have theirs

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

bool parse_address(const std::string& text, uint16_t port, SocketAddress& address,
                   socklen_t& size) {
  std::memset(&address, 0, sizeof address);
  if (::inet_pton(AF_INET, text.c_str(), &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(port);
    size = sizeof address.v4;
    return true;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &address.v6.sin6_addr) == 1) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(port);
    size = sizeof address.v6;
    return true;
  }
  return false;
}

Arrival arrival_of(int fd, const SocketAddress& from) {
  Arrival arrival;
  arrival.fd = fd;
  char text[INET6_ADDRSTRLEN] = "";
  if (from.any.sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &from.v4.sin_addr, text, sizeof text);
    arrival.port = ntohs(from.v4.sin_port);
  } else if (IN6_IS_ADDR_V4MAPPED(&from.v6.sin6_addr)) {
    ::inet_ntop(AF_INET, &from.v6.sin6_addr.s6_addr[12], text, sizeof text);
    arrival.port = ntohs(from.v6.sin6_port);
  } else {
    ::inet_ntop(AF_INET6, &from.v6.sin6_addr, text, sizeof text);
    arrival.port = ntohs(from.v6.sin6_port);
  }
  arrival.address = text;
  return arrival;
}

int open_spare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

std::string with_port(const std::string& address, uint16_t port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

Result<std::unique_ptr<Listener>> Listener::open(Poll& poll, const std::string& address,
                                                 uint16_t port, OnArrival on_arrival,
                                                 std::function<void()> on_turned_away) {
  const std::string thing = "address " + with_port(address, port);
  SocketAddress where;
  socklen_t size = 0;
  if (!parse_address(address, port, where, size)) {
    return fail(Code::invalid, thing, "it is neither an IPv4 nor an IPv6 address",
                "give an address of this machine, 0.0.0.0 or ::");
  }
  const int fd =
      ::socket(where.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  const int on = 1;
  const int off = 0;
  if (fd >= 0) {
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (where.any.sa_family == AF_INET6) {
      ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
  }
  if (fd < 0 || ::bind(fd, &where.any, size) != 0 || ::listen(fd, SOMAXCONN) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    return fail(Code::unavailable, thing,
                "cannot listen: " + std::generic_category().message(error),
                "choose another address or port, or stop who uses it");
  }
  return std::unique_ptr<Listener>(
      new Listener(poll, fd, std::move(on_arrival), std::move(on_turned_away)));
}

Listener::Listener(Poll& poll, int fd, OnArrival on_arrival, std::function<void()> on_turned_away)
    : poll_(poll),
      fd_(fd),
      spare_(open_spare()),
      on_arrival_(std::move(on_arrival)),
      on_turned_away_(std::move(on_turned_away)) {
  SocketAddress bound;
  socklen_t size = sizeof bound;
  ::getsockname(fd_, &bound.any, &size);
  port_ = ntohs(bound.any.sa_family == AF_INET ? bound.v4.sin_port : bound.v6.sin6_port);
  poll_.watch(fd_, true, false, [this](Ready) { take_arrivals(); });
}

Listener::~Listener() {
  *alive_ = false;
  poll_.unwatch(fd_);
  ::close(fd_);
  if (spare_ >= 0) ::close(spare_);
}

void Listener::take_arrivals() {
  const std::shared_ptr<bool> alive = alive_;
  for (int i = 0; i < k_at_once && *alive; ++i) {
    SocketAddress from;
    socklen_t size = sizeof from;
    const int fd = ::accept4(fd_, &from.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      on_arrival_(arrival_of(fd, from));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE) {
      if (turn_away()) continue;
      return pause();
    }
    // Gone again before we came to it, or a signal; anything else will be reported again.
    if (errno != ECONNABORTED && errno != EINTR) return;
  }
}

// Without this, a connection that cannot be accepted would be reported for ever.
bool Listener::turn_away() {
  if (spare_ < 0) spare_ = open_spare();
  if (spare_ < 0) return false;
  ::close(spare_);
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) ::close(fd);
  spare_ = open_spare();
  if (fd >= 0) on_turned_away_();
  return fd >= 0;
}

// Others in the process took even the spare one: those who wait keep waiting for a while.
void Listener::pause() {
  poll_.change(fd_, false, false);
  poll_.after(milliseconds(100), [this, alive = alive_] {
    if (*alive) poll_.change(fd_, true, false);
  });
}

}  // namespace spillway::net
