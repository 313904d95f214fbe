// Autoscaler: what is remembered of what it did, and how that is told.
#include <algorithm>
#include <map>
#include <set>

#include "services/autoscaler/autoscaler.h"

namespace spillway::autoscaler {
namespace {

Announcement of_node(std::string name, std::string reason, std::string message) {
  return {Announcement::Kind::node, {}, std::move(name), {}, std::move(reason), std::move(message)};
}

constexpr size_t k_longest_gist = 200;

// The first few of what was ruled out, in a line.
std::string ruled_out(const rank::Recommendation& told) {
  constexpr size_t k_most_told = 3;
  std::string text;
  for (size_t i = 0; i < std::min(told.excluded.size(), k_most_told); ++i) {
    const rank::Excluded& one = told.excluded[i];
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", one.offer.text, one.why.sentence);
  }
  if (told.excluded.size() > k_most_told) {
    text += fmt::format("; and {} more", told.excluded.size() - k_most_told);
  }
  return text;
}

// The same as long as the same offers are ruled out for the same kinds of reasons.
std::string gist_of(const rank::Recommendation& told) {
  std::string text;
  for (const rank::Excluded& one : told.excluded) {
    if (text.size() > k_longest_gist) break;
    text += fmt::format("{} {};", one.offer.text, to_text(one.why.bar));
  }
  return text;
}

// What a pod's owner reads: the choice, what it beat, and what was out of the question.
std::string sentence_of(const Verdict& verdict) {
  const rank::Recommendation& told = verdict.told;
  if (!verdict.best) return "nothing may be bought: " + ruled_out(told);
  std::string text = to_text(told.choices.front(), told.currency);
  if (told.choices.size() > 1) {
    text += ". Next: " + to_text(told.choices[1], told.currency);
  }
  if (!told.excluded.empty()) text += ". Ruled out: " + ruled_out(told);
  return text;
}

std::string names_of_units(const model::Contract& contract, std::vector<std::string>& into) {
  std::string text;
  for (const model::Unit& unit : contract.units) {
    if (!unit.live || contract.is_spare(unit)) continue;
    into.push_back(unit_name(contract.id, unit.number));
    text += (text.empty() ? "" : ", ") + into.back();
  }
  return text;
}

}  // namespace

void Autoscaler::remember_try(const OfferId& group, bool is_failure) {
  const ClusterId provider{std::string(owner_of(group.text))};
  keeper_.ledger().remember(provider, advisor_.after_try(provider, is_failure));
  keeper_.touch();
}

void Autoscaler::note_bought(const model::Contract& contract) {
  if (contract.bought_units() == 0) return;  // spares
  counts_.bought += contract.bought_units();
  Decision decision{loop_.now(), {contract.offer.text, contract.id.text}, {}, {}};
  const std::string nodes = names_of_units(contract, decision.about);
  const std::string rate = to_text(Money{contract.rate, contract.price.currency});
  decision.headline = fmt::format("{} of {} bought at {} an hour each: {}", contract.bought_units(),
                                  contract.offer.text, rate, nodes);
  decisions_.add(std::move(decision));
  for (const model::Unit& unit : contract.units) {
    if (!unit.live || contract.is_spare(unit)) continue;
    audience_.tell(of_node(unit_name(contract.id, unit.number), "SpillwayBought",
                           fmt::format("a unit of {} at {} an hour, contract {}",
                                       contract.offer.text, rate, contract.id.text)));
  }
}

// Whoever finds it out, and whatever is still known of its contract.
void Autoscaler::lose(const OfferId& group, const demand::HeldUnit& unit,
                      const demand::Failure& failure) {
  if (unit.state == demand::UnitState::spare) {
    keeper_.ledger().failed(unit.contract, unit.number, failure, loop_.now());
    return keeper_.touch();
  }
  const std::string name = unit_name(unit.contract, unit.number);
  context_.log.write(
      services::Level::warning, "a unit is lost",
      {{"unit", name}, {"group", group.text}, {"code", failure.code}, {"why", failure.message}});
  counts_.lost += 1;
  if (failure.is_providers) remember_try(group, true);
  Announcement lost = of_node(name, "SpillwayLost", failure.message);
  lost.is_warning = true;
  audience_.tell(lost);
  decisions_.add({loop_.now(),
                  {group.text, unit.contract.text, name},
                  fmt::format("a unit of {} is lost: {}", group.text, failure.message),
                  {}});
  keeper_.ledger().failed(unit.contract, unit.number, failure, loop_.now());
  keeper_.touch();
}

void Autoscaler::note_choice(const std::vector<cluster_autoscaler::Option>& options,
                             const Verdict& verdict) {
  std::set<std::string> pods;
  for (const cluster_autoscaler::Option& option : options) {
    for (const auto& pod : option.pods) pods.insert(pod.space + "/" + pod.name);
  }
  Decision decision{loop_.now(), {}, {}, to_text(verdict.told)};
  if (verdict.best) decision.about.push_back(options[*verdict.best].group.text);
  decision.about.insert(decision.about.end(), pods.begin(), pods.end());
  const std::string sentence = sentence_of(verdict);
  // Pods of the best option hear what was chosen; that nothing may be, all do.
  std::map<std::pair<std::string_view, std::string_view>, const cluster_autoscaler::PodAsk*> told;
  for (size_t i = 0; i < options.size(); ++i) {
    if (verdict.best && i != *verdict.best) continue;
    for (const auto& pod : options[i].pods) told.try_emplace({pod.space, pod.name}, &pod);
  }
  for (const auto& [name, one] : told) {
    const cluster_autoscaler::PodAsk& pod = *one;
    audience_.tell({Announcement::Kind::pod, pod.space, pod.name, pod.uid,
                    verdict.best ? "SpillwayChose" : "SpillwayRefused", sentence, !verdict.best,
                    verdict.best ? options[*verdict.best].group.text : gist_of(verdict.told)});
  }
  decision.headline =
      verdict.best
          ? fmt::format("{} of {} chosen for {} pods", options[*verdict.best].nodes,
                        options[*verdict.best].group.text, options[*verdict.best].pods.size())
          : fmt::format("nothing may be bought for {} pods", pods.size());
  decisions_.add(std::move(decision));
}

// Whose pods a purchase was for nobody says: all that wait are told.
void Autoscaler::tell_pending(const std::string& why) {
  for (const PendingPod& pod : audience_.pending()) {
    audience_.tell({Announcement::Kind::pod, pod.space, pod.name, pod.uid, "SpillwayRefused",
                    "not bought: " + why, true});
  }
}

// Where the policy leaves nothing to buy, every group is as large as it may be: the Cluster
// Autoscaler asks nobody then, and says no more than that. So their pods are told here.
void Autoscaler::tell_pods_without_hope() {
  const std::vector<PendingPod> pods = audience_.pending();
  if (pods.empty()) return;
  std::map<std::string, rank::Recommendation> views;
  for (rank::Recommendation& view : advisor_.views(market_.seen(), 1, 0)) {
    std::string name = view.workload_class;
    views.emplace(std::move(name), std::move(view));
  }
  for (const PendingPod& pod : pods) {
    rank::Workload work;
    work.kube_namespace = pod.space;
    work.labels = pod.labels;
    const auto view = views.find(rank::effective_policy(advisor_.policy(), work).workload_class);
    if (!view->second.choices.empty() || view->second.excluded.empty()) continue;
    audience_.tell({Announcement::Kind::pod, pod.space, pod.name, pod.uid, "SpillwayRefused",
                    "nothing may be bought: " + ruled_out(view->second), true,
                    gist_of(view->second)});
  }
}

// Groups that are not ours are none of our business: who asks about nothing else gets no opinion.
std::vector<size_t> Autoscaler::choose(const std::vector<cluster_autoscaler::Option>& options) {
  std::vector<size_t> all;
  bool knows_any = false;
  for (size_t i = 0; i < options.size(); ++i) {
    knows_any = knows_any || ledger().find(options[i].group) != nullptr;
    all.push_back(i);
  }
  if (!knows_any) return all;
  counts_.choices += 1;
  const Verdict verdict = advisor_.choose(options, pod_prices_);
  note_choice(options, verdict);
  return verdict.best ? std::vector{*verdict.best} : std::vector<size_t>();
}

std::string Autoscaler::explain_group(const OfferId& id) const {
  std::string text;
  if (const demand::GroupState* group = ledger().find(id)) {
    text +=
        fmt::format("group {}: {} held or on their way, {} at most{}\n", id.text, group->target(),
                    group->most(), group->is_on_sale ? "" : "; nothing more is on sale to us");
    if (group->rests_until) {
      text +=
          fmt::format("      its provider has failed a unit: nothing is bought of it until {}\n",
                      to_text(*group->rests_until));
    }
  }
  for (const rank::Recommendation& view : advisor_.views(market_.seen(), 1, rank::k_explain_all)) {
    rank::Recommendation part{view.workload_class, view.currency, view.expect, {}, {}};
    size_t place = 0;
    for (size_t i = 0; i < view.choices.size(); ++i) {
      if (view.choices[i].offer != id) continue;
      part.choices.push_back(view.choices[i]);
      place = i + 1;
    }
    for (const rank::Excluded& one : view.excluded) {
      if (one.offer == id) part.excluded.push_back(one);
    }
    const std::string whose =
        view.workload_class.empty() ? "by the policy" : "for class " + view.workload_class;
    if (place > 0) text += fmt::format("{}: place {} of {}\n", whose, place, view.choices.size());
    if (!part.excluded.empty()) text += whose + ": ruled out\n";
    // Its first line counts all offers, and this is one of them.
    if (place > 0 || !part.excluded.empty()) {
      const std::string whole = to_text(part);
      text += whole.substr(whole.find('\n') + 1);
    }
  }
  return text;
}

std::string Autoscaler::explain_node(const std::string& name) const {
  const auto id = ledger().group_of({name, name});
  if (!id) return {};
  for (const demand::HeldUnit& unit : ledger().find(*id)->units) {
    const bool is_it = unit_name(unit.contract, unit.number) == name ||
                       unit_provider_id(unit.contract, unit.number) == name;
    if (!is_it) continue;
    std::string text = fmt::format(
        "node {}: unit {} of contract {}, group {}\n      {} since {}, {} an hour{}\n",
        unit_name(unit.contract, unit.number), unit.number, unit.contract.text, id->text,
        demand::to_text(unit.state), to_text(unit.since),
        to_text(Money{unit.use.rate, unit.use.currency}),
        unit.use.workload_class.empty() ? "" : ", for class " + unit.use.workload_class);
    if (unit.failure)
      text += fmt::format("      {}: {}\n", unit.failure->code, unit.failure->message);
    // Why this group was taken, as long as it is remembered.
    for (const Decision* decision : decisions_.about(id->text)) {
      if (decision->why.empty() || decision->at > unit.use.started) continue;
      text += to_text(*decision);
      break;
    }
    return text;
  }
  return fmt::format("node {}: asked for, of group {}; what came of it is not known yet\n", name,
                     id->text);
}

std::string Autoscaler::explain(const std::string& name) const {
  constexpr size_t k_most_told = 10;
  std::string text = explain_node(name) + explain_group(OfferId(name));
  const auto decided = decisions_.about(name);
  if (!decided.empty()) text += "\ndecided, the latest first\n";
  for (size_t i = 0; i < std::min(decided.size(), k_most_told); ++i) text += to_text(*decided[i]);
  return text;
}

}  // namespace spillway::autoscaler
