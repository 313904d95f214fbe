// Channel: how agents and the CLI reach a broker. A socket with TLS stands behind it in programs,
// the simulated network in sim/. Calls return at once; answers come on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace spillway::net {

// What became of a request that got no answer:
//   unavailable  no connection, or it broke before an answer came: the outcome is unknown
//   denied       the other side is not who it should be (certificate), or will not have us (TLS)
using OnResponse = std::function<void(Result<Response>)>;

// An open body. Dropping it closes the connection; then nothing is called any more.
class Reading {
 public:
  virtual ~Reading() = default;
};

struct StreamCalls {
  std::function<void(const Response& head)> on_head;  // any status; other than 200 has its body
  std::function<void(std::string_view bytes)> on_bytes;
  std::function<void(const Error& why)> on_end;  // once, also when it never opened
};

class Channel {
 public:
  virtual ~Channel() = default;
  virtual void send(Request request, OnResponse then) = 0;
  // A connection of its own, held open.
  virtual std::unique_ptr<Reading> open(Request request, StreamCalls calls) = 0;
};

}  // namespace spillway::net
