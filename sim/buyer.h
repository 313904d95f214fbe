// A buyer whose needs come and go: queries, holds, confirms, renews, gives back unit by unit;
// forgets, vanishes, repeats itself, and now and then tries what it may not.
#pragma once

#include <map>

#include "sim/party.h"

namespace spillway::sim {

class SimBuyer : public Party {
 public:
  SimBuyer(Surroundings& around, Address at, model::Cluster cluster,
           const std::vector<OfferId>& offers);

  const model::Cluster& cluster() const { return cluster_; }

 private:
  enum class Stage { held, active };
  using Told = wire::Then<wire::ContractAnswer>;
  using Verb = std::function<void(Told)>;

  void begin() override;
  void end() override { signing_.reset(); }
  void on_certificate() override { begin_signing(); }
  void begin_signing();
  void sign(const ContractId& contract, Told then);
  void sign_oddly(const ContractId& contract, Told then);
  void repeat_event(const ContractId& contract);
  void act_later();
  void act();
  void on_event(const wire::EventBody& event) override;
  void hold();
  void on_held(const wire::HoldAnswer& answer);
  void next_step(const ContractId& contract);
  void keep_up(const ContractId& contract);
  void buy_spares(const ContractId& contract);
  void give_back(const ContractId& contract);
  void trespass();
  void look_at_offer();
  void look_at_invoice();
  void query();
  void ask(
      const Verb& verb, Told then = [](const Result<wire::ContractAnswer>&) {});
  model::Intent invent_intent();
  void check_ranking(const model::Intent& intent, const wire::QueryAnswer& ranking);
  bool sees(const OfferId& offer) const;
  const OfferId& pick_offer();

  model::Cluster cluster_;
  const std::vector<OfferId>& offers_;       // of the whole market, also what it may not see
  std::map<ContractId, Stage> mine_;         // in memory: a crash forgets it
  std::vector<OfferId> liked_;               // by the last query
  uint64_t keys_ = 0;                        // on disk: no key is used twice by accident
  std::unique_ptr<agent::Signing> signing_;  // null: it does not sign
};

}  // namespace spillway::sim
