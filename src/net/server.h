// Server: HTTP/1.1 over TLS 1.3 for a Handler, on one Poll.
//
// Every wait for the other side has a deadline; they are looked at about once a second, all
// connections at a time. A connection that waits for its next request holds no buffers.
//
// A stranger is a peer that showed no certificate to a server with TLS. Strangers have smaller
// limits, and when the server is full, the one that has dawdled longest makes room for who comes.
// When there is none, who comes is turned away; those that are there go on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/exchange.h"
#include "net/poll.h"
#include "net/tls.h"

namespace spillway::net {

struct ServerLimits {
  size_t connections = 12'000;
  size_t connections_per_address = 12'000;
  size_t header_bytes = 16 * 1024;
  size_t body_bytes = 1 << 20;
  size_t stranger_body_bytes = 64 * 1024;  // of one that showed no certificate
  size_t bodies_bytes = 64 << 20;          // of all bodies that are on their way in, together
  Duration handshake = seconds(10);
  Duration head = seconds(10);   // from the first byte of a request to the end of its head
  Duration body = seconds(30);   // from there to its end
  Duration idle = seconds(120);  // between requests
  Duration stranger_idle = seconds(15);
  Duration write = seconds(30);  // without the client taking a byte of what it asked for
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // an IPv4 or IPv6 address; "::" is both
  uint16_t port = 0;                  // 0: any; see Server::port()
  ServerLimits limits = {};
};

struct ServerCounts {
  size_t connections = 0;  // now; the others since the start
  size_t streams = 0;      // now
  uint64_t accepted = 0;
  uint64_t turned_away = 0;  // full, or no descriptors
  uint64_t made_room = 0;    // strangers that were closed for others
  uint64_t handshakes_failed = 0;
  uint64_t handshakes_resumed = 0;
  uint64_t requests = 0;
  uint64_t refused = 0;    // never became a request: malformed, too large, too slow
  uint64_t timed_out = 0;  // deadlines that passed, idle ones left out
  uint64_t cut = 0;
};

class Server {
 public:
  // The handler outlives the server; its answers may come after the server is gone.
  static Result<std::unique_ptr<Server>> listen(Poll& poll, ServerOptions options,
                                                const TlsIdentity& identity,
                                                const std::string& authorities_pem,
                                                Handler& handler);
  // Nobody is asked for a certificate: all peers are strangers.
  static Result<std::unique_ptr<Server>> listen_anonymous(Poll& poll, ServerOptions options,
                                                          const TlsIdentity& identity,
                                                          Handler& handler);
  // Without TLS, for a local operations port: no peer has a certificate there.
  static Result<std::unique_ptr<Server>> listen_plain(Poll& poll, ServerOptions options,
                                                      Handler& handler);
  ~Server();  // cuts what is open; streams hear of it

  // For connections from now on. On failure all stays as it was.
  Status set_tls(const TlsIdentity& identity, const std::string& authorities_pem);
  Status set_anonymous_tls(const TlsIdentity& identity);
  uint16_t port() const;

  // Takes no more connections, ends streams and idle connections, answers what is being handled;
  // cuts what is left after `at_most`; then calls `done`. Once.
  void drain(Duration at_most, std::function<void()> done);
  // Closes the connections of these peers at once; streams hear of it before this returns.
  size_t cut(const std::function<bool(const Peer&)>& which);
  ServerCounts counts() const;

 private:
  class Core;
  explicit Server(std::shared_ptr<Core> core);
  static Result<std::unique_ptr<Server>> open(Poll& poll, const ServerOptions& options,
                                              Result<TlsContext> tls, Handler& handler);
  Status use(Result<TlsContext> tls);
  std::shared_ptr<Core> core_;
};

}  // namespace spillway::net
