// Result<T>: how every operation that can fail at run time answers.
//
// An Error names the thing, the reason and the next step, so that whoever caused it can mend it.
// One enum of codes; one table (error_table) gives each its name on the wire, its HTTP and gRPC
// code, and whether it means "not now" (the same request may succeed later) or "never".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <tl/expected.hpp>

namespace spillway {

enum class Code {
  invalid,      // malformed or out of range; never right
  denied,       // known caller, not allowed
  not_found,    // does not exist, or is not the caller's to see: the two look the same
  conflict,     // not possible in the present state of the thing
  stale,        // an older sequence number, or a change of something immutable
  taken,        // no capacity left for it now
  gone,         // existed, has ended
  over_quota,   // the buyer's quota
  over_budget,  // the buyer's budget
  key_reused,   // idempotency key used before with another body
  contended,    // lost a race on the store more often than we retry; try again
  unavailable,  // outcome unknown or store unreachable; ask again with the same key
  internal,     // our fault
};

struct CodeRow {
  Code code;
  std::string_view name;
  int http;
  int grpc;
  bool not_now;  // may succeed later, unchanged
};

std::span<const CodeRow> error_table();
const CodeRow& describe(Code code);

struct Error {
  Code code = Code::internal;
  std::string thing;   // "offer edge-1/small"
  std::string reason;  // "3 units wanted, 1 is free"
  std::string next;    // "ask for at most 1, or wait for a release"

  std::string message() const;
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(Code code, std::string thing, std::string reason,
                                  std::string next = {}) {
  return tl::unexpected<Error>(Error{code, std::move(thing), std::move(reason), std::move(next)});
}

}  // namespace spillway

// Passes an error up. `expr` is a Status.
#define SPILLWAY_TRY(expr)                                          \
  do {                                                              \
    if (auto spillway_status_ = (expr); !spillway_status_) {        \
      return ::tl::unexpected(std::move(spillway_status_).error()); \
    }                                                               \
  } while (false)
