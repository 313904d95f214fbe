#include "services/agent/agent_dealings.h"

#include <algorithm>
#include <utility>

namespace spillway::agent {

const std::map<ContractId, model::Contract>& AgentDealings::contracts() const {
  return context_.keeper.state().contracts;
}

bool AgentDealings::is_bought(const model::Contract& contract) const {
  return contract.buyer == context_.options.cluster;
}

const model::LiqoPart* AgentDealings::part(const ContractId& contract) const {
  const model::Agreement* agreement = messages_.agreement(contract);
  const bool is_liqos = agreement != nullptr && agreement->fabric.liqo;
  return is_liqos ? &*agreement->fabric.liqo : nullptr;
}

const std::vector<int32_t>* AgentDealings::purchased(const ContractId& contract) const {
  return messages_.purchased(contract);
}

void AgentDealings::find_offer(const model::Contract& contract, ThenOffer then) {
  ask_offer(contract.id, contract.offer, then);
}

void AgentDealings::ask_offer(const ContractId& contract, const OfferId& offer,
                              const ThenOffer& then) {
  context_.client.get_offer(
      offer, life_.guard([this, contract, offer, then](const Result<wire::OfferRow>& told) {
        if (!contracts().contains(contract)) {
          offers_.erase(contract);
          return;
        }
        if (told || told.error().code == Code::not_found) {
          offers_.erase(contract);
          return then(told.map([](const wire::OfferRow& row) { return row.offer; }));
        }
        Attempt& attempt = offers_[contract];
        attempt.fail(context_, "an offer cannot be had", told.error());
        context_.loop.after(
            std::max(attempt.due - context_.now(), Duration{}),
            life_.guard([this, contract, offer, then] { ask_offer(contract, offer, then); }));
      }));
}

void AgentDealings::read_pins(std::function<void(const Result<std::set<ClusterId>>&)> then) {
  if (context_.options.papers == nullptr) return then(std::set<ClusterId>());
  context_.options.papers->read_trust(
      life_.guard([then = std::move(then)](const Result<TrustBook>& book) {
        if (!book) return then(tl::unexpected(book.error()));
        std::set<ClusterId> pinned;
        for (const auto& [cluster, pin] : book->pins) {
          if (pin.how == model::Trust::given) pinned.insert(cluster);
        }
        then(pinned);
      }));
}

Status AgentDealings::say(const fabric::Say& said) {
  const auto& all = context_.keeper.state().mailbox.contracts;
  const auto found = all.find(said.contract);
  if (found != all.end() && found->second.unsent.size() >= k_most_waiting) {
    return spillway::fail(Code::over_quota, "contract " + said.contract.text,
                          "much is to be said on it already", "wait until the broker has it");
  }
  const Duration left = said.worthless - context_.now();
  if (left <= Duration{}) {
    return spillway::fail(Code::stale, "contract " + said.contract.text,
                          "what was to be said on it is worth nothing any more", "");
  }
  return messages_.send(said.contract, said.step, said.body, std::min(left, k_longest_message_ttl))
      .map([](int64_t) {});
}

}  // namespace spillway::agent
