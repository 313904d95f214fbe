// The continue token of a list: at which version the list began, and where its next page does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "embedded/object.h"

namespace spillway::embedded {

struct Continuation {
  int64_t version = 0;  // -1: go on with what is there now
  Key after;
};

std::string to_text(const Continuation& continuation);
std::optional<Continuation> parse_continuation(std::string_view text);

}  // namespace spillway::embedded
