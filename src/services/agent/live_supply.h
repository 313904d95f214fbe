// LiveSupply: what an agent sells, from its live cluster. It watches nodes and pods, keeps what
// supply/ needs of them, and hands on a new Supply when one comes of it: soon after the first
// change, and no more often than k_pause after that.
//
// Nothing is handed on before nodes and pods are both known in full. Who cannot see the cluster, or
// has not seen it yet, goes on with what was published for k_blind, and then offers nothing until
// it sees: pools and contracts stay, but nobody can know what is free.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "host/alarm.h"
#include "host/lifeline.h"
#include "kube/watch.h"
#include "services/log.h"
#include "supply/offering.h"

namespace spillway::agent {

struct LiveSupplyCalls {
  std::function<void(supply::Supply)> then;
  std::function<supply::Supply()> published;  // what was handed on last, also before a restart
  std::function<std::vector<supply::Sold>()> sold;
};

class LiveSupply {
 public:
  static constexpr Duration k_gather = milliseconds(50);  // changes seldom come alone
  static constexpr Duration k_pause = milliseconds(500);
  static constexpr Duration k_blind = minutes(2);

  LiveSupply(kube::Api& api, services::Log& log, ClusterId cluster, supply::OfferingPolicy policy,
             LiveSupplyCalls calls);

  void start();
  void set_policy(supply::OfferingPolicy policy);
  void sold_changed() { change(); }
  bool is_known() const { return view_.is_known(); }
  bool is_blind() const { return is_blind_; }
  const supply::View& view() const { return view_; }
  const supply::Explanation& explanation() const { return explanation_; }

 private:
  std::unique_ptr<kube::Watch> watch(const kube::Resource& resource,
                                     std::function<void(const kube::Object&)> put,
                                     std::function<void(const kube::Name&)> remove,
                                     std::function<void()> set_known);
  void put_node(const kube::Object& object);
  void put_pod(const kube::Object& object);
  void change();
  void come_back_at(Instant time);
  void step();
  void publish(Instant now);
  void withhold();
  void lose_sight(const Error& why);
  void see();

  kube::Api& api_;
  services::Log& log_;
  ClusterId cluster_;
  supply::OfferingPolicy policy_;
  LiveSupplyCalls calls_;
  supply::View view_;
  supply::Explanation explanation_;
  std::unique_ptr<kube::Watch> nodes_;
  std::unique_ptr<kube::Watch> pods_;
  bool is_in_trouble_ = false;
  bool is_blind_ = false;  // in trouble for k_blind
  uint64_t troubles_ = 0;
  Instant next_;                    // not to be handed on before
  Instant later_ = k_last_instant;  // changes by then, by time alone
  bool is_changed_ = false;
  host::Alarm alarm_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
