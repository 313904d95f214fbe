#include "model/cluster.h"

#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {
namespace {

Status check_cap(std::string_view path, const std::optional<int64_t>& cap) {
  return cap ? check_range(path, *cap, 0, k_max_amount) : Status{};
}

Status check_caps(std::string_view path, const Counts& caps) {
  SPILLWAY_TRY(check_size(path, caps.size(), k_max_names));
  const std::string* last = nullptr;
  for (const Count& cap : caps) {
    if (!is_qualified_name(cap.name)) {
      return refuse(path, in_quotes(cap.name) + " is no name of a resource");
    }
    if (last != nullptr && *last >= cap.name) {
      return refuse(path, in_quotes(cap.name) + " is out of order or there twice",
                    "sort by name, each once");
    }
    // Unlike an amount, a cap of zero says something: none of it.
    SPILLWAY_TRY(under(path, check_range(cap.name, cap.amount, 0, k_max_amount)));
    last = &cap.name;
  }
  return {};
}

Status validate(const Quota& quota) {
  SPILLWAY_TRY(check_cap("units", quota.units));
  SPILLWAY_TRY(check_cap("open_holds", quota.open_holds));
  SPILLWAY_TRY(check_cpu("cpu", quota.cpu_millis.value_or(0), k_max_amount));
  SPILLWAY_TRY(check_bytes("memory", quota.memory_bytes.value_or(0), k_max_amount));
  SPILLWAY_TRY(check_cap("pods", quota.pods));
  SPILLWAY_TRY(check_bytes("storage", quota.storage_bytes.value_or(0), k_max_amount));
  SPILLWAY_TRY(check_caps("gpus", quota.gpus));
  return check_caps("extended", quota.extended);
}

Status validate(const Budget& budget) {
  SPILLWAY_TRY(check_currency("limit", budget.limit.currency));
  if (budget.limit.micros < 0) {
    return refuse("limit", to_text(budget.limit) + " is negative", "use 0 or more");
  }
  return check_time("from", budget.from);
}

}  // namespace

Status validate(const Cluster& cluster) {
  SPILLWAY_TRY(at("id", check_cluster_id(cluster.id.text)));
  SPILLWAY_TRY(under("labels", validate(cluster.labels)));
  SPILLWAY_TRY(under("quota", validate(cluster.quota)));
  return cluster.budget ? under("budget", validate(*cluster.budget)) : Status{};
}

}  // namespace spillway::model
