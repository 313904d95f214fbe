// Link: one connected, non-blocking socket, with TLS on it or without. Nothing here waits: each
// call does what can be done now and says what it would need to go on.
//
// OpenSSL works on the socket itself, through a BIO of ours that never raises SIGPIPE.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace spillway::net {

enum class Io {
  done,
  needs_readable,  // call again when the socket is
  needs_writable,
  ended,   // the other side has closed
  failed,  // see trouble()
};

// Why a link failed.
struct Trouble {
  std::string text;           // "connection reset by peer", "certificate has expired"
  bool is_refusal = false;    // a certificate or TLS itself, not the network: trying again is vain
  long verdict = 0;           // X509_V_ERR_… when it was we who did not accept a certificate
  bool is_plaintext = false;  // the other side speaks HTTP without TLS
};

class Link {
 public:
  explicit Link(int fd) : fd_(fd) {}  // takes it over
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Once, before handshake(). `server_name` is for clients: sent to the server and checked.
  bool start_tls_server(ssl_ctx_st* context);
  bool start_tls_client(ssl_ctx_st* context, const std::string& server_name);

  Io handshake();  // done at once without TLS
  Io read(char* into, size_t size, size_t& got);
  Io write(std::string_view bytes, size_t& taken);
  // Bytes that were read from the socket and not yet by us: the socket will not report them.
  bool has_pending() const;
  // Tells the other side, in TLS and TCP, that nothing more will come.
  void end_output();

  int fd() const { return fd_; }
  ssl_st* tls() const { return tls_; }
  const Trouble& trouble() const { return trouble_; }

 private:
  friend struct LinkBio;
  bool start_tls(ssl_ctx_st* context);
  Io judge(int result);
  Io fail_by_errno(int error);

  int fd_;
  int error_ = 0;              // errno of the last call on the socket
  bool ended_ = false;         // the socket has nothing more to read
  bool more_follows_ = false;  // at once, after what is being written
  ssl_st* tls_ = nullptr;
  Trouble trouble_;
};

}  // namespace spillway::net
