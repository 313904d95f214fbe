// The Exchange and the Stream behind which there is a connection.
#pragma once

#include <functional>
#include <memory>

#include "net/connection.h"

namespace spillway::net {

class LiveExchange final : public Exchange {
 public:
  explicit LiveExchange(std::weak_ptr<Connection> connection, Handler& handler)
      : connection_(std::move(connection)), handler_(handler) {}
  ~LiveExchange() override;
  LiveExchange(const LiveExchange&) = delete;
  LiveExchange& operator=(const LiveExchange&) = delete;

  void respond(Response response) override;
  std::shared_ptr<Stream> stream(Response head) override;

 private:
  std::shared_ptr<Connection> take();  // the connection, for the first who answers

  std::weak_ptr<Connection> connection_;
  Handler& handler_;
};

class LiveStream final : public Stream {
 public:
  explicit LiveStream(Connection* connection) : connection_(connection) {}

  bool send(std::string_view bytes) override;
  size_t unsent() const override;
  void close() override;
  void on_gone(std::function<void()> then) override;

  void lose_connection();  // calls what on_gone() was given

 private:
  Connection* connection_;  // null: gone
  bool is_closed_ = false;
  std::function<void()> then_;
};

}  // namespace spillway::net
