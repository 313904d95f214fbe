// ClientConnection: the client's side of one socket: name, TCP, TLS, then one errand at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/client.h"
#include "net/http_parser.h"
#include "net/link.h"
#include "net/resolver.h"

namespace spillway::net {

// A request and who waits for it.
struct Errand {
  Request request;
  OnResponse then;                   // for send()
  std::optional<StreamCalls> calls;  // for open()
  int64_t deadline_ms = 0;           // while it waits in the queue
  bool is_retried = false;
};

class ClientConnection;

// What the connections of a client share, and whom they tell.
class ClientHost {
 public:
  ClientHost(Poll& on, ClientOptions with)
      : poll(on), options(std::move(with)), resolver(on), scratch(32 * 1024) {}
  virtual ~ClientHost() = default;
  virtual void ready(ClientConnection& connection) = 0;  // for an errand
  // Closed; with the errand that is unanswered, if there is one.
  virtual void gone(ClientConnection& connection, std::optional<Errand> errand, bool may_retry,
                    const Error& why) = 0;

  Poll& poll;
  ClientOptions options;
  Resolver resolver;
  std::string server;  // "server host:port", for errors
  std::string host_field;
  TlsContext tls;
  std::vector<TlsSession> sessions;  // the last is the newest
  ClientCounts counts;
  std::vector<char> scratch;
};

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  // `is_stream`: of its own errand, closed with it.
  ClientConnection(ClientHost& host, bool is_stream) : host_(host), is_stream_(is_stream) {}
  ~ClientConnection();

  void start();
  void begin(Errand errand);
  void abandon();  // nobody is told anything any more
  void let_go();   // closed once its errand is done
  void check_deadline(int64_t now_ms);

  bool is_stream() const { return is_stream_; }
  bool is_abandoned() const { return is_abandoned_; }
  bool was_connected() const { return was_connected_; }
  bool is_idle() const { return phase_ == Phase::idle; }
  bool is_connecting() const { return phase_ < Phase::idle; }

 private:
  enum class Phase : uint8_t { resolving, connecting, handshake, idle, asking, closed };

  void connect_next(std::string why);
  void on_ready(Ready ready);
  void on_connected();
  void shake_hands();
  void flush();
  void receive();
  bool take(std::string_view bytes);
  bool deliver();
  void on_input_end();
  void finish_errand();
  void fail(const Error& why, bool may_retry = false);
  void enter(Phase phase, Duration deadline);
  void want(bool read, bool write);
  void drop_socket();

  ClientHost& host_;
  const bool is_stream_;
  Phase phase_ = Phase::resolving;
  std::vector<Address> addresses_;
  size_t next_address_ = 0;
  int64_t connect_deadline_ms_ = 0;
  int64_t deadline_ms_ = 0;  // 0: none
  std::unique_ptr<Link> link_;
  std::optional<Errand> errand_;
  std::unique_ptr<ResponseParser> parser_;
  std::string in_;
  std::string out_;
  size_t sent_ = 0;
  uint64_t answered_ = 0;
  bool is_let_go_ = false;
  bool is_abandoned_ = false;
  bool was_connected_ = false;
  bool has_head_ = false;  // of the present answer
  bool has_byte_ = false;  // of the present answer
  bool reads_ = false;
  bool writes_ = false;
};

}  // namespace spillway::net
