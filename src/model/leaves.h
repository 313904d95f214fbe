// Leaves of a document: what a number, a time, an amount of money look like in JSON and YAML. Each
// has one form in which it is written and may have several in which it is read; none of them ever
// passes through a double.
#pragma once

#include <cstdint>
#include <string>

#include "base/digest.h"
#include "base/ids.h"
#include "base/money.h"
#include "base/time.h"
#include "model/spot.h"

namespace spillway::model {

void read_value(const Spot& at, bool& value);
void read_value(const Spot& at, int32_t& value);
void read_value(const Spot& at, int64_t& value);
void read_value(const Spot& at, uint64_t& value);
void read_value(const Spot& at, std::string& value);
void read_value(const Spot& at, Instant& value);
void read_value(const Spot& at, Duration& value);
void read_value(const Spot& at, Currency& value);
void read_value(const Spot& at, Money& value);
void read_value(const Spot& at, Fingerprint& value);

void write_value(Output& out, bool value);
void write_value(Output& out, int32_t value);
void write_value(Output& out, int64_t value);
void write_value(Output& out, uint64_t value);
void write_value(Output& out, const std::string& value);
void write_value(Output& out, Instant value);
void write_value(Output& out, Duration value);
void write_value(Output& out, const Currency& value);
void write_value(Output& out, const Money& value);
void write_value(Output& out, const Fingerprint& value);

template <class Tag>
void read_value(const Spot& at, Id<Tag>& value) {
  read_value(at, value.text);
}
template <class Tag>
void write_value(Output& out, const Id<Tag>& value) {
  write_value(out, value.text);
}

// The other ways to write a number; the last argument of a field names one.
namespace as {
struct Natural {};  // by the type alone
struct Cpu {        // millicores as "1500m"
  static void read(const Spot& at, int64_t& millicores);
  static void write(Output& out, int64_t millicores);
};
struct Bytes {  // "4Gi"
  static void read(const Spot& at, int64_t& count);
  static void write(Output& out, int64_t count);
};
struct Pieces {  // a whole number, or a quantity that is one
  static void read(const Spot& at, int64_t& count);
  static void write(Output& out, int64_t count);
};
struct Amount {  // micro-units as "1.25"
  static void read(const Spot& at, int64_t& micros);
  static void write(Output& out, int64_t micros);
};
struct Degrees {  // microdegrees as 45.070312
  static void read(const Spot& at, int32_t& microdegrees);
  static void write(Output& out, int32_t microdegrees);
};
struct Share {  // permille as "62.5%"
  static void read(const Spot& at, int64_t& permille);
  static void read(const Spot& at, int32_t& permille);
  static void write(Output& out, int64_t permille);
};
// NOLINTBEGIN(readability-identifier-naming): words in a list of fields, "as::amount"
inline constexpr Natural natural;
inline constexpr Cpu cpu;
inline constexpr Bytes bytes;
inline constexpr Pieces pieces;
inline constexpr Amount amount;
inline constexpr Degrees degrees;
inline constexpr Share share;
// NOLINTEND(readability-identifier-naming)
}  // namespace as

}  // namespace spillway::model
