// The parsers of single values: whatever is read is written to something that reads as the same.
#include "base/quantity.h"

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/money.h"
#include "base/text.h"
#include "base/time.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = parse_quantity(text, QuantityStep::whole)) {
    SPILLWAY_CHECK(parse_quantity(bytes_to_text(*bytes), QuantityStep::whole) == *bytes, "bytes");
    SPILLWAY_CHECK(parse_quantity(std::to_string(*bytes), QuantityStep::whole) == *bytes, "plain");
  }
  if (const auto cpu = parse_quantity(text, QuantityStep::milli)) {
    SPILLWAY_CHECK(parse_quantity(cpu_to_text(*cpu), QuantityStep::milli) == *cpu, "cpu");
  }
  if (const auto micros = parse_micros(text)) {
    SPILLWAY_CHECK(parse_micros(micros_to_text(*micros)) == *micros, "amount");
  }
  if (const auto money = parse_money(text)) {
    SPILLWAY_CHECK(parse_money(to_text(*money)) == *money, "money");
  }
  if (const auto duration = parse_duration(text)) {
    SPILLWAY_CHECK(parse_duration(to_text(*duration)) == *duration, "duration");
  }
  if (const auto time = parse_instant(text)) {
    // An offset may lead out of the years that can be written; validation refuses those.
    const bool writable = *time >= k_first_instant && *time <= k_last_instant;
    SPILLWAY_CHECK(!writable || parse_instant(to_text(*time)) == *time, "time");
  }
  SPILLWAY_CHECK(is_printable(in_quotes(text)), "quoting");
  return 0;
}
