#include "base/result.h"

#include <array>

#include "base/check.h"

namespace spillway {
namespace {

// gRPC codes by number (google/rpc/code.proto): 3 INVALID_ARGUMENT, 5 NOT_FOUND, 7
// PERMISSION_DENIED, 8 RESOURCE_EXHAUSTED, 9 FAILED_PRECONDITION, 10 ABORTED, 13 INTERNAL, 14
// UNAVAILABLE.
constexpr std::array k_table{
    CodeRow{Code::invalid, "invalid", 422, 3, false},
    CodeRow{Code::denied, "denied", 403, 7, false},
    CodeRow{Code::not_found, "not-found", 404, 5, false},
    CodeRow{Code::conflict, "conflict", 409, 9, false},
    CodeRow{Code::stale, "stale", 409, 9, false},
    CodeRow{Code::taken, "taken", 409, 8, true},
    CodeRow{Code::gone, "gone", 410, 5, false},
    CodeRow{Code::over_quota, "over-quota", 429, 8, true},
    CodeRow{Code::over_budget, "over-budget", 429, 8, true},
    CodeRow{Code::key_reused, "key-reused", 422, 3, false},
    CodeRow{Code::contended, "contended", 503, 10, true},
    CodeRow{Code::unavailable, "unavailable", 503, 14, true},
    CodeRow{Code::internal, "internal", 500, 13, false},
};

}  // namespace

std::span<const CodeRow> error_table() { return k_table; }

const CodeRow& describe(Code code) {
  for (const CodeRow& row : k_table) {
    if (row.code == code) return row;
  }
  broken_invariant("an error code without a row in the table", __FILE__, __LINE__);
}

std::string Error::message() const {
  std::string text = fmt::format("{}: {}", thing, reason);
  if (!next.empty()) text += fmt::format("; {}", next);
  return text;
}

}  // namespace spillway
