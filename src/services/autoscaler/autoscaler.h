// Autoscaler: serves the Cluster Autoscaler's calls from the market: offers are its node groups,
// units of contracts its nodes. What it does follows from the ledger, which is saved before the
// broker is asked for anything, so it can be killed at any time and goes on where it was.
//
// It has no thread, no file, no clock of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster_autoscaler/cloud_provider.h"
#include "demand/prices.h"
#include "host/alarm.h"
#include "host/lifeline.h"
#include "rank/profiles.h"
#include "services/autoscaler/advisor.h"
#include "services/autoscaler/asks.h"
#include "services/autoscaler/audience.h"
#include "services/autoscaler/decisions.h"
#include "services/autoscaler/holdings.h"
#include "services/autoscaler/ledger_keeper.h"
#include "services/autoscaler/market_view.h"
#include "services/autoscaler/node_maker.h"
#include "services/autoscaler/round_trips.h"
#include "services/autoscaler/spare_keeper.h"
#include "services/autoscaler/units.h"

namespace spillway::autoscaler {

struct AutoscalerOptions {
  ClusterId cluster;
  rank::Policy policy = rank::policy_of(rank::Profile::cheapest, {});
  int32_t best_of_class = 5;
  Audience* audience = nullptr;         // null: nobody listens; else it outlives the autoscaler
  Duration unready_after = minutes(1);  // a running unit is dead whose node is not Ready so long
  RoundTrips::Measure measure = {};     // none: nothing is measured
  // Both, for a member that signs.
  std::optional<agent::Signatory> signatory = {};
  agent::Papers* papers = nullptr;          // outlive it
  agent::Signing::FabricOf fabric_of = {};  // what a purchase asks for, if the fabric makes nodes
};

struct AutoscalerStatus {
  bool is_connected = false;  // the broker's events are followed
  bool is_market_known = false;
  int64_t groups = 0;
  int64_t target = 0;  // of all groups
  int64_t running = 0;
  int64_t failed = 0;
  int64_t spares = 0;
  int64_t rate = 0;  // micro-units an hour, of all that is held
  // Since it was started.
  int64_t bought = 0;   // units
  int64_t lost = 0;     // units that others ended, or whose node died
  int64_t refused = 0;  // asked for, and forbidden by the policy
  int64_t choices = 0;  // questions of the expander
};

class Autoscaler final : public cluster_autoscaler::Provider, public cluster_autoscaler::Chooser {
 public:
  // The Cluster Autoscaler waits 5 s. Whatever is not known by then it is told so, and hears of
  // what came of it by the group's target.
  static constexpr Duration k_answer_within = milliseconds(3500);

  Autoscaler(host::Loop& loop, host::Random& random, net::Channel& broker, agent::StateStore& store,
             NodeMaker& maker, services::Log& log, AutoscalerOptions options);

  Status start();              // once
  void credentials_changed();  // whoever was turned away tries again now
  // Saves, and calls when that is done. Nothing is given back.
  void stop(std::function<void()> done);
  AutoscalerStatus status() const;
  void set_policy(rank::Policy policy);  // from now on; what is held stays
  // What is known of a node, a pod ("namespace/name") or a group, and why it came to be; empty:
  // nothing is.
  std::string explain(const std::string& name) const;

  const demand::Ledger& ledger() const override { return keeper_.ledger(); }
  void refresh() override;
  void increase(const OfferId& group, int32_t delta, Then then) override;
  void remove(const OfferId& group, std::vector<demand::NodeRef> nodes, Then then) override;
  void cancel(const OfferId& group, int32_t delta, Then then) override;
  Result<int64_t> node_price(const model::Labels& labels, const std::string& provider_id,
                             const cluster_autoscaler::Window& window) const override;
  int64_t pod_price(const model::Resources& requests,
                    const cluster_autoscaler::Window& window) const override;
  std::vector<std::string> gpu_models() const override;
  std::vector<size_t> choose(const std::vector<cluster_autoscaler::Option>& options) override;

 private:
  void step();
  void show();
  void answer_when_safe(const Status& status, const Then& then);
  Then in_time(Then then);
  void remember_try(const OfferId& group, bool is_failure);
  void note_bought(const model::Contract& contract);
  void keep_spares(const OfferId& group, int32_t units);
  void lose(const OfferId& group, const demand::HeldUnit& unit, const demand::Failure& failure);
  void tell_pods_without_hope();
  void tell_pending(const std::string& why);
  void note_choice(const std::vector<cluster_autoscaler::Option>& options, const Verdict& verdict);
  std::string explain_group(const OfferId& group) const;
  std::string explain_node(const std::string& name) const;
  int64_t price_of_held(const demand::HeldUnit& unit,
                        const cluster_autoscaler::Window& window) const;
  const demand::HeldUnit* find_held(const model::Labels& labels,
                                    const std::string& provider_id) const;

  // What Follower and the like keep of contracts begins anew with every start: the ledger is what
  // is saved.
  class NoStore final : public agent::StateStore {
   public:
    void save(const std::string&, std::function<void(Status)> then) override { then({}); }
    Result<std::string> load() override { return std::string(); }
  };

  host::Loop& loop_;
  NodeMaker& maker_;
  AutoscalerOptions options_;
  NoStore no_store_;
  NoAudience nobody_;
  Audience& audience_;
  agent::StateKeeper contracts_;
  LedgerKeeper keeper_;
  host::Alarm alarm_;
  std::optional<agent::Signing> signing_;
  agent::Context context_;
  MarketView market_;
  RoundTrips round_trips_;
  Advisor advisor_;
  Decisions decisions_;
  Holdings holdings_;
  Asks asks_;
  Units units_;
  SpareKeeper spares_;
  demand::PodPrices pod_prices_;
  AutoscalerStatus counts_;  // of what is counted since the start; the rest is looked up
  bool is_stopped_ = false;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
