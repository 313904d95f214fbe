// Any bytes as what a server answers: cut into pieces in any way, they mean the same answer.
//
// The first byte chooses the size of the pieces and whether a HEAD was asked.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/http_parser.h"

namespace {

using namespace spillway::net;

constexpr ParseLimits k_limits{2048, 4096};

struct Outcome {
  Parsed state = Parsed::head;
  Response response;
};

Outcome parse(std::string_view bytes, size_t step, bool is_head) {
  ResponseParser parser(k_limits, is_head);
  std::string held;
  for (size_t at = 0; at < bytes.size(); at += step) {
    held += bytes.substr(at, step);
    held.erase(0, parser.feed(held));
    if (parser.state() == Parsed::done || parser.state() == Parsed::refused) break;
  }
  parser.end_of_input();
  Outcome outcome;
  outcome.state = parser.state();
  SPILLWAY_CHECK(outcome.state == Parsed::done || outcome.state == Parsed::refused,
                 "the end of input is no end");
  if (outcome.state == Parsed::done) {
    outcome.response = parser.response();
    outcome.response.body = parser.take_body();
    SPILLWAY_CHECK(outcome.response.body.size() <= k_limits.body_bytes, "a body over the limit");
    SPILLWAY_CHECK(outcome.response.status >= 200, "no final answer");
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const bool is_head = (data[0] & 0x80) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = parse(bytes, bytes.size() + 1, is_head);
  const Outcome pieces = parse(bytes, static_cast<size_t>(data[0] % 32) + 1, is_head);
  SPILLWAY_CHECK(whole.state == pieces.state, "pieces of it are judged differently");
  SPILLWAY_CHECK(whole.response == pieces.response, "pieces of it mean another answer");
  return 0;
}
