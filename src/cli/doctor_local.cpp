#include "cli/doctor_local.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/quantity.h"
#include "pki/private_file.h"

namespace spillway::cli {
namespace {

constexpr int k_connect_ms = 5000;
constexpr uint64_t k_least_free = uint64_t{64} << 20;

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> resolve(const net::Url& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", url.port);
  const int error = ::getaddrinfo(url.host.c_str(), port.c_str(), &hints, &found);
  if (error == 0) return Addresses(found, &freeaddrinfo);
  return fail(Code::unavailable, url.host, ::gai_strerror(error),
              "check the name, /etc/resolv.conf and the network");
}

std::string address_text(const addrinfo& address) {
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(address.ai_addr, address.ai_addrlen, host.data(), host.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return "?";
  }
  return host.data();
}

Result<net::Url> url_of(const Examination& examination) {
  return net::parse_url(examination.broker.empty() ? examination.member->broker
                                                   : examination.broker);
}

// errno of the attempt; 0: connected.
int try_connect(const addrinfo& address) {
  const int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  int error = ::connect(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd waiting{fd, POLLOUT, 0};
    if (::poll(&waiting, 1, k_connect_ms) <= 0) {
      error = ETIMEDOUT;
    } else {
      socklen_t size = sizeof error;
      if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    }
  }
  ::close(fd);
  return error;
}

}  // namespace

Result<std::string> look_at_folder(Examination& examination) {
  SPILLWAY_TRY(pki::check_private_folder(examination.dir));
  auto member = agent::load_credentials(examination.dir);
  if (!member) return tl::unexpected(member.error());
  examination.member = std::move(*member);
  return fmt::format("{} of {} in {}, closed to others", examination.member->name,
                     examination.member->federation, examination.dir);
}

Result<std::string> look_at_certificate(Examination& examination) {
  const agent::Credentials& member = *examination.member;
  const Instant at = now();
  if (member.not_before > at) {
    return fail(Code::invalid, "certificate",
                "it begins " + relative(member.not_before, at) + " by this machine's clock",
                "set the clock: timedatectl set-ntp true");
  }
  if (member.not_after <= at) {
    return fail(Code::gone, "certificate", "it ended " + relative(member.not_after, at),
                "within 30 days: spillway renew; later: join again with a new token");
  }
  return fmt::format("good until {} ({})", to_text(member.not_after),
                     relative(member.not_after, at));
}

Result<std::string> look_at_disk(Examination& examination) {
  struct statvfs disk {};
  const std::string& there =
      ::access(examination.state.c_str(), F_OK) == 0 ? examination.state : examination.dir;
  if (::statvfs(there.c_str(), &disk) != 0) {
    return fail(Code::unavailable, there, std::strerror(errno), "check the disk");
  }
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  const std::string text = fmt::format("{} MiB free for {}", free >> 20U, examination.state);
  if (free < k_least_free) {
    return fail(Code::unavailable, there, text, "make room: the agent must be able to write");
  }
  return text;
}

Result<std::string> look_up_name(Examination& examination) {
  const auto url = url_of(examination);
  if (!url) return tl::unexpected(url.error());
  const auto addresses = resolve(*url);
  if (!addresses) return tl::unexpected(addresses.error());
  return fmt::format("{} is {}", url->host, address_text(**addresses));
}

Result<std::string> look_at_tcp(Examination& examination) {
  const auto url = url_of(examination);
  if (!url) return tl::unexpected(url.error());
  const auto addresses = resolve(*url);
  if (!addresses) return tl::unexpected(addresses.error());
  int error = 0;
  for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
    error = try_connect(*address);
    if (error == 0)
      return fmt::format("{} port {} takes connections", address_text(*address), url->port);
  }
  return fail(Code::unavailable, fmt::format("{}:{}", url->host, url->port), std::strerror(error),
              "check that the broker runs, its listen setting, and firewalls between");
}

}  // namespace spillway::cli
