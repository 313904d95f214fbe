// Listener: a listening socket that goes on when descriptors run out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/poll.h"

namespace spillway::net {

struct Arrival {
  int fd = -1;          // non-blocking; taken over by who gets it
  std::string address;  // "203.0.113.7", "2001:db8::1"
  uint16_t port = 0;
};

std::string with_port(const std::string& address, uint16_t port);  // brackets around IPv6

class Listener {
 public:
  using OnArrival = std::function<void(Arrival)>;
  // `on_turned_away`: somebody came and there was no descriptor for it.
  static Result<std::unique_ptr<Listener>> open(Poll& poll, const std::string& address,
                                                uint16_t port, OnArrival on_arrival,
                                                std::function<void()> on_turned_away);
  ~Listener();
  uint16_t port() const { return port_; }

 private:
  Listener(Poll& poll, int fd, OnArrival on_arrival, std::function<void()> on_turned_away);
  void take_arrivals();
  bool turn_away();
  void pause();

  Poll& poll_;
  int fd_;
  int spare_;  // given up for a moment when there are no others, to close a connection properly
  uint16_t port_ = 0;
  OnArrival on_arrival_;
  std::function<void()> on_turned_away_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace spillway::net
