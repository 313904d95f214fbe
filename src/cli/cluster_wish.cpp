#include "cli/cluster_wish.h"

#include "base/ids.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/parse.h"
#include "model/resources.h"

namespace spillway::cli {
namespace {

Status check_amount(std::string_view option, const std::string& text, QuantityStep step,
                    std::string_view example) {
  const auto amount = parse_quantity(text, step);
  if (!amount) {
    Error error = of_option(option, amount.error());
    if (error.next.empty()) error.next = fmt::format("write it as {}", example);
    return tl::unexpected(std::move(error));
  }
  if (*amount > 0 && *amount <= model::k_max_amount) return {};
  return fail(Code::invalid, std::string(option),
              in_quotes(text) + " is more or less than any node has",
              fmt::format("write it as {}", example));
}

}  // namespace

Status check(const ClusterWish& wish) {
  SPILLWAY_TRY(check_cluster_id(wish.name));
  SPILLWAY_TRY(check_amount("--cpu", wish.cpu, QuantityStep::milli, "8 or 500m"));
  return check_amount("--memory", wish.memory, QuantityStep::whole, "16Gi or 512Mi");
}

}  // namespace spillway::cli
