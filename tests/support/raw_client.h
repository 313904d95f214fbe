// A blocking client for tests that say every byte themselves, with TLS or without. Reads end with
// the connection or after 20 s.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/test_certificates.h"

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;

namespace spillway::test {

inline constexpr std::string_view k_get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

struct RawOptions {
  bool is_tls = true;
  const CertificateAndKey* identity = nullptr;
  int max_tls_version = 0;            // 0: any
  ssl_session_st* session = nullptr;  // to resume
  int receive_buffer = 0;             // bytes; 0: the system's choice
};

void use(ssl_ctx_st* context, const CertificateAndKey& identity);

class RawClient {
 public:
  explicit RawClient(uint16_t port, const RawOptions& options = {});
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool is_connected() const { return is_connected_; }  // TCP and TLS
  bool is_resumed() const;
  ssl_session_st* session();  // owned by the caller

  bool send(std::string_view bytes);
  std::string read_some();                        // empty: the end
  std::string read_until(std::string_view mark);  // up to and including it, or all there is
  std::string read_answer();                      // one answer with a Content-Length
  std::string read_all();
  void close_output();  // TCP only
  void reset();         // drops the connection with an RST

 private:
  int fd_ = -1;
  ssl_ctx_st* context_ = nullptr;
  ssl_st* tls_ = nullptr;
  bool is_connected_ = false;
  std::string held_;  // read and not yet asked for
};

}  // namespace spillway::test
