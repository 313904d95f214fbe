#include "embedded/budgets.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "embedded/document.h"
#include "embedded/selector.h"

namespace spillway::embedded {
namespace {

using model::integer_node;
using model::Node;
using model::put;

// A pod that was evicted and is still there after this was not deleted after all.
constexpr Duration k_eviction_lasts = minutes(2);

// Evicted, still there and not yet being deleted.
Node still_disrupted(const Node& budget, const std::map<std::string, bool>& present, Instant now) {
  Node kept = model::object_node();
  for (const Node& entry : model::items_at(budget, {"status", "disruptedPods"})) {
    const auto found = present.find(entry.key);
    const auto since = parse_stamp(entry.text).value_or(now);
    if (found != present.end() && !found->second && now < since + k_eviction_lasts) {
      put(kept, entry.key, entry);
    }
  }
  return kept;
}

}  // namespace

int64_t scaled(const Node* number, int64_t whole) {
  if (number == nullptr) return 0;
  constexpr int64_t k_most = INT32_MAX;
  if (number->kind == Node::Kind::integer) return std::clamp<int64_t>(number->integer, 0, k_most);
  int64_t percent = 0;
  std::from_chars(number->text.data(), number->text.data() + number->text.size(), percent);
  return (std::clamp<int64_t>(percent, 0, 10'000) * std::clamp<int64_t>(whole, 0, k_most) + 99) /
         100;
}

Budgets::Budgets(Objects& objects, host::Loop& loop)
    : objects_(objects), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) {
    const Kind* kind = change.object->kind;
    if (kind != &objects_.registry.built_in("pods") &&
        kind != &objects_.registry.built_in("poddisruptionbudgets", "policy")) {
      return;
    }
    changed_.insert(change.object->key.space);
    turn_.soon();
  });
}

void Budgets::work() {
  const Kind& kind = objects_.registry.built_in("poddisruptionbudgets", "policy");
  const std::set<std::string> changed = std::exchange(changed_, {});
  const Shelf budgets = objects_.table.shelf(kind);
  for (const auto& [key, budget] : budgets) {
    if (changed.contains(key.space)) count(*budget);
  }
}

// Of the replica sets that the pods belong to; pods of nobody count for themselves.
int64_t Budgets::wanted_by_owners(const std::vector<ObjectPtr>& pods) const {
  const Kind& sets = objects_.registry.built_in("replicasets", "apps");
  std::set<Key> owners;
  int64_t sum = 0;
  for (const ObjectPtr& pod : pods) {
    const Node document = pod->document();
    const Node* owner = controller_of(document);
    const Key key{pod->key.space,
                  owner == nullptr ? std::string() : std::string(model::text_at(*owner, {"name"}))};
    const ObjectPtr set = objects_.table.find(sets, key);
    if (set == nullptr) {
      ++sum;
    } else if (owners.insert(key).second) {
      sum += model::integer_at(set->document(), {"spec", "replicas"}, 1);
    }
  }
  return sum;
}

void Budgets::count(const Object& budget) {
  const Kind& kind = objects_.registry.built_in("pods");
  const Node document = budget.document();
  const auto selector = read_selector(model::look(document, {"spec", "selector"}));
  std::vector<ObjectPtr> pods;
  std::map<std::string, bool> present;  // name, being deleted
  int64_t healthy = 0;
  const Instant now = objects_.clock.now();
  for (const auto& [key, pod] : objects_.table.shelf(kind)) {
    if (key.space != budget.key.space || !selector || !selector->matches(pod->labels)) continue;
    const std::string& phase = *find_pair(pod->fields, "status.phase");
    if (phase == "Succeeded" || phase == "Failed") continue;
    pods.push_back(pod);
    present[key.name] = pod->is_deleting;
  }
  const Node disrupted = still_disrupted(document, present, now);
  for (const ObjectPtr& pod : pods) {
    if (pod->is_ready && !pod->is_deleting && disrupted.find(pod->key.name) == nullptr) ++healthy;
  }
  const Node* least = model::look(document, {"spec", "minAvailable"});
  const Node* most = model::look(document, {"spec", "maxUnavailable"});
  const bool is_plain = least != nullptr && least->kind == Node::Kind::integer;
  const int64_t expected = is_plain ? std::ssize(pods) : wanted_by_owners(pods);
  const int64_t desired = most != nullptr ? std::max<int64_t>(0, expected - scaled(most, expected))
                                          : (least != nullptr ? scaled(least, expected) : 1);
  const int64_t allowed = expected <= 0 ? 0 : std::max<int64_t>(0, healthy - desired);
  objects_.change(*budget.kind, budget.key, [&](Node& changed) {
    Node& status = model::ensure(changed, {"status"});
    put(status, "currentHealthy", integer_node(healthy));
    put(status, "desiredHealthy", integer_node(desired));
    put(status, "disruptionsAllowed", integer_node(allowed));
    put(status, "expectedPods", integer_node(expected));
    put(status, "observedGeneration",
        integer_node(model::integer_at(changed, {"metadata", "generation"})));
    if (disrupted.items.empty()) {
      model::erase(status, "disruptedPods");
    } else {
      put(status, "disruptedPods", disrupted);
    }
    set_condition(changed,
                  {.type = "DisruptionAllowed",
                   .status = allowed > 0 ? "True" : "False",
                   .reason = allowed > 0 ? "SufficientPods" : "InsufficientPods"},
                  now);
  });
}

}  // namespace spillway::embedded
