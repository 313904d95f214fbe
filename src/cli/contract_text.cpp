#include "cli/contract_text.h"

#include <iterator>

#include "cli/offer_text.h"
#include "cli/safe_text.h"
#include "market/metering.h"
#include "market/outage.h"

namespace spillway::cli {
namespace {

// When the present state ends by itself, and how.
std::string ends(const model::Contract& contract, const Clock& clock) {
  switch (contract.state) {
    case model::ContractState::hold:
      return "hold expires " + clock(contract.deadline);
    case model::ContractState::active:
      return "lease ends " + clock(contract.deadline);
    case model::ContractState::closing:
      return "closes " + clock(contract.deadline);
    case model::ContractState::closed:
      return std::string(to_text(contract.reason));
  }
  return {};
}

std::string units_text(const model::Contract& contract) {
  const int32_t spares = contract.live_units() - contract.bought_units();
  const std::string units = fmt::format("{}/{}", contract.bought_units(), contract.units.size());
  return spares == 0 ? units : fmt::format("{} +{} spare", units, spares);
}

std::string rate_text(const model::Contract& contract) {
  return micros_to_text(contract.rate) + " " + contract.price.currency.text();
}

// Until when a live unit is paid for whatever its buyer does.
std::string paid_text(const model::Contract& contract, const Clock& clock) {
  const auto until = market::paid_anyway_until(contract);
  if (!until || *until <= clock.now) return {};
  const bool is_metered = contract.price.basis == model::PriceBasis::pay_per_use;
  return fmt::format(
      "minimum term ends {}; until then holding it costs nothing more{}, after that "
      "{} per unit-hour{}",
      clock(*until), is_metered ? " than what is used" : "", rate_text(contract),
      is_metered ? " at most" : "");
}

Table units_table(const model::Contract& contract, const Clock& clock) {
  const bool metered = contract.price.basis == model::PriceBasis::pay_per_use;
  std::vector<Column> columns{{"UNIT", Align::right},
                              {"STATE"},
                              {"MARGINAL/H", Align::right},
                              {"CHARGED", Align::right},
                              {"NODE"}};
  if (metered) columns.push_back({"METERED"});
  Table units(std::move(columns));
  for (const model::Unit& unit : contract.units) {
    std::vector<std::string> cells{
        fmt::format("{}", unit.number),
        unit.live ? std::string(contract.is_spare(unit) ? "spare" : "live")
                  : "ended " + clock(unit.ended),
        unit.live ? micros_to_text(market::marginal_rate(contract, unit, clock.now))
                  : std::string(),
        unit.live ? std::string() : micros_to_text(unit.charged),
        unit_name(contract.id, unit.number)};
    if (metered) cells.push_back(to_text(unit.metered));
    units.add(std::move(cells));
  }
  return units;
}

}  // namespace

Table contracts_table(const std::vector<model::Contract>& contracts, const Clock& clock) {
  Table table({{"CONTRACT"},
               {"STATE"},
               {"UNITS", Align::right},
               {"RATE/H", Align::right},
               {"OFFER"},
               {"BUYER"},
               {"ENDS"}});
  for (const model::Contract& contract : contracts) {
    table.add({contract.id.text, std::string(to_text(contract.state)), units_text(contract),
               rate_text(contract), contract.offer.text, contract.buyer.text,
               ends(contract, clock)});
  }
  return table;
}

std::string contract_text(const model::Contract& contract, const Clock& clock) {
  Facts facts;
  facts.add("contract", contract.id.text);
  facts.add("state", std::string(to_text(contract.state)) + ", " + ends(contract, clock));
  if (contract.is_live()) {
    facts.add("ends no later than",
              clock(market::ends_no_later_than(contract)) + ", however long the broker is silent");
  }
  facts.add("offer", contract.offer.text);
  facts.add("provider", contract.provider.text);
  facts.add("buyer", contract.buyer.text);
  facts.add("unit", to_text(contract.shape));
  facts.add(
      "rate",
      rate_text(contract) + " per unit-hour" +
          (contract.price.basis == model::PriceBasis::pay_per_use ? " at most, paid per use" : ""));
  facts.add("paid anyway", paid_text(contract, clock));
  facts.add("created", clock(contract.created));
  facts.add("started", clock(contract.started));
  facts.add("terms", terms_text(contract.terms));
  facts.add("agreement", contract.agreement.empty() ? "unsigned" : contract.agreement);
  return facts.text() + "\n" + units_table(contract, clock).text();
}

std::string grants_text(const wire::HoldAnswer& told, const Clock& clock) {
  std::string text;
  for (const market::Grant& grant : told.grants) {
    fmt::format_to(std::back_inserter(text),
                   "Held {} of {} as contract {}, at {} {} per unit-hour; expires {}.\n",
                   grant.units, safe(grant.offer.text), safe(grant.contract.text),
                   micros_to_text(grant.rate), safe(grant.currency.text()),
                   clock(grant.hold_until));
  }
  return text;
}

}  // namespace spillway::cli
