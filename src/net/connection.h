// Connection: the server's side of one socket, from the handshake to the end.
//
//   handshake → idle → head → body → handling → idle → …       one request at a time, in order
//                                  → stream → ending → lingering → closed
//
// After the last bytes of an answer a connection lingers: it reads and forgets what still comes,
// since closing a socket with unread input would destroy the answer on its way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/exchange.h"
#include "net/http_parser.h"
#include "net/http_text.h"
#include "net/link.h"
#include "net/poll.h"
#include "net/server.h"

namespace spillway::net {

class Connection;
class LiveStream;

// What the connections of a server share.
class ConnectionHost {
 public:
  ConnectionHost(Poll& on, Handler& answers_by, const ServerLimits& within)
      : poll(on), handler(answers_by), limits(within), scratch(32 * 1024) {}
  virtual ~ConnectionHost() = default;
  virtual void gone(Connection& connection) = 0;
  // Many sends in one turn of the loop become one write.
  virtual void flush_soon(std::shared_ptr<Connection> connection) = 0;

  Poll& poll;
  Handler& handler;
  const ServerLimits limits;
  ServerCounts counts;
  DateField date;
  std::vector<char> scratch;  // what is being read; used up before anybody else reads
  size_t bodies_bytes = 0;    // of the bodies that are on their way in
  bool is_draining = false;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(ConnectionHost& host, int fd, std::string address, uint16_t port);
  ~Connection();

  void start(const TlsContext& tls);  // null: no TLS
  void close();                       // at once
  void drain();                       // as soon as the present request is answered
  void check_deadline(int64_t now_ms);
  void flush();

  // For exchanges and streams.
  void respond(const Response& response);
  std::shared_ptr<Stream> open_stream(const Response& head);
  void send_to_stream(std::string_view bytes);
  void end_stream();
  size_t unsent() const { return out_.size() - sent_; }

  const Peer& peer() const { return peer_; }
  const std::string& address() const { return address_; }
  bool is_known() const { return phase_ != Phase::handshake && phase_ != Phase::closed; }
  // A stranger that is not being answered: when it must be done with what it does; else 0.
  int64_t dawdles_until_ms() const;

  size_t place = 0;  // in the server's list

 private:
  enum class Phase : uint8_t {
    handshake,
    idle,
    head,
    body,
    handling,
    stream,
    ending,
    lingering,
    closed
  };

  void on_ready(Ready ready);
  void shake_hands();
  void receive();
  void discard();
  void take(std::string_view bytes);
  std::string_view parse(std::string_view bytes);
  void begin_request();
  void count_body(size_t bytes);
  bool is_stranger() const { return link_.tls() != nullptr && peer_.certificate == nullptr; }
  void enter_body();
  void handle();
  void resume();
  void pump();
  void refuse(Refusal why);
  void enter(Phase phase, Duration deadline);
  void enter_idle();
  void finish_answer();
  void finish_output();
  void want(bool read, bool write);
  bool reads_requests() const {
    return phase_ == Phase::idle || phase_ == Phase::head || phase_ == Phase::body;
  }
  bool is_congested() const { return unsent() > 256 * 1024; }

  ConnectionHost& host_;
  Link link_;
  Peer peer_;
  std::string address_;  // without the port
  std::unique_ptr<RequestParser> parser_;
  std::string in_;  // what the parser has not used yet
  std::string out_;
  size_t sent_ = 0;  // of out_
  std::shared_ptr<LiveStream> stream_;
  int64_t deadline_ms_ = 0;        // of the phase; 0: none
  int64_t write_deadline_ms_ = 0;  // 0: nothing waits to be written
  size_t discarded_ = 0;
  size_t body_bytes_ = 0;  // our part of host_.bodies_bytes
  Phase phase_ = Phase::handshake;
  bool reads_ = true;
  bool writes_ = false;
  bool read_needs_writable_ = false;  // TLS has something to say before it can read on
  bool is_parsing_ = false;
  bool keeps_alive_ = true;
  bool is_head_request_ = false;
  bool is_chunked_ = true;
};

}  // namespace spillway::net
