#include "sim/journal.h"

#include <charconv>

#include "base/check.h"
#include "base/digest.h"
#include "market/record_codec.h"

namespace spillway::sim {
namespace {

// A frame: "<length> <fingerprint>\n", then that many bytes: a line "t <ms>" for the time, lines
// "p <kind> <id> <row>" for puts, "d <kind> <id>" for deletions, "e <event>" for events. Rows and
// events are JSON without newlines.

Fingerprint fingerprint(std::string_view text) { return Digest{}.add(text).value(); }

std::string payload(const host::Commit& commit) {
  std::string text = fmt::format("t {}\n", commit.at.ms);
  for (const host::Put& put : commit.puts) {
    const int kind = static_cast<int>(put.key.kind);
    if (market::is_absent(put.record)) {
      text += fmt::format("d {} {}\n", kind, put.key.id);
    } else {
      text += fmt::format("p {} {} {}\n", kind, put.key.id, market::encode(put.record));
    }
  }
  for (const market::Event& event : commit.events) {
    text += fmt::format("e {}\n", market::encode(event));
  }
  return text;
}

template <class Number>
Number number_in(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string_view take(std::string_view& text, char until) {
  const size_t at = text.find(until);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

void read_line(std::string_view line, host::Commit& commit) {
  const std::string_view what = take(line, ' ');
  if (what == "t") {
    commit.at.ms = number_in<int64_t>(line);
    return;
  }
  if (what == "e") {
    auto event = market::decode_event(line);
    SPILLWAY_CHECK(event.has_value(), "an event of a whole frame does not decode");
    commit.events.push_back(std::move(*event));
    return;
  }
  host::Put put;
  put.key.kind = static_cast<market::Kind>(number_in<int>(take(line, ' ')));
  put.key.id = std::string(take(line, ' '));
  if (what == "p") {
    auto record = market::decode(put.key.kind, line);
    SPILLWAY_CHECK(record.has_value(), "a row of a whole frame does not decode");
    put.record = std::move(*record);
  }
  commit.puts.push_back(std::move(put));
}

}  // namespace

std::string frame(const host::Commit& commit) {
  const std::string text = payload(commit);
  return fmt::format("{} {}\n{}", text.size(), to_hex(fingerprint(text)), text);
}

Recovered recover(std::string_view bytes) {
  Recovered recovered;
  while (!bytes.empty()) {
    std::string_view rest = bytes;
    std::string_view head = take(rest, '\n');
    const auto length = number_in<size_t>(take(head, ' '));
    if (length > rest.size()) break;
    std::string_view text = rest.substr(0, length);
    if (to_hex(fingerprint(text)) != head) break;
    bytes = rest.substr(length);
    host::Commit commit;
    while (!text.empty()) read_line(take(text, '\n'), commit);
    recovered.commits.push_back(std::move(commit));
  }
  recovered.torn_bytes = bytes.size();
  return recovered;
}

}  // namespace spillway::sim
