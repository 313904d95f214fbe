// A provider whose owner writes its supply down, and changes his mind about it.
#pragma once

#include <set>
#include <vector>

#include "sim/provider.h"

namespace spillway::sim {

class OwnerProvider final : public SimProvider {
 public:
  OwnerProvider(Surroundings& around, Address at, const std::string& name,
                const std::vector<ClusterId>& friends);

  std::vector<OfferId> offer_ids() const override;

 private:
  std::optional<agent::Supply> first_supply() override;
  void on_agent_started() override;
  void change_something() override;
  void check_supply() override;
  void invent(const std::vector<ClusterId>& friends);
  model::Offer invent_offer(const model::Pool& pool, int number,
                            const std::vector<ClusterId>& friends);
  agent::Supply supply() const;

  // What the owner has written down.
  std::vector<model::Pool> pools_;
  std::vector<model::Offer> offers_;
  std::set<PoolId> pools_off_;
  std::set<OfferId> offers_off_;
};

}  // namespace spillway::sim
