#include "services/driver/driver_dealings.h"

#include <algorithm>
#include <utility>

#include "services/driver/orders.h"

namespace spillway::driver {

void DriverDealings::look() {
  contracts_.clear();
  for (const auto& [id, contract] : book_.contracts) {
    const bool is_ours = contract.buyer.text == cluster_ || contract.provider.text == cluster_;
    if (is_ours) contracts_.emplace(id, contract);
  }
}

const model::LiqoPart* DriverDealings::part(const ContractId& contract) const {
  const auto found = book_.parts.find(contract);
  return found == book_.parts.end() ? nullptr : &found->second;
}

const std::vector<int32_t>* DriverDealings::purchased(const ContractId& contract) const {
  const auto found = book_.purchases.find(contract);
  return found == book_.purchases.end() ? nullptr : &found->second;
}

void DriverDealings::find_offer(const model::Contract& contract,
                                std::function<void(const Result<model::Offer>&)> then) {
  loop_.post(life_.guard(
      [then = std::move(then), offer = offer_of(contract, order_of(book_.state, contract.id))] {
        then(offer);
      }));
}

// Labels of the order count before those that every unit has.
void DriverDealings::dress(fabric::Purchase& purchase) const {
  const UnitOrder* order = order_of(book_.state, purchase.contract);
  if (order == nullptr) return;
  for (const model::Label& label : order->labels) {
    if (purchase.labels.contains(label.key)) purchase.labels[label.key] = label.value;
  }
  for (const auto& [key, value] : order->annotations) purchase.annotations[key] = value;
  for (fabric::BoughtUnit& unit : purchase.units) {
    const auto record = book_.state.units.find(unit.name);
    if (record == book_.state.units.end() || record->second.order.provider_id.empty()) continue;
    unit.provider_id = record->second.order.provider_id;
  }
}

// Whoever lists two clusters in one file has pinned them.
void DriverDealings::read_pins(std::function<void(const Result<std::set<ClusterId>>&)> then) {
  then(calls_.clusters());
}

Status DriverDealings::say(const fabric::Say& said) {
  const auto contract = contracts_.find(said.contract);
  if (contract == contracts_.end()) {
    return fail(Code::not_found, "contract " + said.contract.text, "it is over", "");
  }
  const bool is_ours = contract->second.buyer.text == cluster_;
  const std::string other = (is_ours ? contract->second.provider : contract->second.buyer).text;
  // Never from within: whoever hears it may answer at once.
  loop_.post(life_.guard([this, other, said] { calls_.hand_over(other, said); }));
  return {};
}

void DriverDealings::deliver(const fabric::Say& said) {
  const auto found = hears_.find(said.step);
  if (found != hears_.end()) found->second({said.contract, said.step, 0, said.body});
}

}  // namespace spillway::driver
