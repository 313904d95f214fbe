// Any bytes as what a client sends: cut into pieces in any way, they mean the same requests, each
// within the limits, and nothing crashes.
//
// The first byte chooses the size of the pieces.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "net/http_parser.h"

namespace {

using namespace spillway::net;

constexpr ParseLimits k_limits{2048, 4096};

struct Outcome {
  std::vector<Request> requests;
  bool is_refused = false;
};

Outcome parse(std::string_view bytes, size_t step) {
  Outcome outcome;
  RequestParser* parser = nullptr;
  std::string held;
  for (size_t at = 0; at < bytes.size() && !outcome.is_refused; at += step) {
    held += bytes.substr(at, step);
    while (true) {
      if (parser == nullptr) parser = new RequestParser(k_limits);
      held.erase(0, parser->feed(held));
      const Parsed state = parser->state();
      if (state == Parsed::refused) {
        SPILLWAY_CHECK(parser->refusal().status >= 400 && !parser->refusal().reason.empty(),
                       "a refusal without a reason");
        outcome.is_refused = true;
      }
      if (state != Parsed::done) break;
      outcome.requests.push_back(parser->take());
      delete parser;
      parser = nullptr;
      if (held.empty()) break;
    }
    SPILLWAY_CHECK(outcome.is_refused || held.size() <= 2 * k_limits.header_bytes,
                   "the parser lets its input grow");
  }
  delete parser;
  return outcome;
}

void check(const Request& request) {
  size_t head = request.method.size() + request.target.size();
  for (const Header& header : request.headers) head += header.name.size() + header.value.size();
  SPILLWAY_CHECK(head <= k_limits.header_bytes, "a head over the limit");
  SPILLWAY_CHECK(request.body.size() <= k_limits.body_bytes, "a body over the limit");
  SPILLWAY_CHECK(request.target.starts_with('/'), "a target that is no path");
  Target target;
  if (!parse_target(request.target, target)) return;
  std::string again;
  for (const std::string& segment : target.segments) again += "/" + escape_segment(segment);
  Target second;
  SPILLWAY_CHECK(parse_target(again.empty() ? "/" : again, second), "an escaped path is refused");
  SPILLWAY_CHECK(second.segments == target.segments, "a path changes by being escaped");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = parse(bytes, bytes.size() + 1);
  for (const Request& request : whole.requests) check(request);
  const Outcome pieces = parse(bytes, static_cast<size_t>(data[0] % 32) + 1);
  // A fault may be noticed later when it comes in pieces, but what was accepted is the same.
  SPILLWAY_CHECK(pieces.requests == whole.requests, "pieces of it mean other requests");
  return 0;
}
