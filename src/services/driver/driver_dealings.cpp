#include "services/driver/driver_dealings.h"

#include <algorithm>
#include <utility>

#include "demand/node_image.h"
#include "model/reserved.h"
#include "services/driver/orders.h"

namespace spillway::driver {
namespace {

// Of our own labels those two are of a node's image alone: an autoscaler that orders by this driver
// must find them on the node, or it takes that for another than it has bought.
bool is_for_node(const model::Label& label) {
  return label.key == demand::k_offer_label || label.key == demand::k_gpu_label ||
         !model::is_reserved_label(label.key);
}

}  // namespace

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

// Labels of the order count before those that every unit has. What others act on stays in the
// order, where whoever gave it finds it again: on the Node, an annotation of an autoscaler's would
// make it one of those that another back end made and may remove.
void DriverDealings::dress(fabric::Purchase& purchase) const {
  const UnitOrder* order = order_of(book_.state, purchase.contract);
  if (order == nullptr) return;
  for (const model::Label& label : order->labels) {
    if (is_for_node(label)) purchase.labels[label.key] = label.value;
  }
  for (const auto& [key, value] : order->annotations) {
    if (!model::is_reserved_annotation(key)) purchase.annotations[key] = value;
  }
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
