#include "supply/policy.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"
#include "supply/naming.h"

namespace spillway::supply {
namespace {

using model::at;
using model::check_bytes;
using model::check_cpu;
using model::check_label_key;
using model::check_label_value;
using model::check_range;
using model::check_share;
using model::check_size;
using model::k_max_amount;
using model::k_max_names;
using model::refuse;
using model::under;

constexpr size_t k_most_steps = 32;
constexpr size_t k_most_windows = 64;

Status check_cap(const Cap& cap) {
  SPILLWAY_TRY(check_cpu("cpu", cap.cpu_millis.value_or(0), k_max_amount));
  SPILLWAY_TRY(check_bytes("memory", cap.memory_bytes.value_or(0), k_max_amount));
  SPILLWAY_TRY(check_range("pods", cap.pods.value_or(0), 0, k_max_amount));
  SPILLWAY_TRY(check_bytes("storage", cap.storage_bytes.value_or(0), k_max_amount));
  for (const model::Counts* counts : {&cap.gpus, &cap.extended}) {
    const std::string_view path = counts == &cap.gpus ? "gpus" : "extended";
    SPILLWAY_TRY(check_size(path, counts->size(), k_max_names));
    for (const model::Count& count : *counts) {
      SPILLWAY_TRY(under(path, check_range(count.name, count.amount, 0, k_max_amount)));
    }
  }
  return {};
}

Status check_step(const Step& step, const OfferingPolicy& policy) {
  SPILLWAY_TRY(check_step_name(step.name));
  SPILLWAY_TRY(under("shape", validate(step.shape)));
  if (step.shape.is_zero()) {
    return refuse("shape", "it has no resource at all", "give cpu and memory at least");
  }
  // A node always has pods to give, or none at all: a shape without would admit no work.
  if (step.shape.pods == 0) {
    return refuse("shape", "it has no pods, so nothing could run in it", "add pods, such as 20");
  }
  if (step.price) SPILLWAY_TRY(under("price", validate(*step.price)));
  if (step.visibility) SPILLWAY_TRY(under("visibility", validate(*step.visibility)));
  if (!model::try_hourly_rate(step.price.value_or(policy.price), step.shape)) {
    return refuse(
        "shape",
        fmt::format("a unit would cost more than {} an hour", micros_to_text(model::k_max_price)),
        "check the prices and the shape");
  }
  return {};
}

Status check_ladder(const OfferingPolicy& policy) {
  const auto& ladder = policy.ladder;
  if (ladder.empty()) return refuse("ladder", "it has no step", "list at least one shape");
  SPILLWAY_TRY(check_size("ladder", ladder.size(), k_most_steps));
  std::set<std::string_view> names;
  std::set<std::string_view> gpus;
  std::set<std::string_view> extended;
  for (size_t i = 0; i < ladder.size(); ++i) {
    SPILLWAY_TRY(under("ladder", i, check_step(ladder[i], policy)));
    if (!names.insert(ladder[i].name).second) {
      return under("ladder", i,
                   refuse("name", in_quotes(ladder[i].name) + " is there twice",
                          "give each step a name of its own"));
    }
    for (const model::Count& count : ladder[i].shape.gpus) gpus.insert(count.name);
    for (const model::Count& count : ladder[i].shape.extended) extended.insert(count.name);
  }
  // A pool has an amount of each.
  SPILLWAY_TRY(check_size("ladder", gpus.size(), k_max_names));
  return check_size("ladder", extended.size(), k_max_names);
}

Status check_taints(const std::vector<TaintRule>& taints) {
  SPILLWAY_TRY(check_size("taints", taints.size(), k_max_names));
  for (size_t i = 0; i < taints.size(); ++i) {
    SPILLWAY_TRY(under("taints", i, check_label_key("key", taints[i].key)));
    if (taints[i].value) {
      SPILLWAY_TRY(under("taints", i, check_label_value("value", *taints[i].value)));
    }
  }
  return {};
}

Status check_labels(const PassedLabels& labels) {
  SPILLWAY_TRY(under("add", validate(labels.add)));
  // One more is always there: the architecture.
  SPILLWAY_TRY(check_size("pass", labels.pass.size() + labels.add.size() + 1, k_max_names));
  for (size_t i = 0; i < labels.pass.size(); ++i) {
    SPILLWAY_TRY(under("pass", i, check_label_key("", labels.pass[i])));
    if (model::find_label(labels.add, labels.pass[i]) != nullptr) {
      return under(
          "pass", i,
          refuse("", in_quotes(labels.pass[i]) + " is added as well", "keep it in one of the two"));
    }
  }
  return {};
}

Status check_guests(const GuestRule& guests) {
  SPILLWAY_TRY(under("labels", validate(guests.labels)));
  SPILLWAY_TRY(check_size("namespaces", guests.namespaces.size(), model::k_max_listed));
  for (size_t i = 0; i < guests.namespaces.size(); ++i) {
    SPILLWAY_TRY(under("namespaces", i, at("", check_cluster_id(guests.namespaces[i]))));
  }
  return {};
}

Status check_gpu_models(const std::map<std::string, std::string>& models) {
  SPILLWAY_TRY(check_size("gpu_models", models.size(), k_max_names));
  for (const auto& [label, model] : models) {
    if (!model.empty() && model::is_label_value(model)) continue;
    return under("gpu_models", refuse(label, in_quotes(model) + " is no GPU model",
                                      "write it as a label value, such as nvidia-a100"));
  }
  return {};
}

}  // namespace

Status validate(const OfferingPolicy& policy) {
  SPILLWAY_TRY(check_size("nodes", policy.nodes.size(), k_max_names));
  for (size_t i = 0; i < policy.nodes.size(); ++i) {
    SPILLWAY_TRY(under("nodes", i, validate(policy.nodes[i])));
  }
  SPILLWAY_TRY(under("headroom", validate(policy.headroom.amount)));
  SPILLWAY_TRY(under("headroom", check_share("share", policy.headroom.share_permille, k_whole)));
  SPILLWAY_TRY(under("quota", check_share("share", policy.quota.share_permille, k_whole)));
  SPILLWAY_TRY(under("quota", under("most", check_cap(policy.quota.most))));
  SPILLWAY_TRY(under("price", validate(policy.price)));
  SPILLWAY_TRY(check_ladder(policy));
  SPILLWAY_TRY(check_size("hours", policy.hours.size(), k_most_windows));
  for (size_t i = 0; i < policy.hours.size(); ++i) {
    SPILLWAY_TRY(under("hours", i, validate(policy.hours[i])));
  }
  SPILLWAY_TRY(check_taints(policy.taints));
  SPILLWAY_TRY(under("labels", check_labels(policy.labels)));
  SPILLWAY_TRY(check_gpu_models(policy.gpu_models));
  SPILLWAY_TRY(under("guests", check_guests(policy.guests)));
  SPILLWAY_TRY(under("place", validate(policy.place)));
  SPILLWAY_TRY(under("network", validate(policy.network)));
  if (policy.energy) SPILLWAY_TRY(under("energy", validate(*policy.energy)));
  SPILLWAY_TRY(under("visibility", validate(policy.visibility)));
  return under("terms", validate(policy.terms));
}

}  // namespace spillway::supply
