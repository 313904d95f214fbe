// GrpcClient: unary calls to one server over one HTTP/2 connection, which is opened with the first
// call and again with the next one after it was lost. A call that was lost is not repeated: whether
// it was heard only the caller can ask.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/grpc.h"
#include "net/poll.h"
#include "net/tls.h"

namespace spillway::net {

struct GrpcClientOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;
  TlsContext tls = {};           // null: without TLS
  std::string server_name = {};  // that the certificate must be for; empty: the host
  Duration connect = seconds(5);
  size_t message_bytes = 16 << 20;
};

class GrpcClient {
 public:
  using Then = std::function<void(GrpcAnswer)>;

  GrpcClient(Poll& poll, GrpcClientOptions options);
  ~GrpcClient();  // nobody is called any more
  GrpcClient(const GrpcClient&) = delete;
  GrpcClient& operator=(const GrpcClient&) = delete;

  // `method`: "/package.Service/Method". Calls once, later; `unavailable` when there is no answer.
  void call(std::string method, std::string_view message, Duration within, Then then);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace spillway::net
