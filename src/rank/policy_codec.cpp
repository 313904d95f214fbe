#include "base/check.h"
#include "model/json.h"
#include "model/yaml_text.h"
#include "rank/policy_fields.h"

namespace spillway::rank {
namespace {

model::Heading policy_heading(std::string_view source) {
  return {.what = source,
          .version = 1,
          .noun = "recommender-policy",
          .pointing = model::Pointing::line,
          .max_bytes = model::k_max_document_bytes};
}

}  // namespace

Result<Policy> policy_from_yaml(std::string_view text, std::string_view source) {
  return model::read_yaml<Policy>(text, policy_heading(source));
}

Result<Policy> policy_from_json(std::string_view text, std::string_view source) {
  return model::read_json<Policy>(text, policy_heading(source));
}

std::string to_json(const Policy& policy) { return model::write_json(policy); }

std::string to_yaml(const Policy& policy) {
  const auto root = model::parse_json(to_json(policy), "policy", model::k_max_row_bytes);
  SPILLWAY_CHECK(root.has_value(), "a document of ours is no JSON");
  return "noun: recommender-policy\n" + model::to_yaml(*root);
}

}  // namespace spillway::rank
