// Server-sent events (WHATWG HTML, 9.2), as bytes come and go. A comment line is a sign of life.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace spillway::net {

struct SseEvent {
  std::string id;     // the last that was given, by this event or by one before
  std::string event;  // "message" when none is given
  std::string data;   // lines joined by \n
  bool operator==(const SseEvent&) const = default;
};

class SseParser {
 public:
  using OnEvent = std::function<void(const SseEvent&)>;
  static constexpr size_t k_most_bytes = 1 << 20;

  // `most_bytes`: of a line, and of an event. on_event may destroy the parser.
  explicit SseParser(OnEvent on_event, size_t most_bytes = k_most_bytes);
  ~SseParser();
  SseParser(const SseParser&) = delete;
  SseParser& operator=(const SseParser&) = delete;

  // False: a line or an event is too large; from then on always. The stream is to be closed.
  bool feed(std::string_view bytes);
  size_t comments() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// One event; empty fields are left out, line breaks in `data` become lines of their own.
std::string write_sse(const SseEvent& event);
std::string write_sse_comment(std::string_view text = {});

}  // namespace spillway::net
