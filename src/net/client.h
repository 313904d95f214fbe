// Client: a Channel over TLS 1.3 and HTTP/1.1, on one Poll.
//
// Connections are kept and used again; each stream has one of its own. Sessions are resumed. A
// request whose kept connection the server had closed already is sent once more on a new one, if
// it is idempotent. Nothing is called from within send() or open().
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/channel.h"
#include "net/poll.h"
#include "net/tls.h"

namespace spillway::net {

struct Url {
  std::string host = {};  // IPv6 without brackets
  uint16_t port = 443;
  bool is_plain = false;  // http://
};
Result<Url> parse_url(std::string_view text);  // "https://host:port", nothing behind it

struct ClientOptions {
  std::string host = {};
  uint16_t port = 443;
  std::string server_name = {};      // what its certificate must be for (DNS or IP); default: host
  std::string authorities_pem = {};  // whom we believe
  std::string pinned_authority =
      {};  // hex SHA-256 of a certificate (DER) that must be in the chain
           // which the server sends; instead of authorities_pem, for joining
  std::optional<TlsIdentity> identity = {};
  Duration connect = seconds(10);  // name, TCP and TLS together
  Duration answer = seconds(30);
  Duration silence = seconds(45);  // an open stream without a byte for so long is dead
  size_t connections = 4;          // kept; more requests queue
  size_t max_body = 16 << 20;
  bool is_plain = false;  // no TLS: local operations ports only
};

struct ClientCounts {
  size_t connections = 0;  // now
  uint64_t opened = 0;
  uint64_t resumed = 0;  // of these, with a session from before
  uint64_t retried = 0;
};

class Client final : public Channel {
 public:
  static Result<std::unique_ptr<Client>> create(Poll& poll, ClientOptions options);
  ~Client() override;  // what is under way is never answered

  void send(Request request, OnResponse then) override;
  std::unique_ptr<Reading> open(Request request, StreamCalls calls) override;

  // From the next connection on; kept ones are let go, sessions forgotten, streams go on.
  Status set_identity(TlsIdentity identity);
  Status set_authorities(std::string authorities_pem);
  ClientCounts counts() const;

 private:
  class Core;
  explicit Client(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace spillway::net
