#include "cli/demo_trade.h"

#include <algorithm>

#include "cli/asking.h"
#include "cli/demo_say.h"

namespace spillway::cli {
namespace {

constexpr int64_t k_usd = 1'000'000;

model::Intent intent_of(int64_t cpus) {
  model::Intent intent;
  intent.shape.cpu_millis = cpus * 1000;
  intent.shape.memory_bytes = int64_t{4} << 30;
  intent.currency = Currency{{'U', 'S', 'D'}};
  model::Place turin;
  turin.latitude_microdegrees = 45'070'312;
  turin.longitude_microdegrees = 7'686'856;
  intent.near = turin;
  return intent;
}

}  // namespace

Pod web_pod(const std::string& name) {
  Pod pod{name, "2 cpu, at most 2500 km away; 1000 km less are worth 2 USD/h", intent_of(2)};
  pod.intent.constraints.max_distance_metres = 2'500'000;
  pod.intent.worth.distance_1000km = 2 * k_usd;
  return pod;
}

Pod batch_pod() { return {"batch", "4 cpu in one piece", intent_of(4)}; }

Pod report_pod() {
  Pod pod{"report", "2 cpu; a kilogram of CO2e less is worth 1000 USD", intent_of(2)};
  pod.intent.worth.carbon_kg = 1000 * k_usd;
  return pod;
}

Pod archive_pod() { return {"archive", "2 cpu, as cheap as can be", intent_of(2)}; }

Result<wire::QueryAnswer> Trade::ask(const model::Intent& intent) {
  const auto buyer = federation_.as(k_buyer);
  if (!buyer) return tl::unexpected(buyer.error());
  wire::QueryRequest request;
  request.intent = intent;
  request.explain = true;
  return (*buyer)->ask(&wire::BrokerClient::query, request);
}

Result<ContractId> Trade::hold(const Pod& pod, const wire::Candidate& best) {
  const auto buyer = federation_.as(k_buyer);
  if (!buyer) return tl::unexpected(buyer.error());
  wire::HoldRequest request;
  request.lines = {{best.offer, 1, 1}};
  const auto granted = (*buyer)->ask(&wire::BrokerClient::hold, "demo-" + pod.name, request);
  if (!granted) return tl::unexpected(granted.error());
  if (granted->grants.size() != 1) {
    return fail(Code::internal, pod.name, "one grant was expected", "report this");
  }
  return granted->grants.front().contract;
}

Status Trade::confirm(const ContractId& id, const wire::Candidate& best, double held_ms) {
  const auto buyer = federation_.as(k_buyer);
  if (!buyer) return tl::unexpected(buyer.error());
  const auto near = federation_.ear_of(k_buyer);
  if (!near) return tl::unexpected(near.error());
  const auto away = federation_.ear_of(best.provider.text);
  if (!away) return tl::unexpected(away.error());
  const auto all = federation_.ear_of(k_operator);
  if (!all) return tl::unexpected(all.error());

  const Moment begun = clock_now();
  const auto active = (*buyer)->ask(&wire::BrokerClient::confirm, id);
  const Moment done = clock_now();
  if (!active) return tl::unexpected(active.error());
  const auto provider = (*away)->heard("contract-confirmed", id.text, begun);
  if (!provider) return tl::unexpected(provider.error());
  const auto consumer = (*near)->heard("contract-confirmed", id.text, begun);
  if (!consumer) return tl::unexpected(consumer.error());
  const auto carried = (*all)->heard("pool-published", best.pool.text, begun);
  if (!carried) return tl::unexpected(carried.error());
  const std::string_view name = best.provider.text;
  say("    held in {:.1f} ms, confirmed in {:.1f} ms\n", held_ms, ms_between(begun, done));
  say("    {} hears in {:.1f} ms, edge in {:.1f} ms; {}'s agent reports it in {:.0f} ms\n", name,
      ms_between(begun, *provider), ms_between(begun, *consumer), name,
      ms_between(begun, *carried));
  return {};
}

Status Trade::take(const Pod& pod) {
  breathe();
  say("  {}: {}\n", pod.name, pod.wish);
  const auto told = ask(pod.intent);
  if (!told) return tl::unexpected(told.error());
  say("{}", choice_text(*told));
  if (told->candidates.empty()) {
    return fail(Code::taken, pod.name, "nothing on sale serves it", "report this");
  }
  const wire::Candidate& best = told->candidates.front();
  const Moment begun = clock_now();
  const auto contract = hold(pod, best);
  if (!contract) return tl::unexpected(contract.error());
  SPILLWAY_TRY(confirm(*contract, best, ms_between(begun, clock_now())));
  held_.push_back({pod.name, *contract, best.offer, best.provider});
  return {};
}

Result<std::vector<model::Contract>> Trade::contracts() {
  const auto buyer = federation_.as(k_buyer);
  if (!buyer) return tl::unexpected(buyer.error());
  auto page =
      all_pages(**buyer, &wire::BrokerClient::list_contracts, &wire::ContractPage::contracts);
  if (!page) return tl::unexpected(page.error());
  return std::move(page->contracts);
}

Status Trade::give_back(const Held& held) {
  const auto buyer = federation_.as(k_buyer);
  if (!buyer) return tl::unexpected(buyer.error());
  const auto away = federation_.ear_of(held.provider.text);
  if (!away) return tl::unexpected(away.error());
  const Moment begun = clock_now();
  const auto released =
      (*buyer)->ask(&wire::BrokerClient::release, held.contract, wire::ReleaseRequest{});
  const Moment done = clock_now();
  if (!released) return tl::unexpected(released.error());
  const auto heard = (*away)->heard("contract-closed", held.contract.text, begun);
  if (!heard) return tl::unexpected(heard.error());
  say("  {:<8} gives {:<6} its unit back in {:.1f} ms; {} hears of it after {:.1f} ms\n", held.pod,
      held.provider.text, ms_between(begun, done), held.provider.text, ms_between(begun, *heard));
  return {};
}

Status Trade::give_back_all() {
  while (!held_.empty()) {
    SPILLWAY_TRY(give_back(held_.back()));
    ended_.push_back(held_.back());
    held_.pop_back();
  }
  return {};
}

Status Trade::tell_bill() {
  const auto buyer = federation_.as(k_buyer);
  if (!buyer) return tl::unexpected(buyer.error());
  say("  {:<10}{:<14}{:>9}{:>12}{:>14}\n", "POD", "SELLER", "SECONDS", "USD/h", "CHARGED USD");
  int64_t total = 0;
  Duration least;
  for (const Held& held : ended_) {
    const auto seen = (*buyer)->ask(&wire::BrokerClient::get_contract, held.contract);
    if (!seen) return tl::unexpected(seen.error());
    const model::Contract& contract = seen->contract;
    const model::Unit& unit = contract.units.front();
    if (!contract.started || !unit.ended) {
      return fail(Code::internal, held.pod, "it has not ended", "report this");
    }
    total += unit.charged;
    least = std::max(least, contract.price.minimum_term);
    say("  {:<10}{:<14}{:>9.1f}{:>12}{:>14}\n", held.pod, held.provider.text,
        static_cast<double>((*unit.ended - *contract.started).ms) / 1e3, usd(contract.rate),
        micros_to_text(unit.charged));
  }
  say("  {:<45}{:>14}\n", "in all", micros_to_text(total));
  say("  Each is charged for {} at least: that is its minimum term.\n", to_text(least));
  return {};
}

}  // namespace spillway::cli
