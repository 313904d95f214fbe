#include "cli/cluster_changes.h"

#include <algorithm>

#include "cli/parse.h"

namespace spillway::cli {
namespace {

Status apply_cap(std::string_view option, const std::string& text, bool is_cpu,
                 std::optional<int64_t>& cap) {
  if (text.empty()) return {};
  const auto value = parse_cap(option, text, is_cpu);
  if (!value) return tl::unexpected(value.error());
  cap = *value;
  return {};
}

Status apply_budget(const ClusterChanges& changes, Instant now, model::Cluster& cluster) {
  if (changes.budget.empty()) return {};
  if (changes.budget == "none") {
    cluster.budget.reset();
    return {};
  }
  const auto limit = parse_money(changes.budget);
  if (!limit) return tl::unexpected(of_option("--budget", limit.error()));
  // Another `from` would start the count of what was spent anew.
  const bool goes_on = cluster.budget && !changes.new_budget;
  cluster.budget = model::Budget{*limit, goes_on ? cluster.budget->from : now};
  return {};
}

Status apply_labels(const ClusterChanges& changes, model::Labels& labels) {
  const auto remove = [&labels](const std::string& key) {
    labels.erase(std::remove_if(labels.begin(), labels.end(),
                                [&key](const model::Label& label) { return label.key == key; }),
                 labels.end());
  };
  for (const std::string& text : changes.labels) {
    for (const std::string& item : split(text, ',')) {
      if (item.back() == '-' && item.find('=') == std::string::npos) {
        remove(item.substr(0, item.size() - 1));
        continue;
      }
      const auto parsed = parse_labels(item);
      if (!parsed) return tl::unexpected(parsed.error());
      for (const model::Label& label : *parsed) {
        remove(label.key);
        labels.push_back(label);
      }
    }
  }
  std::sort(labels.begin(), labels.end(),
            [](const model::Label& a, const model::Label& b) { return a.key < b.key; });
  return {};
}

}  // namespace

bool ClusterChanges::empty() const {
  return units.empty() && open_holds.empty() && cpu.empty() && memory.empty() && pods.empty() &&
         storage.empty() && gpus.empty() && budget.empty() && labels.empty();
}

void add_cluster_changes(Word verb, ClusterChanges& changes) {
  const auto cap = [&verb](const char* name, std::string& field, const char* help) {
    verb.option(name, field, help).type_name("N|none").group("What it may hold");
  };
  cap("--quota-units", changes.units, "Units at a time; none: no cap");
  cap("--quota-open-holds", changes.open_holds, "Holds that are not confirmed yet");
  cap("--quota-cpu", changes.cpu, "Cores: 96, 500m");
  cap("--quota-memory", changes.memory, "Bytes: 384Gi");
  cap("--quota-pods", changes.pods, "Pods");
  cap("--quota-storage", changes.storage, "Bytes: 2Ti");
  verb.option("--quota-gpu", changes.gpus, "By model: nvidia-a100=4; may be repeated")
      .type_name("MODEL=N")
      .may_repeat()
      .group("What it may hold");
  verb.option("--budget", changes.budget, "Spent and set aside at most: \"100 EUR\"; none: no cap")
      .type_name("MONEY|none");
  verb.flag("--new-budget", changes.new_budget, "With --budget: count what is spent from now on");
  verb.option("--labels", changes.labels, "tier=gold,zone=a; tier- takes one away")
      .type_name("LABELS")
      .may_repeat();
}

Status apply(const ClusterChanges& changes, Instant now, model::Cluster& cluster) {
  model::Quota& quota = cluster.quota;
  SPILLWAY_TRY(apply_cap("--quota-units", changes.units, false, quota.units));
  SPILLWAY_TRY(apply_cap("--quota-open-holds", changes.open_holds, false, quota.open_holds));
  SPILLWAY_TRY(apply_cap("--quota-cpu", changes.cpu, true, quota.cpu_millis));
  SPILLWAY_TRY(apply_cap("--quota-memory", changes.memory, false, quota.memory_bytes));
  SPILLWAY_TRY(apply_cap("--quota-pods", changes.pods, false, quota.pods));
  SPILLWAY_TRY(apply_cap("--quota-storage", changes.storage, false, quota.storage_bytes));
  for (const std::string& gpu : changes.gpus) {
    const auto count = parse_count("--quota-gpu", gpu);
    if (!count) return tl::unexpected(count.error());
    put_count(quota.gpus, *count);
  }
  SPILLWAY_TRY(apply_budget(changes, now, cluster));
  SPILLWAY_TRY(apply_labels(changes, cluster.labels));
  return validate(cluster);
}

}  // namespace spillway::cli
