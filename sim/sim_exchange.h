// The Exchange and the Stream that a handler sees when the simulated network stands behind them.
#pragma once

#include <functional>
#include <memory>

#include "sim/pipe.h"

namespace spillway::sim {

inline Error unavailable(std::string reason, std::string next) {
  return {Code::unavailable, "broker", std::move(reason), std::move(next)};
}

class SimExchange final : public net::Exchange {
 public:
  using Send = std::function<void(Result<net::Response>)>;

  SimExchange(Door& door, std::shared_ptr<Asked> asked, Send send);
  SimExchange(Door& door, std::shared_ptr<Asked> asked, std::shared_ptr<Pipe> pipe);
  ~SimExchange() override;
  SimExchange(const SimExchange&) = delete;
  SimExchange& operator=(const SimExchange&) = delete;

  void respond(net::Response response) override;
  std::shared_ptr<net::Stream> stream(net::Response head) override;
  // There is no answer: the connection ends, and the client learns why.
  void cut(const Error& why);

 private:
  Door& door_;
  std::shared_ptr<Asked> asked_;
  Send send_;
  std::shared_ptr<Pipe> pipe_;
  // Of the broker's life that was asked: later, and in a world that is being taken down, nobody is
  // there to be told.
  std::weak_ptr<const bool> alive_;
  bool answered_ = false;
};

class SimStream final : public net::Stream {
 public:
  SimStream(Door& door, std::shared_ptr<Pipe> pipe, Hearing hearing)
      : door_(door), pipe_(std::move(pipe)), hearing_(std::move(hearing)) {}

  bool send(std::string_view bytes) override;
  size_t unsent() const override { return pipe_->unsent(); }
  void close() override { pipe_->close(); }
  void on_gone(std::function<void()> then) override { pipe_->on_gone(std::move(then)); }

 private:
  Door& door_;
  std::shared_ptr<Pipe> pipe_;
  Hearing hearing_;
};

// The body of a plain answer that comes piece by piece: it arrives when it is whole.
class SimBody final : public net::Stream {
 public:
  SimBody(net::Response head, SimExchange::Send send, std::weak_ptr<const bool> alive)
      : response_(std::move(head)), send_(std::move(send)), alive_(std::move(alive)) {}

  bool send(std::string_view bytes) override;
  size_t unsent() const override { return 0; }
  void close() override;
  void on_gone(std::function<void()> then) override;

 private:
  net::Response response_;
  SimExchange::Send send_;  // null: it was sent
  std::weak_ptr<const bool> alive_;
  std::function<void()> on_gone_;
};

// The name that a certificate gives, empty when there is none.
std::string name_of(const net::Peer& peer);

}  // namespace spillway::sim
