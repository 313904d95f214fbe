// Pipe: one connection with an open body, both ends of it and what is between. What the server
// sends arrives in order; once a piece is lost for good, nothing after it arrives.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sim/wire.h"

namespace spillway::sim {

class Pipe : public std::enable_shared_from_this<Pipe> {
 public:
  Pipe(Process& client, Address client_at, Network& network, Door& door,
       std::shared_ptr<Asked> asked, net::StreamCalls calls, const Patience& patience);

  // The client's end.
  void open();     // sends the request; waits for the head
  void abandon();  // the client no longer listens

  // The server's end.
  void head(net::Response response, bool is_last);
  void refuse(const Error& why);  // no head comes
  bool send(std::string_view bytes);
  size_t unsent() const { return unsent_; }
  void close();
  void on_gone(std::function<void()> then);
  void cut();    // by the server, at once
  void crash();  // of the server
  bool is_gone() const { return gone_; }
  const Asked& asked() const { return *asked_; }

 private:
  enum class Kind { head, last_head, bytes, end };
  struct Piece {
    Kind kind = Kind::bytes;
    net::Response head = {};
    std::string bytes = {};
    std::optional<Error> why = {};  // of an end
  };

  void push(Piece piece);
  void arrive(const Piece& piece);
  bool listens() const;
  void break_off();    // nothing passes any more, and nobody knows yet
  void lose_server();  // the server's end learns that it is over
  void reset_server();
  void end(const Error& why);
  void watch_silence();

  World& world_;
  Process& client_;
  Address client_at_;
  Network& network_;
  Door& door_;
  std::shared_ptr<Asked> asked_;
  uint64_t client_life_;
  uint64_t server_life_ = 0;  // 0: the request has not arrived
  // The client's end.
  net::StreamCalls calls_;
  Patience patience_;
  bool listening_ = true;
  bool has_head_ = false;
  Instant heard_;
  // Between them.
  bool broken_ = false;
  bool slow_ = false;  // the client reads a piece now and then
  Instant last_arrival_;
  // The server's end.
  size_t unsent_ = 0;
  bool closed_ = false;
  bool gone_ = false;
  std::function<void()> on_gone_;
};

}  // namespace spillway::sim
