// An Exchange and a Stream in memory: what a handler answers, kept for the test to look at.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "net/exchange.h"

namespace spillway::test {

struct MemoryStream final : net::Stream {
  bool send(std::string_view more) override {
    if (is_gone || is_closed) return false;
    bytes += more;
    return true;
  }
  size_t unsent() const override { return 0; }
  void close() override {
    is_closed = true;
    leave();
  }
  void on_gone(std::function<void()> then) override {
    if (is_gone) return then();
    then_ = std::move(then);
  }
  // The client goes away.
  void leave() {
    is_gone = true;
    if (auto then = std::exchange(then_, nullptr)) then();
  }

  std::string bytes;
  bool is_closed = false;
  bool is_gone = false;

 private:
  std::function<void()> then_;
};

struct MemoryExchange final : net::Exchange {
  void respond(net::Response answer) override { response = std::move(answer); }
  std::shared_ptr<net::Stream> stream(net::Response head) override {
    response = std::move(head);
    return body = std::make_shared<MemoryStream>();
  }

  std::optional<net::Response> response;
  std::shared_ptr<MemoryStream> body;  // of a stream
};

}  // namespace spillway::test
