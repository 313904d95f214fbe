#include "services/log.h"

#include <array>
#include <cerrno>
#include <chrono>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "model/json.h"

namespace spillway::services {
namespace {

constexpr std::array<std::string_view, 4> k_words{"debug", "info", "warning", "error"};

Instant wall_clock() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

void append_field(std::string& line, std::string_view name, std::string_view value) {
  line += ",\"";
  line += name;
  line += "\":";
  // An outsider's bytes may be anything: in_quotes makes them printable, and JSON of them safe.
  model::append_json_string(line, is_utf8(value) ? std::string(value) : in_quotes(value));
}

// A pipe that poll(2) calls writable takes this much without waiting (PIPE_BUF on Linux).
constexpr size_t k_longest_line = 4096;
constexpr size_t k_longest_value = 1024;

std::string cut_short(const std::string& value) {
  if (value.size() <= k_longest_value) return value;
  size_t end = k_longest_value;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0U) == 0x80U) --end;
  return value.substr(0, end) + "…";
}

// As much as goes without waiting; 0 or less when nothing does. The descriptor's own mode is left
// alone, for it may be shared with others, such as a shell.
ssize_t write_some(int fd, std::string_view bytes) {
  const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  pollfd room{fd, POLLOUT, 0};
  if (::poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) return 0;
  return ::write(fd, bytes.data(), bytes.size());
}

}  // namespace

std::string_view to_text(Level level) { return k_words[static_cast<size_t>(level)]; }

Level level_from(std::string_view text) {
  for (size_t i = 0; i < k_words.size(); ++i) {
    if (k_words[i] == text) return static_cast<Level>(i);
  }
  return Level::info;
}

std::string LineLog::line_of(Level level, std::string_view what,
                             std::initializer_list<Field> fields) const {
  std::string line = "{\"at\":\"";
  line += spillway::to_text(wall_clock());
  line += "\",\"level\":\"";
  line += to_text(level);
  line += '"';
  append_field(line, "service", service_);
  append_field(line, "what", what);
  for (const Field& field : fields) {
    if (field.value.empty()) continue;
    const size_t before = line.size();
    append_field(line, field.name, cut_short(field.value));
    if (line.size() > k_longest_line - 20) {
      line.resize(before);
      append_field(line, "cut", "yes");
      break;
    }
  }
  line += "}\n";
  return line;
}

void LineLog::write(Level level, std::string_view what, std::initializer_list<Field> fields) {
  if (!takes(level)) return;
  if (left_out_ > told_ &&
      put(line_of(Level::warning, "log", {{"left_out", std::to_string(left_out_ - told_)}}))) {
    told_ = left_out_;
  }
  if (left_out_ > told_ || !put(line_of(level, what, fields))) ++left_out_;
}

bool LineLog::put_rest() {
  const ssize_t sent = write_some(fd_, rest_);
  if (sent > 0) rest_.erase(0, static_cast<size_t>(sent));
  return rest_.empty();
}

bool LineLog::put(const std::string& line) {
  if (!rest_.empty() && !put_rest()) return false;
  const ssize_t sent = write_some(fd_, line);
  if (sent <= 0) return false;
  rest_ = line.substr(static_cast<size_t>(sent));
  return true;
}

}  // namespace spillway::services
