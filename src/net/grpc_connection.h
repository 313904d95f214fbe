// GrpcConnection: the server's side of one client's connection.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "net/grpc_server.h"
#include "net/http2_link.h"

namespace spillway::net {

class GrpcConnection;

// What the connections of a server share.
class GrpcHost {
 public:
  GrpcHost(Poll& on, GrpcHandler& answers_by, GrpcServerOptions within)
      : poll(on), handler(answers_by), options(std::move(within)) {}
  virtual ~GrpcHost() = default;
  virtual void gone(GrpcConnection& connection) = 0;

  Poll& poll;
  GrpcHandler& handler;
  const GrpcServerOptions options;
  GrpcServerCounts counts;
  size_t messages_bytes = 0;
};

class GrpcConnection final : public Http2Link {
 public:
  GrpcConnection(GrpcHost& host, int fd, std::string address);

  void begin(const TlsContext& tls);  // null: no TLS
  void reply(int32_t stream, GrpcAnswer answer);
  bool has_called() const { return has_called_; }

  // For nghttp2's callbacks.
  void on_begin(int32_t stream) { calls_.try_emplace(stream); }
  void on_header(int32_t stream, std::string_view name, std::string_view value);
  void on_data(int32_t stream, std::string_view bytes);
  void on_asked(int32_t stream);
  void on_ended(int32_t stream);
  // Copies the next bytes of an answer; `is_last`: there are no more.
  size_t read_answer(int32_t stream, char* into, size_t size, bool& is_last);

 private:
  struct Call {
    std::string path;
    std::string method;
    std::string content_type;
    std::string encoding;
    std::string timeout;
    std::string body;
    bool is_too_large = false;
    bool is_asked = false;
    std::string prefix;  // what is left of it to be sent, before the answer
    std::string answer;
    size_t sent = 0;
  };

  nghttp2_session* make_session() override;
  void on_closed(const std::string& why) override;
  bool is_welcome();
  // Why a request is no call; ok: it is one.
  GrpcAnswer judge(const Call& call) const;

  GrpcHost& host_;
  Peer peer_;
  std::map<int32_t, Call> calls_;
  bool has_called_ = false;
};

}  // namespace spillway::net
