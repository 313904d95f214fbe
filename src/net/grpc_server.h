// GrpcServer: answers unary calls over HTTP/2 by a GrpcHandler, on one Poll.
//
// Clients of this protocol keep one connection for ever and say nothing between calls: an idle
// connection is not closed, but the kernel looks whether the other side is still there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/grpc.h"
#include "net/poll.h"
#include "net/tls.h"

namespace spillway::net {

enum class GrpcTrust : uint8_t {
  mutual,       // who shows no certificate of our authorities that is in date gets no answer
  server_only,  // only we show one: the expander's client has none
  none,         // no TLS
};

struct GrpcServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any
  GrpcTrust trust = GrpcTrust::mutual;
  size_t connections = 64;
  uint32_t calls_at_once = 100;  // on one connection
  size_t message_bytes = 4 << 20;
  size_t messages_bytes = 256 << 20;  // of all that are on their way in, together
  Duration handshake = seconds(10);
};

struct GrpcServerCounts {
  size_t connections = 0;  // now
  uint64_t accepted = 0;
  uint64_t turned_away = 0;  // too many, or without a certificate that we take
  uint64_t calls = 0;
  uint64_t refused = 0;  // never became a call
};

class GrpcServer {
 public:
  // The handler outlives the server. `identity` and `authorities_pem` are not looked at without
  // TLS.
  static Result<std::unique_ptr<GrpcServer>> listen(Poll& poll, GrpcServerOptions options,
                                                    const TlsIdentity& identity,
                                                    const std::string& authorities_pem,
                                                    GrpcHandler& handler);
  ~GrpcServer();  // closes all; answers that come later go nowhere

  // For connections from now on. On failure all stays as it was.
  Status set_tls(const TlsIdentity& identity, const std::string& authorities_pem);
  uint16_t port() const;
  GrpcServerCounts counts() const;

 private:
  class Core;
  explicit GrpcServer(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace spillway::net
