// AgentDealings: a Fabric's contracts as its agent has them: rows of the book that both sides have
// signed for, offers from the broker, pins from the operator's papers, words over the relay.
#pragma once

#include <map>

#include "host/lifeline.h"
#include "services/agent/context.h"
#include "services/agent/messages.h"
#include "services/fabric/dealings.h"

namespace spillway::agent {

class AgentDealings final : public Dealings {
 public:
  static constexpr size_t k_most_waiting = 4;  // of one contract, for a broker that is away

  AgentDealings(Context& context, Messages& messages) : context_(context), messages_(messages) {}

  const std::map<ContractId, model::Contract>& contracts() const override;
  bool is_bought(const model::Contract& contract) const override;
  const model::LiqoPart* part(const ContractId& contract) const override;
  const std::vector<int32_t>* purchased(const ContractId& contract) const override;
  void find_offer(const model::Contract& contract,
                  std::function<void(const Result<model::Offer>&)> then) override;
  void read_pins(std::function<void(const Result<std::set<ClusterId>>&)> then) override;

  FabricState& state() override { return context_.state().fabric; }
  void touch() override { context_.keeper.touch(); }
  void flush(std::function<void()> then) override { context_.keeper.flush(std::move(then)); }

  Status say(const fabric::Say& said) override;
  void hear(const std::string& step, Hear hear) override { messages_.hear(step, std::move(hear)); }

 private:
  using ThenOffer = std::function<void(const Result<model::Offer>&)>;
  void ask_offer(const ContractId& contract, const OfferId& offer, const ThenOffer& then);

  Context& context_;
  Messages& messages_;
  std::map<ContractId, Attempt> offers_;  // asked for
  host::Lifeline life_;
};

}  // namespace spillway::agent
