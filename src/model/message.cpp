#include "model/message.h"

#include <algorithm>

#include "base/text.h"
#include "model/agreement_fields.h"
#include "model/identity.h"
#include "model/payload.h"
#include "model/validation.h"

namespace spillway::model {

std::string_view to_text(Direction direction) { return word_of(direction); }

Status check_step(std::string_view path, std::string_view step) {
  const bool well_formed = std::all_of(step.begin(), step.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (well_formed && !step.empty() && step.size() <= k_max_step_characters) return {};
  return refuse(
      path, in_quotes(step) + " is no name of a step",
      fmt::format("use 1 to {} lower-case letters, digits and '-'", k_max_step_characters));
}

Status check_sequence(std::string_view path, int64_t sequence) {
  return check_range(path, sequence, 1, k_max_canonical_integer);
}

Status validate(const Message& message) {
  SPILLWAY_TRY(check_key_fingerprint("agreement", message.agreement));
  SPILLWAY_TRY(check_step("step", message.step));
  SPILLWAY_TRY(check_sequence("sequence", message.sequence));
  if (message.body.size() > k_max_message_bytes) {
    return refuse("body", fmt::format("{} bytes are too many", message.body.size()),
                  fmt::format("send at most {}", k_max_message_bytes));
  }
  return is_utf8(message.body) ? Status{} : Status(refuse("body", "it is no UTF-8"));
}

std::string to_payload(const Message& message) { return payload_of(message); }
Result<Message> message_from_payload(std::string_view payload) {
  return from_payload<Message>(payload, "message");
}

}  // namespace spillway::model
