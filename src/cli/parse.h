// Values of options that are more than a number or a word.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/identity.h"
#include "model/labels.h"
#include "model/place.h"
#include "model/resources.h"

namespace spillway::cli {

// "a,b,,c" → a, b, c
std::vector<std::string> split(std::string_view text, char separator);

Result<model::Roles> parse_roles(std::string_view text);    // "provider,consumer"
Result<model::Labels> parse_labels(std::string_view text);  // "tier=gold,zone=a"

// "nvidia-a100=2", or "nvidia-a100" for one.
Result<model::Count> parse_count(std::string_view option, std::string_view text);
void put_count(model::Counts& counts, const model::Count& count);  // in order, in place of the same

Result<model::Place> parse_place(std::string_view text);  // "45.46,9.19"

// An error of a parser below, told as one of this option.
Error of_option(std::string_view option, Error error);

// "none" takes it away.
Result<std::optional<int64_t>> parse_cap(std::string_view option, std::string_view text,
                                         bool is_cpu);

}  // namespace spillway::cli
