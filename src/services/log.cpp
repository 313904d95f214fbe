#include "services/log.h"

#include <array>
#include <chrono>

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

}  // namespace

std::string_view to_text(Level level) { return k_words[static_cast<size_t>(level)]; }

Level level_from(std::string_view text) {
  for (size_t i = 0; i < k_words.size(); ++i) {
    if (k_words[i] == text) return static_cast<Level>(i);
  }
  return Level::info;
}

void LineLog::write(Level level, std::string_view what, std::initializer_list<Field> fields) {
  if (!takes(level)) return;
  std::string line = "{\"at\":\"";
  line += spillway::to_text(wall_clock());
  line += "\",\"level\":\"";
  line += to_text(level);
  line += '"';
  append_field(line, "service", service_);
  append_field(line, "what", what);
  for (const Field& field : fields) {
    if (!field.value.empty()) append_field(line, field.name, field.value);
  }
  line += "}\n";
  // A log that cannot be written must not stop the market.
  [[maybe_unused]] const ssize_t ignored = ::write(fd_, line.data(), line.size());
}

}  // namespace spillway::services
