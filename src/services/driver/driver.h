// Driver: whoever holds kubeconfigs of consumer and provider orders units by name, without a
// market. It hosts the same Fabric that an agent has, one for each of its clusters, and hands over
// what they say to each other.
//
// Level-triggered as they are: an order is written down and acknowledged; what follows is seen, not
// remembered. It has no thread, no file, no clock of its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/alarm.h"
#include "host/lifeline.h"
#include "host/random.h"
#include "kube/api.h"
#include "services/agent/saver.h"
#include "services/driver/desk.h"
#include "services/driver/driver_dealings.h"
#include "services/driver/driver_state.h"
#include "services/fabric/fabric.h"
#include "services/fabric/holder.h"
#include "services/fabric/liqo_home_reader.h"
#include "services/log.h"

namespace spillway::driver {

struct DriverCluster {
  std::string name;
  kube::Api& api;  // outlives the driver
  agent::FabricOptions fabric = {};
};

class Driver final : public Desk {
 public:
  static constexpr Duration k_remember = hours(1);  // what became of a unit that is gone
  static constexpr size_t k_most_steps = 32;        // that are kept of a unit

  // `holder`: who has the Leases by which one fabric at a time works in a cluster; it outlives
  // restarts on this machine. Whose the units are is in the state, and outlives the machine.
  Driver(host::Loop& loop, host::Random& random, agent::StateStore& store, services::Log& log,
         std::string holder);

  // Once. Conflict: units live in a cluster that is not among these any more.
  Status start(std::vector<DriverCluster> clusters);
  void stop(std::function<void()> when_saved);

  std::optional<UnitDocument> unit(const std::string& name) const override;
  bool is_forgotten(const std::string& name) const override {
    return book_.state.over.contains(name);
  }
  std::vector<UnitDocument> units(const Which& which) const override;
  void order(const std::string& name, const UnitOrder& order, const MaySee& may_see,
             Then<UnitDocument> then) override;
  void end(const std::string& name, Then<UnitDocument> then) override;
  std::optional<PeeringDocument> peering(const std::string& consumer,
                                         const std::string& provider) const override;
  std::vector<PeeringDocument> peerings(const Which& which) const override;
  void keep(const std::string& consumer, const std::string& provider, const PeeringOrder& order,
            Then<PeeringDocument> then) override;
  void close(const std::string& consumer, const std::string& provider,
             Then<PeeringDocument> then) override;
  EventWindow& events() override { return events_; }

  const DriverState& state() const { return book_.state; }
  bool is_seeing() const;  // every cluster

 private:
  struct Cluster {
    Cluster(Driver& driver, const DriverCluster& wanted);

    std::string name;
    kube::Api& api;
    agent::FabricOptions options;
    DriverDealings dealings;
    std::optional<agent::Fabric> fabric;  // none: another process has this cluster's
    std::optional<agent::FabricHolder> holder;
    agent::LiqoHomeReader liqo;
    std::string key = {};                                              // Liqo's, PEM
    bool is_refused = false;                                           // its Liqo id is another's
    std::map<std::pair<std::string, bool>, agent::PeerProgress> seen;  // by peer and direction
  };

  Status check_clusters() const;
  void hold_all();
  void hold(Cluster& cluster);
  void start_fabric(Cluster& cluster);
  void stop_fabric(Cluster& cluster);
  void release(size_t index, std::function<void()> done);
  void know(Cluster& cluster, const agent::LiqoHome& home);
  void know_names(const Cluster& cluster, const std::string& liqo_id);
  bool may_be_renamed(const std::string& cluster) const;
  Cluster* find(const std::string& name) const;
  const Cluster* find_twin(const Cluster& cluster) const;  // another with its Liqo id
  bool take_home(Cluster& cluster, const agent::LiqoHome& home);
  std::string id_owner_of(const Cluster& cluster) const;  // of the Liqo id that it claims
  std::set<std::string> listed() const;
  Status check_known(const std::string& consumer, const std::string& provider) const;
  void rebuild();  // what follows from orders; and the fabrics look
  static std::optional<model::LiqoPart> make_part(const Cluster& consumer,
                                                  const model::Contract& contract,
                                                  const std::string& provider);
  const model::LiqoPart* part_of_other_key(const Cluster& consumer,
                                           const model::Contract& contract) const;
  void wake() { alarm_.wake_by(loop_.now()); }

  // ---- what is seen ----
  void looked(Cluster& cluster, const agent::PeerProgress& progress);
  std::string name_of_liqo(const std::string& id) const;  // empty: it is none of ours
  void tell_renamed(const std::string& from, const std::string& to, const std::string& liqo_id);
  void note_ending(Cluster& cluster, const std::string& name);
  void note_step(const std::string& name, fabric::UnitStep step);
  void settle();
  bool may_have_any_of(const std::string& unit, const std::string& cluster) const;
  Instant longest_end(const UnitRecord& unit) const;  // at its consumer; of one that ends
  void end_at_consumer(const std::string& name, const UnitRecord& unit);
  bool settle_unit(const std::string& name, UnitRecord& unit, Instant& next);
  void settle_peerings(Instant& next, bool& is_changed);
  bool is_closed(const std::string& peering);
  void forget_gone(Instant& next);

  // ---- orders ----
  static constexpr Duration k_longest_save = seconds(10);
  Error unsaved() const;
  template <class T>
  void when_saved(Then<T> then, std::function<void(const Then<T>&)> answer);

  // ---- documents ----
  void answer_unit(const std::string& name, const Then<UnitDocument>& then) const;
  UnitDocument document_of(const std::string& name, const UnitRecord& unit) const;
  PeeringDocument document_of(const std::string& consumer, const std::string& provider,
                              std::vector<std::string> units) const;
  std::set<std::string> peering_names() const;
  std::vector<fabric::Trouble> troubles_of(const std::string& consumer,
                                           const std::string& provider) const;

  host::Loop& loop_;
  host::Random& random_;
  agent::StateStore& store_;
  services::Log& log_;
  std::string holder_;
  OrderBook book_;
  // What each part was made of: every unit of it is a signature, and most parts stay as they are.
  using PartKey = std::tuple<std::string, std::string, std::vector<std::string>>;
  std::map<ContractId, std::pair<PartKey, model::LiqoPart>> parts_;
  agent::Saver saver_;
  EventWindow events_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  bool is_stopped_ = false;
  host::Alarm alarm_;
  host::Lifeline life_;
};

}  // namespace spillway::driver
