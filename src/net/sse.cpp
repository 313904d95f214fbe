#include "net/sse.h"

namespace spillway::net {
namespace {

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

// A field of one line: what follows a line break would be another field.
void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value.substr(0, value.find_first_of(std::string_view("\r\n\0", 3)));
  out += '\n';
}

}  // namespace

struct SseParser::State {
  bool feed(std::string_view bytes);
  bool end_line();
  void dispatch();

  OnEvent on_event;
  size_t most_bytes;
  std::string line;
  SseEvent event;
  size_t comments = 0;
  bool has_data = false;
  bool after_cr = false;  // an LF that follows belongs to it
  bool is_first_line = true;
  bool is_broken = false;
  bool is_dropped = false;
};

SseParser::SseParser(OnEvent on_event, size_t most_bytes) : state_(std::make_shared<State>()) {
  state_->on_event = std::move(on_event);
  state_->most_bytes = most_bytes;
}

SseParser::~SseParser() { state_->is_dropped = true; }

bool SseParser::feed(std::string_view bytes) {
  const auto state = state_;  // outlives us if an event makes somebody drop us
  return state->feed(bytes);
}

size_t SseParser::comments() const { return state_->comments; }

bool SseParser::State::feed(std::string_view bytes) {
  while (!bytes.empty() && !is_broken && !is_dropped) {
    if (after_cr && bytes[0] == '\n') bytes.remove_prefix(1);
    after_cr = false;
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (part.size() > most_bytes - line.size()) {
      is_broken = true;
      break;
    }
    line += part;
    if (end == std::string_view::npos) break;
    after_cr = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    is_broken = !end_line();
    line.clear();
  }
  return !is_broken;
}

bool SseParser::State::end_line() {
  std::string_view text = line;
  if (is_first_line && text.starts_with(k_byte_order_mark)) {
    text.remove_prefix(k_byte_order_mark.size());
  }
  is_first_line = false;
  if (text.empty()) {
    dispatch();
    return true;
  }
  const size_t colon = text.find(':');
  if (colon == 0) {
    ++comments;
    return true;
  }
  const std::string_view name = text.substr(0, colon);
  std::string_view value;
  if (colon != std::string_view::npos) {
    value = text.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
  }
  if (name == "data") {
    if (event.data.size() + value.size() + 1 > most_bytes) return false;
    if (has_data) event.data += '\n';
    event.data += value;
    has_data = true;
  } else if (name == "event") {
    event.event = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    event.id = value;
  }
  return true;  // other fields are ignored, as the standard says
}

// Without data there is no event, but the id is remembered.
void SseParser::State::dispatch() {
  if (has_data) {
    if (event.event.empty()) event.event = "message";
    on_event(event);
  }
  event.event.clear();
  event.data.clear();
  has_data = false;
}

std::string write_sse(const SseEvent& event) {
  std::string out;
  out.reserve(event.data.size() + event.id.size() + event.event.size() + 32);
  if (!event.id.empty()) append_field(out, "id", event.id);
  if (!event.event.empty()) append_field(out, "event", event.event);
  std::string_view rest = event.data;
  while (true) {
    const size_t end = rest.find_first_of("\r\n");
    out += "data: ";
    out += rest.substr(0, end);
    out += '\n';
    if (end == std::string_view::npos) break;
    const bool is_pair = rest[end] == '\r' && rest.substr(end + 1).starts_with('\n');
    rest.remove_prefix(end + (is_pair ? 2 : 1));
  }
  out += '\n';
  return out;
}

std::string write_sse_comment(std::string_view text) {
  std::string out = ":";
  out += text.substr(0, text.find_first_of("\r\n"));
  out += "\n\n";
  return out;
}

}  // namespace spillway::net
