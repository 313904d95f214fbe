// Units: brings what is there to what the ledger wants, unit by unit.
//
//   creating, running   its node is there; running once it was Ready
//   failed              its node goes when its contract is over, or was dead; else it stays as it
//                       is, for pods may be leaving it, until the unit is deleted
//   deleting            its node is gone, then it is given back to the broker, then it is gone
//
// It looks at what is and acts on the difference, one thing at a time for each unit, so that it
// goes on from wherever it was killed. Nodes of ours that no unit wants are removed as well, and
// what was bought for them is given back: where an agent renews it, it would never end.
//
// A running unit is dead when the cluster has called its node not Ready for long enough. Its node
// goes at once: the Cluster Autoscaler stops doing anything at all when too many are not Ready, and
// would not even delete these. But when the nodes of several providers are all not Ready, the
// cluster itself is in trouble, and nothing follows from that.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "host/lifeline.h"
#include "services/agent/context.h"
#include "services/autoscaler/ledger_keeper.h"
#include "services/autoscaler/node_maker.h"

namespace spillway::autoscaler {

class Units {
 public:
  static constexpr int k_most_at_once = 32;              // of what is asked of cluster and broker
  static constexpr Duration k_until_seen = seconds(10);  // a node that was made is in sight by then
  static constexpr const char* k_node_dead = "node-dead";

  struct Calls {
    std::function<bool(const ContractId&)> is_over;
    std::function<void(const model::Contract&)> released;  // what is left of it
    std::function<void(const OfferId&)> ran;               // a unit of it is Ready
    // This one of a group is to fail: its node is dead.
    std::function<void(const OfferId&, const demand::HeldUnit&, const demand::Failure&)> lose;
  };
  Units(agent::Context& context, LedgerKeeper& keeper, NodeMaker& maker, Duration unready_after,
        Calls calls)
      : context_(context),
        keeper_(keeper),
        maker_(maker),
        unready_after_(unready_after),
        calls_(std::move(calls)) {}

  Instant step();

 private:
  enum class Aim { make, remove, release };
  struct Work {
    Aim aim = Aim::make;
    agent::Attempt attempt;
    bool is_node_gone = false;  // of one that is being deleted
  };
  using Key = std::pair<ContractId, int32_t>;

  struct Suspect {
    demand::HeldUnit unit;
    OfferId group;
  };
  std::optional<std::vector<Suspect>> suspects() const;
  void look_for_dead(Instant& next);
  void fail_dead(const Suspect& suspect);
  std::optional<Aim> aim_of(const OfferId& group, const demand::HeldUnit& unit, const Work* work);
  void tend(const model::Offer& offer, const demand::HeldUnit& unit, Instant& next);
  // Of a ledger that is lost, or came back from a backup: a node, then what was bought for it.
  struct Stray {
    agent::Attempt attempt;
    bool is_node_gone = false;
  };
  void collect_strays(Instant& next);
  void remove_stray(const std::string& name);
  void release_stray(const std::string& name, const Key& key);
  void begin(const Key& key, Work& work, const model::Offer& offer);
  void on_made(const Key& key, const Status& status);
  void on_removed(const Key& key, const Status& status);
  void on_released(const Key& key, const Result<wire::ContractAnswer>& answer);
  Work* done(const Key& key);
  bool may_begin(agent::Attempt& attempt, Instant& next);
  void try_again(agent::Attempt& attempt, std::string_view what, const Error& error);

  agent::Context& context_;
  LedgerKeeper& keeper_;
  NodeMaker& maker_;
  Duration unready_after_;
  Calls calls_;
  std::map<Key, Instant> unready_since_;  // of running ones
  std::map<Key, Work> works_;
  std::map<std::string, Stray> strays_;
  int in_flight_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
