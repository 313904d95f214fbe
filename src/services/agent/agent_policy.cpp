#include "services/agent/agent_policy.h"

#include <algorithm>

#include "fabric/grant_policy_fields.h"
#include "fabric/offload_policy_fields.h"
#include "model/codec.h"
#include "model/validation.h"
#include "supply/policy_fields.h"

namespace spillway::agent {
namespace {

// The two that such a file can be: errors then know all the fields there are.
struct FabricsFile {
  fabric::OffloadPolicy offload;
  fabric::GrantPolicy grant;
};
struct SellersFile {
  supply::OfferingPolicy offering;
  FabricsFile fabric;
};

template <class F>
void fields(F& f, FabricsFile& file) {
  f.with_default("offload", file.offload);
  f.with_default("grant", file.grant);
}
template <class F>
void fields(F& f, SellersFile& file) {
  fields(f, file.offering);
  fields(f, file.fabric);
}

Status validate(const FabricsFile& file) {
  SPILLWAY_TRY(model::under("offload", fabric::validate(file.offload)));
  return model::under("grant", fabric::validate(file.grant));
}
Status validate(const SellersFile& file) {
  SPILLWAY_TRY(supply::validate(file.offering));
  return validate(file.fabric);
}

// Whoever sells says what, at which price and where: a file that has any such field must have all
// that are needed, and one without any of them is about the fabric alone.
bool is_about_fabric(const model::Node& root) {
  const bool speaks_of_sale =
      std::any_of(root.items.begin(), root.items.end(), [](const model::Node& member) {
        return member.key != "noun" && member.key != "version" && member.key != "offload" &&
               member.key != "grant";
      });
  const bool speaks_of_fabric = root.find("offload") != nullptr || root.find("grant") != nullptr;
  return speaks_of_fabric && !speaks_of_sale;
}

}  // namespace

Result<AgentPolicy> agent_policy_from_yaml(std::string_view text, std::string_view source) {
  const model::Heading heading{.what = source,
                               .version = 1,
                               .noun = "policy",
                               .pointing = model::Pointing::line,
                               .max_bytes = model::k_max_document_bytes};
  const auto root = model::parse_yaml(text, source, heading.max_bytes);
  if (!root) return tl::unexpected(root.error());
  if (is_about_fabric(*root)) {
    auto file = model::read_node<FabricsFile>(*root, heading);
    if (!file) return tl::unexpected(file.error());
    return AgentPolicy{std::nullopt, std::move(file->offload), std::move(file->grant)};
  }
  auto file = model::read_node<SellersFile>(*root, heading);
  if (!file) return tl::unexpected(file.error());
  return AgentPolicy{std::move(file->offering), std::move(file->fabric.offload),
                     std::move(file->fabric.grant)};
}

}  // namespace spillway::agent
