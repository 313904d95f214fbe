// Advisor::choose: the expander's question.
//
// Options differ in what they take in: one may need more units for the same pods, another leaves
// some of them pending. Each is weighed as if it took in all pods that any of them does: units
// needed × worth of all those pods / worth of its own, over the same of the option that needs the
// fewest. A pod is worth what it costs where it fits best.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "services/autoscaler/advisor.h"

namespace spillway::autoscaler {
namespace {

using cluster_autoscaler::PodAsk;
using AskedOption = cluster_autoscaler::Option;

constexpr int64_t k_worth_micros = 1'000'000;

// In units, in millionths: how many of it would take in all.
int64_t need_of(const AskedOption& option, int64_t worth, int64_t most_worth) {
  const Int128 need =
      static_cast<Int128>(std::max(option.nodes, 1)) * k_worth_micros * most_worth / worth;
  return static_cast<int64_t>(std::min<Int128>(need, INT64_MAX / 2000));
}

std::vector<int64_t> needed_permilles(const std::vector<AskedOption>& options,
                                      const demand::PodPrices& prices) {
  // The same pods come with many options, and a price is looked for among all groups.
  std::map<std::pair<std::string_view, std::string_view>, int64_t> known;
  std::vector<int64_t> worth;
  for (const AskedOption& option : options) {
    int64_t sum = 1;
    for (const PodAsk& pod : option.pods) {
      const auto [at, is_new] = known.try_emplace({pod.space, pod.name});
      if (is_new) at->second = prices.price(pod.requests, hours(1));
      sum = std::min(sum + at->second, INT64_MAX / 4);
    }
    worth.push_back(sum);
  }
  const int64_t most = *std::max_element(worth.begin(), worth.end());
  std::vector<int64_t> need;
  for (size_t i = 0; i < options.size(); ++i) need.push_back(need_of(options[i], worth[i], most));
  const int64_t least = std::max<int64_t>(*std::min_element(need.begin(), need.end()), 1);
  for (int64_t& one : need) one = multiply_divide_up(one, 1000, least);
  return need;
}

std::string class_of_pod(const rank::Policy& policy, const PodAsk& pod) {
  rank::Workload work;
  work.kube_namespace = pod.space;
  work.labels = pod.labels;
  return rank::effective_policy(policy, work).workload_class;
}

// The classes of each option's pods, and the one that most pods are of, each counted once.
struct PodClasses {
  std::vector<std::set<std::string>> of_option;
  std::set<std::string> all;
  std::string most;
};

PodClasses classes_of(const rank::Policy& policy, const std::vector<AskedOption>& options) {
  PodClasses found;
  std::map<std::pair<std::string, std::string>, std::string> pods;
  for (const AskedOption& option : options) {
    std::set<std::string>& own = found.of_option.emplace_back();
    for (const PodAsk& pod : option.pods) {
      const auto [at, is_new] = pods.try_emplace({pod.space, pod.name});
      if (is_new) at->second = class_of_pod(policy, pod);
      own.insert(at->second);
    }
    found.all.insert(own.begin(), own.end());
  }
  std::map<std::string, int64_t> counts;
  for (const auto& [pod, name] : pods) counts[name] += 1;
  int64_t best = 0;
  for (const auto& [name, count] : counts) {
    if (count > best) found.most = name;
    best = std::max(best, count);
  }
  found.all.insert(found.most);
  return found;
}

}  // namespace

Verdict Advisor::choose(const std::vector<AskedOption>& asked, const demand::PodPrices& prices) {
  if (asked.empty()) return {};
  has_expander_ = true;
  const std::vector<int64_t> needed = needed_permilles(asked, prices);
  const PodClasses classes = classes_of(policy_, asked);
  std::map<OfferId, size_t> places;
  std::vector<rank::Option> options;
  for (size_t i = 0; i < asked.size(); ++i) {
    const demand::GroupState* group = ledger_.find(asked[i].group);
    if (group == nullptr || !places.emplace(asked[i].group, i).second) continue;
    rank::Option option = option_of(group->offer);
    option.needed_permille = needed[i];
    options.push_back(std::move(option));
  }
  // What the rules of any of its pods' classes bar is barred; the rest is ordered by the class that
  // most pods are of.
  const std::vector<rank::Holding> holdings = held();
  std::map<std::string, rank::Recommendation> told;
  for (const std::string& name : classes.all) {
    told[name] = rank::recommend(rank::policy_of_class(policy_, name), rank::Workload(), options,
                                 holdings, loop_.now());
  }
  Verdict verdict{{}, std::move(told.at(classes.most))};
  for (const auto& [name, other] : told) {
    if (name == classes.most) continue;
    for (const rank::Excluded& one : other.excluded) {
      if (!classes.of_option[places.at(one.offer)].contains(name)) continue;
      const auto removed = std::erase_if(verdict.told.choices, [&](const rank::Choice& choice) {
        return choice.offer == one.offer;
      });
      if (removed > 0) verdict.told.excluded.push_back(one);
    }
  }
  remember(asked, verdict, classes.most);
  if (verdict.told.choices.empty()) return verdict;
  verdict.best = places.at(verdict.told.choices.front().offer);
  return verdict;
}

// Of all that were asked about: what is bought next may be another than the best.
void Advisor::remember(const std::vector<AskedOption>& asked, const Verdict& verdict,
                       const std::string& workload_class) {
  const Instant now = loop_.now();
  std::erase_if(said_,
                [now](const auto& entry) { return now - entry.second.at >= k_choice_holds; });
  for (const AskedOption& option : asked) {
    if (ledger_.find(option.group) == nullptr) continue;
    said_.insert_or_assign(option.group, Said{workload_class, now, std::nullopt});
  }
  for (const rank::Excluded& one : verdict.told.excluded) said_.at(one.offer).refusal = one.why;
}

}  // namespace spillway::autoscaler
