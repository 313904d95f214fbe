// Placeholders: how units are called of which nobody knows yet whether they will be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "demand/ledger.h"

namespace spillway::demand {

// "spillway://ask-7/2": the second of those whose outcome is not known; of a spare its own, which
// it keeps.
std::string placeholder_id(const Ask& ask, int32_t number);

struct Placeholder {
  int64_t generation = 0;
  int32_t number = 0;
};
// None: it is called otherwise.
std::optional<Placeholder> read_placeholder(const NodeRef& node);

}  // namespace spillway::demand
