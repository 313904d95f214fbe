#include <fmt/format.h>

#include "supply/policy_fields.h"

namespace spillway::supply {
namespace {

model::Heading heading(std::string_view source) {
  return {.what = source,
          .version = 1,
          .noun = "policy",
          .pointing = model::Pointing::line,
          .max_bytes = model::k_max_document_bytes};
}

// Two digits at `at`; -1 when they are none.
int two_digits(std::string_view text, size_t at) {
  const auto digit = [&text](size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  if (!digit(at) || !digit(at + 1)) return -1;
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

}  // namespace

void read_value(const model::Spot& at, TimeOfDay& time) {
  if (!at.expect(model::Node::Kind::string)) return;
  const std::string_view text = at.node().text;
  const bool shaped = text.size() == 5 && text[2] == ':';
  const int hour = shaped ? two_digits(text, 0) : -1;
  const int minute = shaped ? two_digits(text, 3) : -1;
  if (hour < 0 || minute < 0 || minute > 59 || hour * 60 + minute > k_day_minutes) {
    return at.refuse(shown(at.node()) + " is no time of day", "write it as 18:30, in UTC");
  }
  time.minutes = hour * 60 + minute;
}

void write_value(model::Output& out, const TimeOfDay& time) {
  out.text += fmt::format("\"{:02}:{:02}\"", time.minutes / 60, time.minutes % 60);
}

Result<OfferingPolicy> policy_from_yaml(std::string_view text, std::string_view source) {
  return model::read_yaml<OfferingPolicy>(text, heading(source));
}

Result<OfferingPolicy> policy_from_json(std::string_view text, std::string_view source) {
  return model::read_json<OfferingPolicy>(text, heading(source));
}

std::string to_json(const OfferingPolicy& policy) { return model::write_json(policy); }

}  // namespace spillway::supply
