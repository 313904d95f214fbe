// HTTP messages as bytes to send.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "net/message.h"

namespace spillway::net {

// The Date field of an answer, written once a second.
class DateField {
 public:
  const std::string& at(Instant now);  // "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

 private:
  int64_t second_ = -1;
  std::string text_;
};

enum class Framing {
  length,   // Content-Length and the body
  no_body,  // as if for the body, but without it: the answer to a HEAD
  chunked,  // the body follows in chunks
  to_end,   // the body follows, to the end of the connection: HTTP/1.0
};

void append_response(std::string& out, const Response& response, Framing framing, bool keeps_alive,
                     const std::string& date);
void append_request(std::string& out, const Request& request, std::string_view host);
void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view k_last_chunk = "0\r\n\r\n";
inline constexpr std::string_view k_continue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace spillway::net
