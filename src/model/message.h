// Message: what one party of an agreement tells the other through the relay, signed by it
// (pki/jws.h, type k_message_type) and then sealed (pki/envelope.h). It says itself where it
// belongs: whoever gets it to open elsewhere cannot pass it on as another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace spillway::model {

inline constexpr std::string_view k_message_type = "spillway-message";
// Signed and sealed it is about half as large again, and must fit into an envelope.
inline constexpr size_t k_max_message_bytes = size_t{32} << 10;
inline constexpr size_t k_max_step_characters = 40;

// Between the two parties of a contract. The numbers are part of what is sealed.
enum class Direction : uint8_t { to_provider = 1, to_buyer = 2 };
std::string_view to_text(Direction direction);
constexpr Direction opposite(Direction direction) {
  return direction == Direction::to_provider ? Direction::to_buyer : Direction::to_provider;
}

struct Message {
  std::string agreement;  // its id
  Direction direction = Direction::to_provider;
  std::string step;      // what it is for, such as "nonce"
  int64_t sequence = 1;  // of this direction of this agreement
  std::string body;      // UTF-8

  bool operator==(const Message&) const = default;
};

// Lower-case letters, digits and '-'.
Status check_step(std::string_view path, std::string_view step);
// From 1 to what every reader of JSON understands.
Status check_sequence(std::string_view path, int64_t sequence);

Status validate(const Message& message);
std::string to_payload(const Message& message);
Result<Message> message_from_payload(std::string_view payload);

}  // namespace spillway::model
