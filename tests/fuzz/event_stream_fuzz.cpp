// Any bytes as an event stream: cut into pieces in any way, they mean the same events, none is over
// the limit, and each reads back from what it is written as.
//
// The first byte chooses the size of the pieces.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "net/sse.h"

namespace {

using namespace spillway::net;

constexpr size_t k_most_bytes = 512;

struct Outcome {
  std::vector<SseEvent> events;
  bool is_sound = true;
  bool operator==(const Outcome&) const = default;
};

Outcome parse(std::string_view bytes, size_t step) {
  Outcome outcome;
  SseParser parser([&](const SseEvent& event) { outcome.events.push_back(event); }, k_most_bytes);
  for (size_t at = 0; at < bytes.size(); at += step) {
    outcome.is_sound = parser.feed(bytes.substr(at, step));
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = parse(bytes, bytes.size() + 1);
  const Outcome pieces = parse(bytes, static_cast<size_t>(data[0] % 32) + 1);
  SPILLWAY_CHECK(whole == pieces, "pieces of it mean other events");
  for (const SseEvent& event : whole.events) {
    SPILLWAY_CHECK(event.data.size() <= k_most_bytes, "an event over the limit");
    // A NUL ends a field's value when we write it.
    if (event.event.find('\0') != std::string::npos) continue;
    const Outcome again = parse(write_sse(event) + write_sse_comment("x"), 1 << 20);
    SPILLWAY_CHECK(!again.is_sound || again.events == std::vector<SseEvent>{event},
                   "an event does not read back");
  }
  return 0;
}
