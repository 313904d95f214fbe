// A document of ours as YAML, for people: what parse_yaml reads back to the same.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace spillway::cli {

Result<std::string> yaml_of_json(std::string_view json);

}  // namespace spillway::cli
