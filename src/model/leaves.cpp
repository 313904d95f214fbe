#include "model/leaves.h"

#include <charconv>
#include <concepts>
#include <optional>
#include <utility>

#include "base/quantity.h"
#include "base/text.h"
#include "model/json.h"

namespace spillway::model {
namespace {

constexpr int64_t k_micro = 1'000'000;

void append_number(std::string& out, std::integral auto value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void append_quoted(std::string& out, std::string_view plain) {  // nothing in it needs escaping
  out += '"';
  out += plain;
  out += '"';
}

// Numbers may be written with or without quotation marks; both are the same exact text.
std::optional<std::string_view> number_text(const Spot& at, std::string& buffer,
                                            std::string_view example) {
  switch (at.node().kind) {
    case Node::Kind::integer:
      append_number(buffer, at.node().integer);
      return buffer;
    case Node::Kind::decimal:
    case Node::Kind::string:
      return at.node().text;
    default:
      at.refuse(shown(at.node()) + " where an amount is expected",
                "write it as " + std::string(example));
      return std::nullopt;
  }
}

template <class T>
void take(const Spot& at, Result<T>&& parsed, T& value) {
  if (parsed) {
    value = std::move(*parsed);
  } else {
    at.refuse(parsed.error());
  }
}

void read_quantity(const Spot& at, int64_t& value, QuantityStep step, std::string_view example) {
  // The commonest case, a small whole number, needs no text.
  if (at.node().kind == Node::Kind::integer && step == QuantityStep::whole) {
    value = at.node().integer;
    return;
  }
  std::string buffer;
  if (const auto text = number_text(at, buffer, example))
    take(at, parse_quantity(*text, step), value);
}

template <class T>
void read_integer(const Spot& at, T& value) {
  if (!at.expect(Node::Kind::integer)) return;
  if (!std::in_range<T>(at.node().integer)) {
    at.refuse(std::to_string(at.node().integer) + " is out of range");
    return;
  }
  value = static_cast<T>(at.node().integer);
}

std::optional<uint64_t> read_hex(std::string_view text) {
  uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void read_value(const Spot& at, bool& value) {
  if (at.expect(Node::Kind::boolean)) value = at.node().boolean;
}
void read_value(const Spot& at, int32_t& value) { read_integer(at, value); }
void read_value(const Spot& at, int64_t& value) { read_integer(at, value); }
// Above 2^63 a number travels as text: JSON readers elsewhere would make a double of it.
void read_value(const Spot& at, uint64_t& value) {
  if (at.node().kind != Node::Kind::string) return read_integer(at, value);
  const std::string& text = at.node().text;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
    at.refuse(in_quotes(text) + " is no whole number");
  }
}
void read_value(const Spot& at, std::string& value) {
  if (at.expect(Node::Kind::string)) value = at.node().text;
}
void read_value(const Spot& at, Instant& value) {
  if (at.expect(Node::Kind::string)) take(at, parse_instant(at.node().text), value);
}
void read_value(const Spot& at, Duration& value) {
  if (at.expect(Node::Kind::string)) take(at, parse_duration(at.node().text), value);
}
void read_value(const Spot& at, Currency& value) {
  if (at.expect(Node::Kind::string)) take(at, parse_currency(at.node().text), value);
}
void read_value(const Spot& at, Money& value) {
  if (at.expect(Node::Kind::string)) take(at, parse_money(at.node().text), value);
}
void read_value(const Spot& at, Fingerprint& value) {
  if (!at.expect(Node::Kind::string)) return;
  const std::string_view text = at.node().text;
  const auto high = text.size() == 32 ? read_hex(text.substr(0, 16)) : std::nullopt;
  const auto low = high ? read_hex(text.substr(16)) : std::nullopt;
  if (!low) return at.refuse(in_quotes(text) + " is no fingerprint of 32 hexadecimal digits");
  value = {*high, *low};
}

void write_value(Output& out, bool value) { out.text += value ? "true" : "false"; }
void write_value(Output& out, int32_t value) { append_number(out.text, value); }
void write_value(Output& out, int64_t value) { append_number(out.text, value); }
void write_value(Output& out, uint64_t value) {
  if (std::in_range<int64_t>(value)) return append_number(out.text, value);
  append_quoted(out.text, std::to_string(value));
}
void write_value(Output& out, const std::string& value) { append_json_string(out.text, value); }
void write_value(Output& out, Instant value) { append_quoted(out.text, to_text(value)); }
void write_value(Output& out, Duration value) { append_quoted(out.text, to_text(value)); }
void write_value(Output& out, const Currency& value) {
  append_quoted(out.text, {value.letters.data(), value.letters.size()});
}
void write_value(Output& out, const Money& value) { append_quoted(out.text, to_text(value)); }
void write_value(Output& out, const Fingerprint& value) { append_quoted(out.text, to_hex(value)); }

namespace as {

void Cpu::read(const Spot& at, int64_t& millicores) {
  read_quantity(at, millicores, QuantityStep::milli, "2 or 500m");
}
void Cpu::write(Output& out, int64_t millicores) {
  append_quoted(out.text, cpu_to_text(millicores));
}
void Bytes::read(const Spot& at, int64_t& count) {
  read_quantity(at, count, QuantityStep::whole, "4Gi");
}
void Bytes::write(Output& out, int64_t count) { append_quoted(out.text, bytes_to_text(count)); }
void Pieces::read(const Spot& at, int64_t& count) {
  read_quantity(at, count, QuantityStep::whole, "2");
}
void Pieces::write(Output& out, int64_t count) { append_number(out.text, count); }

void Amount::read(const Spot& at, int64_t& micros) {
  std::string buffer;
  if (const auto text = number_text(at, buffer, "1.25")) take(at, parse_micros(*text), micros);
}
void Amount::write(Output& out, int64_t micros) { append_quoted(out.text, micros_to_text(micros)); }

void Degrees::read(const Spot& at, int32_t& microdegrees) {
  int64_t micros = 0;
  std::string buffer;
  const auto text = number_text(at, buffer, "45.070312");
  if (!text) return;
  take(at, parse_micros(*text), micros);
  if (!std::in_range<int32_t>(micros) || micros < -360 * k_micro || micros > 360 * k_micro) {
    return at.refuse(in_quotes(*text) + " degrees is out of range", "use -180 to 180");
  }
  microdegrees = static_cast<int32_t>(micros);
}
void Degrees::write(Output& out, int32_t microdegrees) { out.text += micros_to_text(microdegrees); }

void Share::read(const Spot& at, int64_t& permille) {
  constexpr int64_t k_micros_per_permille = k_micro / 10;  // of "1", a hundredth
  std::string_view text = at.node().text;
  if (at.node().kind != Node::Kind::string || !text.ends_with('%')) {
    return at.refuse(shown(at.node()) + " where a share is expected", "write it as 62.5%");
  }
  text.remove_suffix(1);
  const auto micros = parse_micros(text);
  if (!micros) return at.refuse(micros.error().reason, "write it as 62.5%");
  if (*micros % k_micros_per_permille != 0) {
    return at.refuse(in_quotes(at.node().text) + " is finer than a tenth of a percent",
                     "write at most one decimal");
  }
  permille = *micros / k_micros_per_permille;
}
void Share::read(const Spot& at, int32_t& permille) {
  int64_t wide = 0;
  read(at, wide);
  if (!std::in_range<int32_t>(wide))
    return at.refuse(in_quotes(at.node().text) + " is out of range");
  permille = static_cast<int32_t>(wide);
}
void Share::write(Output& out, int64_t permille) {
  // As Money is written: the shortest decimal. Permille are bounded long before this overflows.
  append_quoted(out.text, micros_to_text(checked_multiply(permille, k_micro / 10)) + "%");
}

}  // namespace as

}  // namespace spillway::model
