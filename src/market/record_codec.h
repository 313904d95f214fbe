// Rows and events as text: strict, versioned JSON, by the same codec as the nouns. A row that does
// not decode, or breaks an invariant of its kind, is an error that names it: stores quarantine it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "market/events.h"
#include "market/records.h"

namespace spillway::market {

std::string encode(const Record& record);  // not for absent ones
Result<Record> decode(Kind kind, std::string_view text);

std::string encode(const Event& event);
Result<Event> decode_event(std::string_view text);

}  // namespace spillway::market
