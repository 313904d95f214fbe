// Autoscaler: what is remembered of what it did, and how that is told.
#include <set>

#include "services/autoscaler/autoscaler.h"

namespace spillway::autoscaler {
namespace {

// Only what the provider did counts against it: what was not renewed in time may be our own fault,
// and a node that our own cluster refuses is.
bool is_providers_doing(const demand::Failure& failure) {
  return failure.code == "notice" || failure.code == "reclaimed" || failure.code == "node-dead";
}

std::string names_of_units(const model::Contract& contract, std::vector<std::string>& into) {
  std::string text;
  for (const model::Unit& unit : contract.units) {
    if (!unit.live) continue;
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
  Decision decision{loop_.now(), {contract.offer.text, contract.id.text}, {}, {}};
  const std::string nodes = names_of_units(contract, decision.about);
  decision.headline = fmt::format("{} of {} bought at {} an hour each: {}", contract.live_units(),
                                  contract.offer.text,
                                  to_text(Money{contract.rate, contract.price.currency}), nodes);
  decisions_.add(std::move(decision));
}

void Autoscaler::note_lost(const model::Contract& contract, const demand::Failure& failure) {
  if (is_providers_doing(failure)) remember_try(contract.offer, true);
  Decision decision{loop_.now(), {contract.offer.text, contract.id.text}, {}, {}};
  names_of_units(contract, decision.about);
  decision.headline = fmt::format("a unit of {} is lost: {}", contract.offer.text, failure.message);
  decisions_.add(std::move(decision));
}

void Autoscaler::note_choice(const std::vector<cluster_autoscaler::Option>& options,
                             const Verdict& verdict) {
  std::set<std::string> pods;
  for (const cluster_autoscaler::Option& option : options) {
    for (const auto& pod : option.pods) pods.insert(pod.space + "/" + pod.name);
  }
  Decision decision{loop_.now(), {}, {}, to_text(verdict.told)};
  decision.about.push_back(verdict.best ? options[*verdict.best].group.text : std::string());
  decision.about.insert(decision.about.end(), pods.begin(), pods.end());
  decision.headline =
      verdict.best
          ? fmt::format("{} of {} chosen for {} pods", options[*verdict.best].nodes,
                        options[*verdict.best].group.text, options[*verdict.best].pods.size())
          : fmt::format("nothing may be bought for {} pods", pods.size());
  decisions_.add(std::move(decision));
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
  const Verdict verdict = advisor_.choose(options, market_.seen(), pod_prices_);
  note_choice(options, verdict);
  return verdict.best ? std::vector{*verdict.best} : std::vector<size_t>();
}

std::string Autoscaler::explain_group(const OfferId& id) const {
  std::string text;
  if (const demand::GroupState* group = ledger().find(id)) {
    text +=
        fmt::format("group {}: {} held or on their way, {} at most{}\n", id.text, group->target(),
                    group->most(), group->is_on_sale ? "" : "; nothing more is on sale to us");
  }
  for (const rank::Recommendation& view : advisor_.views(market_.seen(), rank::k_explain_all)) {
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
    if (place > 0 || !part.excluded.empty()) text += to_text(part);
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
