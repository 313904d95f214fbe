#include "net/resolver.h"

#include <cstring>
#include <thread>

#include <netdb.h>

namespace spillway::net {
namespace {

std::string look_up(const std::string& host, uint16_t port, int flags,
                    std::vector<Address>& addresses) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return ::gai_strerror(error);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Address address;
    std::memcpy(&address.bytes, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
    addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return {};
}

}  // namespace

Resolver::~Resolver() {
  const std::lock_guard lock(desk_->mutex);
  desk_->poll = nullptr;
  desk_->waiting.clear();
}

void Resolver::answer(const std::shared_ptr<Desk>& desk, const std::vector<Address>& addresses,
                      const std::string& why) {
  const std::lock_guard lock(desk->mutex);
  if (desk->poll == nullptr) return;
  desk->poll->post([desk, addresses, why] {
    std::vector<Then> waiting;
    {
      const std::lock_guard inner(desk->mutex);
      waiting.swap(desk->waiting);
    }
    for (const Then& then : waiting) then(addresses, why);
  });
}

void Resolver::resolve(const std::string& host, uint16_t port, Then then) {
  const std::lock_guard lock(desk_->mutex);
  desk_->waiting.push_back(std::move(then));
  if (desk_->waiting.size() > 1) return;  // asked for already
  std::vector<Address> addresses;
  if (look_up(host, port, AI_NUMERICHOST, addresses).empty()) {
    desk_->poll->post([desk = desk_, addresses] { answer(desk, addresses, {}); });
    return;
  }
  std::thread([desk = desk_, host, port] {
    std::vector<Address> found;
    const std::string why = look_up(host, port, AI_ADDRCONFIG, found);
    answer(desk, found, why);
  }).detach();
}

}  // namespace spillway::net
