// Readings of what units have used, by their provider, while they run.
#include <algorithm>

#include "base/text.h"
#include "market/metering.h"
#include "market/mutants.h"
#include "market/signing.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

using model::Contract;
using model::ContractState;
using model::MeteredUse;

std::string unit_of(const Contract& contract, int32_t number) {
  return fmt::format("contract {}, unit {}", contract.id.text, number);
}

Status check_is_metered(const Contract& contract) {
  const std::string thing = "contract " + contract.id.text;
  if (contract.price.basis != model::PriceBasis::pay_per_use) {
    return fail(Code::conflict, thing, "it is paid for by time, whatever is used",
                "meter contracts whose price has the basis pay-per-use");
  }
  if (contract.state == ContractState::hold) {
    return fail(Code::conflict, thing, "it is a hold, and nothing runs yet",
                "meter it once it is active");
  }
  if (contract.is_live()) return {};
  return fail(Code::gone, thing, "it is closed, and what it came to is settled",
              "read its units before they end");
}

bool names_all(const model::Counts& shape, const model::Counts& used) {
  return std::all_of(used.begin(), used.end(), [&](const model::Count& one) {
    return std::any_of(shape.begin(), shape.end(),
                       [&](const model::Count& has) { return has.name == one.name; });
  });
}

Status check_reading(const Contract& contract, const MeteredUse& reading) {
  const auto units = static_cast<int32_t>(contract.units.size());
  if (reading.unit >= units) {
    return fail(Code::invalid, "contract " + contract.id.text,
                fmt::format("it has no unit {}", reading.unit),
                fmt::format("its units are 0 to {}", units - 1));
  }
  const model::Unit& unit = contract.units[static_cast<size_t>(reading.unit)];
  if (!unit.live) {
    return fail(Code::gone, unit_of(contract, reading.unit),
                "it has ended, and what it came to is settled", "read the units that live");
  }
  if (contract.is_spare(unit)) {
    return fail(Code::conflict, unit_of(contract, reading.unit),
                "it is a spare, which uses nothing", "read the units that were bought");
  }
  if (!names_all(contract.shape.gpus, reading.use.gpu_ms) ||
      !names_all(contract.shape.extended, reading.use.extended_ms)) {
    return fail(Code::invalid, unit_of(contract, reading.unit),
                "the reading names a resource that it does not have",
                "its shape is " + to_text(contract.shape));
  }
  return {};
}

// What counts of a reading. Refused when it is less than what counted before.
Result<model::Use> use_counted(const Contract& contract, const MeteredUse& reading, Instant now) {
  const model::Unit& unit = contract.units[static_cast<size_t>(reading.unit)];
  const Duration time = paid_end(contract, now) - *contract.paid_from(unit);
  model::Use counted = reading.use;
  if (!mutant(Mutant::meter_beyond)) {
    counted = least(counted, whole_use(contract.shape, time));
  }
  if (counted.covers(unit.metered) || mutant(Mutant::meter_backwards)) return counted;
  return fail(Code::stale, unit_of(contract, reading.unit),
              fmt::format("{} is less than {}, which was metered before", to_text(reading.use),
                          to_text(unit.metered)),
              "send what was metered since the start of the unit, in all");
}

Status check_signed(const Contract& contract, const MeterUsage& command) {
  if (!command.event || command.event->event.used == command.used) return {};
  return fail(Code::conflict, "contract " + contract.id.text,
              "the usage that was signed has other readings", "sign the readings that you send");
}

// Whether any reading says something new.
Result<bool> take_readings(Contract& contract, const std::vector<MeteredUse>& used, Instant now) {
  bool changed = false;
  for (const MeteredUse& reading : used) {
    if (auto checked = check_reading(contract, reading); !checked) {
      return tl::unexpected(std::move(checked).error());
    }
    auto counted = use_counted(contract, reading, now);
    if (!counted) return tl::unexpected(std::move(counted).error());
    model::Unit& unit = contract.units[static_cast<size_t>(reading.unit)];
    changed = changed || unit.metered != *counted;
    unit.metered = std::move(*counted);
  }
  return changed;
}

std::string readings_text(const Contract& contract, const std::vector<MeteredUse>& used) {
  if (used.size() > 1) return fmt::format("{} units", used.size());
  const int32_t number = used.front().unit;
  return fmt::format("unit {}: {}", number,
                     to_text(contract.units[static_cast<size_t>(number)].metered));
}

}  // namespace

Result<Answer> run(Workspace& workspace, const MeterUsage& command, const Context& context) {
  SPILLWAY_TRY(model::check_readings("used", command.used));
  auto found = contract_of(workspace, command.provider, Side::provider, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  Contract& contract = *found;
  SPILLWAY_TRY(check_not_revoked(workspace, command.provider));
  SPILLWAY_TRY(check_is_metered(contract));
  SPILLWAY_TRY(check_signed(contract, command));
  const auto changed = take_readings(contract, command.used, context.now);
  if (!changed) return tl::unexpected(changed.error());
  // What says nothing new is no event, signed or not: its answer was lost.
  if (!*changed) return answer_with(std::move(contract));
  SPILLWAY_TRY(take_event(workspace, contract, command.provider, model::ContractEventKind::usage,
                          command.event));
  workspace.emit(event_on(contract, EventKind::usage_metered, context.now,
                          readings_text(contract, command.used)));
  workspace.put(key_of(contract.id), contract);
  return answer_with(std::move(contract));
}

}  // namespace spillway::market
