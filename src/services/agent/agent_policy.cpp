#include "services/agent/agent_policy.h"

#include <algorithm>

#include "fabric/offload_policy_fields.h"
#include "model/codec.h"
#include "model/validation.h"
#include "supply/policy_fields.h"

namespace spillway::agent {
namespace {

// The two that such a file can be: errors then know all the fields there are.
struct SellersFile {
  supply::OfferingPolicy offering;
  fabric::OffloadPolicy offload;
};
struct BuyersFile {
  fabric::OffloadPolicy offload;
};

template <class F>
void fields(F& f, SellersFile& file) {
  fields(f, file.offering);
  f.with_default("offload", file.offload);
}
template <class F>
void fields(F& f, BuyersFile& file) {
  f.required("offload", file.offload);
}

Status validate(const BuyersFile& file) {
  return model::under("offload", fabric::validate(file.offload));
}
Status validate(const SellersFile& file) {
  SPILLWAY_TRY(supply::validate(file.offering));
  return model::under("offload", fabric::validate(file.offload));
}

// Whoever sells says what, at which price and where: a file that has any such field must have all
// that are needed, and one without any of them is a buyer's.
bool is_buyers(const model::Node& root) {
  const bool speaks_of_sale =
      std::any_of(root.items.begin(), root.items.end(), [](const model::Node& member) {
        return member.key != "noun" && member.key != "version" && member.key != "offload";
      });
  return root.find("offload") != nullptr && !speaks_of_sale;
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
  if (is_buyers(*root)) {
    auto file = model::read_node<BuyersFile>(*root, heading);
    if (!file) return tl::unexpected(file.error());
    return AgentPolicy{std::nullopt, std::move(file->offload)};
  }
  auto file = model::read_node<SellersFile>(*root, heading);
  if (!file) return tl::unexpected(file.error());
  return AgentPolicy{std::move(file->offering), std::move(file->offload)};
}

}  // namespace spillway::agent
