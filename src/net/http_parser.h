// HTTP/1.1 out of bytes as they come, by Beast's parser; with limits, and stricter than the RFC
// where leniency has been used for smuggling. No sockets and no clock here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/message.h"

namespace spillway::net {

enum class Parsed {
  head,  // still in the head
  body,  // the head is there, the body not yet all
  done,
  refused,  // see refusal()
};

struct Refusal {
  int status = 400;
  std::string_view reason;
};

struct ParseLimits {
  size_t header_bytes = 16 * 1024;
  size_t body_bytes = 1 << 20;
};

// One request. Refuses what has two lengths or an unknown coding, upgrades, methods that nobody
// has, targets that are no path, and HTTP/1.1 without exactly one Host.
class RequestParser {
 public:
  explicit RequestParser(const ParseLimits& limits);
  ~RequestParser();

  // Returns how much was used. What is left, up to a few KiB, comes again with more behind it, or
  // belongs to the next request when this one is done.
  size_t feed(std::string_view bytes);

  Parsed state() const;
  const Refusal& refusal() const;
  // Once the head is there:
  bool keeps_alive() const;  // HTTP/1.1 without "Connection: close"
  bool is_http_1_0() const;
  bool expects_continue() const;  // waits for a 100 before it sends the body
  size_t body_size() const;       // so far
  Request take();                 // once done

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

// One response; 1xx are left out.
class ResponseParser {
 public:
  // `has_no_body`: the answer to a HEAD. The limit on the body holds unless it is streamed.
  ResponseParser(const ParseLimits& limits, bool has_no_body);
  ~ResponseParser();

  size_t feed(std::string_view bytes);  // as above
  void end_of_input();                  // the other side has closed: the end of some bodies

  Parsed state() const;
  const Refusal& refusal() const;
  bool keeps_alive() const;
  void stream_body();  // once the head is there: the body has no limit, and take_body() moves it
  // The head; the body as far as it has come. The body is left empty.
  Response& response();
  std::string take_body();

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace spillway::net
