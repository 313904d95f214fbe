// Advisor: the recommender's policy, brought to what is on sale, what is held and what was
// remembered.
//
// The Cluster Autoscaler asks three times. What there is: the best offers of every class of
// machines by the policy of each class of work, none of which may grow beyond a cap. Which one, for
// these pods: the expander's question, the only one in which pods are seen. And whether so many may
// be bought: the last word, for between two questions others may have bought. What class of work
// a purchase is for is known from the expander's question before it; without one it is of none.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster_autoscaler/expander.h"
#include "demand/ledger.h"
#include "demand/prices.h"
#include "host/loop.h"
#include "rank/recommend.h"
#include "services/autoscaler/market_view.h"

namespace spillway::autoscaler {

// What came of an expander's question.
struct Verdict {
  std::optional<size_t> best;  // its place among those that were asked about
  rank::Recommendation told;   // by the policy of the class that most of the pods are of
};

struct Permit {
  int32_t units = 0;
  std::string fewer;  // why fewer than wanted; empty: as many
  demand::Use use;
};

class Advisor {
 public:
  // A question of the expander says for whom the next purchase of that group is, for so long.
  static constexpr Duration k_choice_holds = minutes(2);

  // What is known of an offer besides what it says itself.
  struct Senses {
    std::function<std::optional<rank::RoundTrip>(const model::Offer&)> round_trip;
    std::function<std::optional<Instant>(const OfferId&)>
        heard;  // its provider's last sign of life
  };
  Advisor(host::Loop& loop, const demand::Ledger& ledger, rank::Policy policy, Senses senses)
      : loop_(loop), ledger_(ledger), policy_(std::move(policy)), senses_(std::move(senses)) {}

  void set_policy(rank::Policy policy) { policy_ = std::move(policy); }
  const rank::Policy& policy() const { return policy_; }

  // The best `most` of each class of machines for each class of work. What a cap alone forbids is
  // among them, and may not grow.
  std::vector<demand::Ledger::OnSale> to_show(const std::vector<Seen>& seen, int32_t most) const;
  // Those that work of no class may have, the best first.
  std::vector<OfferId> best(const std::vector<Seen>& seen) const;
  // How many of a group that is known may be bought now; an error: none, and why.
  Result<Permit> permit(const demand::GroupState& group, int32_t wanted) const;
  Verdict choose(const std::vector<cluster_autoscaler::Option>& options,
                 const demand::PodPrices& prices);
  // What the Cluster Autoscaler's price expander is told of a node that comes to `money` in that
  // time: what the policy's first tier makes of it. So it chooses as the policy says, too.
  int64_t price(const model::Offer& offer, int64_t money, Duration time) const;
  // What each class of work would take of what is on sale, so many units; the first is of none.
  std::vector<rank::Recommendation> views(const std::vector<Seen>& seen, int32_t units,
                                          size_t explained) const;

  // How a provider did; what the ledger is to remember of it.
  demand::Tried after_try(const ClusterId& provider, bool is_failure) const;

 private:
  // What was last said of a group to the expander. It may be asked for all the same: a caller
  // of 1.30 that is told of none takes any.
  struct Said {
    std::string workload_class;
    Instant at;
    std::optional<rank::Barred> refusal;  // by the rules of any of the pods' classes
  };

  std::vector<std::string> classes() const;  // of work; the first is of none
  rank::Option option_of(const model::Offer& offer) const;
  std::vector<rank::Option> options_of(const std::vector<Seen>& seen) const;
  const Said* said_of(const OfferId& group) const;  // null: nothing, or long ago
  void remember(const std::vector<cluster_autoscaler::Option>& asked, const Verdict& verdict,
                const std::string& workload_class);
  std::vector<rank::Holding> held() const;
  std::optional<rank::Barred> bar_of_any_class(const Said* said, const rank::Option& option) const;

  host::Loop& loop_;
  const demand::Ledger& ledger_;
  rank::Policy policy_;
  Senses senses_;
  std::map<OfferId, Said> said_;
  bool has_expander_ = false;  // it has asked at least once
};

}  // namespace spillway::autoscaler
