// GrpcPort: where the Cluster Autoscaler calls. TLS from files that may be replaced at any time:
// they are read again every minute and on a signal. Without TLS only when told so by name.
#pragma once

#include <memory>
#include <string>

#include "host/lifeline.h"
#include "net/grpc_server.h"
#include "services/log.h"

namespace spillway::services {

struct GrpcPortOptions {
  std::string listen;  // "127.0.0.1:8086"
  net::GrpcTrust trust = net::GrpcTrust::mutual;
  std::string certificate;  // files; with TLS
  std::string key;
  std::string client_authorities;  // with mutual trust
  size_t message_bytes = size_t{4} << 20;
};

class GrpcPort {
 public:
  static constexpr Duration k_look = minutes(1);

  GrpcPort(net::Poll& poll, Log& log, GrpcPortOptions options)
      : poll_(poll), log_(log), options_(std::move(options)) {}

  Status listen(net::GrpcHandler& handler);
  void look_now();  // at the files
  uint16_t port() const { return server_->port(); }

 private:
  struct Papers {
    net::TlsIdentity identity;
    std::string authorities_pem;
  };
  Result<Papers> read() const;
  void look_later();

  net::Poll& poll_;
  Log& log_;
  GrpcPortOptions options_;
  Papers papers_;
  std::unique_ptr<net::GrpcServer> server_;
  host::Lifeline life_;
};

}  // namespace spillway::services
