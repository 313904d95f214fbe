// gRPC, unary calls only: one message asks, one answers, or a status says why not. What a message
// means is for others: here it is bytes.
//
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/exchange.h"

namespace spillway::net {

enum class GrpcCode : uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

struct GrpcAnswer {
  GrpcCode code = GrpcCode::ok;
  std::string reason;   // for people; empty when it is ok
  std::string message;  // only when it is ok
};

struct GrpcCall {
  std::string method;              // "/package.Service/Method"
  std::string message;             //
  std::optional<Duration> within;  // how long the caller waits
  Peer peer;
};

// An error of ours as the other side hears it: "thing: reason; next step".
GrpcAnswer to_grpc(const Error& error);

class GrpcHandler {
 public:
  using Reply = std::function<void(GrpcAnswer)>;  // once, on the loop's thread; later is fine

  virtual ~GrpcHandler() = default;
  virtual void handle(GrpcCall call, Reply reply) = 0;
};

// --- parts of the protocol ---

// Five bytes before each message: not compressed, and how long it is.
std::string grpc_prefix(size_t size);
std::string framed(std::string_view message);
// The one message of a body. None: there is not exactly one, or it is compressed.
std::optional<std::string> unframed(std::string_view body);

// "100m" and the like, at most eight digits.
std::optional<Duration> parse_grpc_timeout(std::string_view text);
std::string grpc_timeout(Duration within);

// Of grpc-message: printable ASCII stays, all else and '%' is escaped.
std::string percent_encoded(std::string_view text);
std::string percent_decoded(std::string_view text);  // what is no escape stays as it is

}  // namespace spillway::net
