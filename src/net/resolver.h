// Names to addresses without making the loop wait: addresses are read at once, names are asked for
// on a thread of their own, one at a time.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "net/poll.h"

namespace spillway::net {

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

class Resolver {
 public:
  // Empty: the name is not known; then `why` says more.
  using Then = std::function<void(std::vector<Address>, std::string why)>;

  explicit Resolver(Poll& poll) : desk_(std::make_shared<Desk>()) { desk_->poll = &poll; }
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // From the loop, later; never once the resolver is gone.
  void resolve(const std::string& host, uint16_t port, Then then);

 private:
  // The thread may outlive us: a name server can take its time.
  struct Desk {
    std::mutex mutex;
    Poll* poll = nullptr;  // null: nobody waits any more
    std::vector<Then> waiting;
  };
  static void answer(const std::shared_ptr<Desk>& desk, const std::vector<Address>& addresses,
                     const std::string& why);

  std::shared_ptr<Desk> desk_;
};

}  // namespace spillway::net
