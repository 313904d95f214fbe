#include "fabric/death.h"

#include <algorithm>

#include "model/tree.h"

namespace spillway::fabric {
namespace {

using model::Node;
using model::text_at;

constexpr std::string_view k_no_schedule = "NoSchedule";
constexpr std::string_view k_no_execute = "NoExecute";
constexpr std::string_view k_dead_value = "true";

bool has_taint(const Entries& taints, std::string_view key, std::string_view effect) {
  return std::any_of(taints.begin(), taints.end(), [&](const Node& one) {
    return text_at(one, {"key"}) == key && text_at(one, {"effect"}) == effect;
  });
}

Node taint_of(std::string_view key, std::string_view value, std::string_view effect) {
  Node made = model::object_node();
  model::put(made, "key", model::text_node(key));
  model::put(made, "value", model::text_node(value));
  model::put(made, "effect", model::text_node(effect));
  return made;
}

bool is_of_silence(std::string_view key) {
  return key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable";
}

bool is_about_eviction(const Node& toleration) {
  const auto effect = text_at(toleration, {"effect"});
  return effect.empty() || effect == k_no_execute;
}

// Kubernetes goes by the shortest time of all that match: one without a key matches everything.
bool may_time_out(const Node& toleration) {
  const auto key = text_at(toleration, {"key"});
  const bool is_it = key.empty() || key == k_dead_taint || is_of_silence(key);
  return is_it && is_about_eviction(toleration);
}

// By its key or a value, and for as long as it takes: a pod may bring one that says less.
bool tolerates_death(const Node& toleration) {
  return text_at(toleration, {"key"}) == k_dead_taint && is_about_eviction(toleration) &&
         (text_at(toleration, {"operator"}) == "Exists" ||
          text_at(toleration, {"value"}) == k_dead_value);
}

}  // namespace

std::string_view to_text(Life life) {
  constexpr std::string_view k_words[] = {"unknown", "alive", "doubted", "dead"};
  return k_words[static_cast<size_t>(life)];
}

Life judge(const Signs& signs, bool was_dead, Duration doubt, Instant now) {
  if (!signs.silent) {
    if (signs.is_answered) return Life::alive;
    return was_dead ? Life::dead : Life::unknown;
  }
  if (was_dead) return Life::dead;
  const auto due = judged_again(signs, doubt);
  return due && *due <= now ? Life::dead : Life::doubted;
}

std::optional<Instant> judged_again(const Signs& signs, Duration doubt) {
  if (!signs.silent || !signs.error) return std::nullopt;
  return std::max(*signs.silent, *signs.error) + doubt;
}

bool is_closed(const Entries& seen) { return has_taint(seen, k_dead_taint, k_no_schedule); }

std::optional<Entries> taints_for(const Entries& seen, Mourning mourning, Instant now) {
  const bool is_marked = is_closed(seen) || has_taint(seen, k_dead_taint, k_no_execute);
  if (mourning == Mourning::none) {
    if (!is_marked) return std::nullopt;
    Entries left;
    // The Cluster Autoscaler's own would come back with its next try.
    std::copy_if(seen.begin(), seen.end(), std::back_inserter(left), [](const Node& one) {
      const auto key = text_at(one, {"key"});
      return key != k_dead_taint && key != k_deleted_taint;
    });
    return left;
  }
  Entries wanted = seen;
  const auto add = [&](std::string_view key, std::string_view value, std::string_view effect) {
    if (!has_taint(seen, key, effect)) wanted.push_back(taint_of(key, value, effect));
  };
  add(k_dead_taint, k_dead_value, k_no_schedule);
  if (mourning == Mourning::evicting) {
    add(k_dead_taint, k_dead_value, k_no_execute);
    add(k_deleted_taint, std::to_string(now.ms / 1000), k_no_schedule);
  }
  return wanted.size() == seen.size() ? std::nullopt : std::optional(std::move(wanted));
}

std::optional<Entries> tolerations_for(const Entries& seen) {
  bool is_changed = false;
  bool has_ours = false;
  Entries wanted = seen;
  for (Node& one : wanted) {
    has_ours = has_ours || tolerates_death(one);
    if (may_time_out(one)) is_changed = model::erase(one, "tolerationSeconds") || is_changed;
  }
  if (!has_ours) {
    Node made = model::object_node();
    model::put(made, "key", model::text_node(k_dead_taint));
    model::put(made, "operator", model::text_node("Exists"));
    wanted.push_back(std::move(made));
  }
  return is_changed || !has_ours ? std::optional(std::move(wanted)) : std::nullopt;
}

}  // namespace spillway::fabric
