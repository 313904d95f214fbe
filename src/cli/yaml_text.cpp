#include "cli/yaml_text.h"

#include "cli/safe_text.h"
#include "model/json.h"
#include "model/yaml_text.h"

namespace spillway::cli {
namespace {

constexpr size_t k_max_json = size_t{64} << 20;

}  // namespace

Result<std::string> yaml_of_json(std::string_view json) {
  const auto root = model::parse_json(json, "answer", k_max_json);
  if (!root) return tl::unexpected(root.error());
  // Plain words are ASCII and all else is quoted as in JSON, so that JSON's escapes do.
  return safe_json(model::to_yaml(*root));
}

}  // namespace spillway::cli
