// Sights: what of the fabric is there in this cluster, by watching it: for each peer, as its
// seller and as its buyer, kept as the two machines look at it (fabric/seller.h, fabric/buyer.h).
//
// Whose an object is follows from its namespace, liqo-tenant-<peer>: the machines put nothing
// anywhere else. Nodes have none: theirs is the peer that a slice, a VirtualNode or their own label
// names. An object that cannot be read is told by name and is not there; slices and VirtualNodes,
// into which the other side's words come, are there all the same, and say what of them cannot. Of
// Secrets only is kept that they exist, but for the nonce, which is none.
//
// Two kinds are not watched, for they change all the time: Leases of units are looked for once,
// and then known from the VirtualNodes that have gone; pods are watched on nodes that are being
// drained.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/buyer.h"
#include "fabric/see.h"
#include "fabric/seller.h"
#include "host/lifeline.h"
#include "kube/watch.h"
#include "services/fabric/guest_sights.h"
#include "services/log.h"

namespace spillway::agent {

// "sw-<contract>-<n>": a name that only units have. None: it is no such name.
std::optional<ContractId> contract_of_unit(std::string_view name);

class Sights {
 public:
  struct Calls {
    std::function<void(const std::string& peer)> changed;
    std::function<void()> known;         // once: everything has been seen
    std::function<void()> guests_known;  // limits of guest namespaces, or that they cannot be
    std::function<void(const std::string& peer, const std::string& space)> space_gone;
  };
  Sights(kube::Api& api, services::Log& log, Calls calls);

  // `with_accounts`: also accounts that buyers come by (fabric/account.h).
  void start(bool with_accounts);
  bool is_known() const;
  const Error* trouble() const { return trouble_ ? &*trouble_ : nullptr; }  // null: all is seen

  const fabric::SellerSight& seller(const std::string& peer);
  const fabric::BuyerSight& buyer(const std::string& peer);
  const GuestSights& guest_spaces() const { return guest_spaces_; }
  std::vector<std::string> peers() const;                         // of which there is anything
  std::set<std::string> nodes_of(const std::string& peer) const;  // that were bought from it
  bool has_any_of(const std::string& unit) const;                 // on either side of a contract

  // On these nodes pods count from now on. Until they are known, something may run there.
  void follow_pods(const std::string& peer, const std::set<std::string>& nodes);
  void lease_is_gone(const std::string& peer, const std::string& name);

 private:
  using Put = std::function<void(const kube::Object&)>;
  using Gone = std::function<void(const kube::Name&)>;
  struct Pods {
    std::string peer;
    std::map<kube::Name, fabric::PodSight> pods;
    std::unique_ptr<kube::Watch> watch;
  };

  void watch(const fabric::liqo::Kind& kind, kube::Wanted wanted, Put put, Gone gone);
  using OwnRemnant = std::optional<fabric::liqo::Meta> fabric::BuyerSight::*;
  using Copies = std::set<std::string> fabric::SellerSight::*;
  void watch_copied(const fabric::liqo::Kind& kind, OwnRemnant own, Copies copies);
  // What was read takes the slot's place; what cannot be read leaves it empty.
  template <class T>
  void keep(const kube::Object& object, std::optional<T>& slot, Result<T> read) {
    slot.reset();
    if (!read) return complain(object, read.error());
    slot = std::move(*read);
  }
  void complain(const kube::Object& object, const Error& why);
  void changed(const std::string& peer) { calls_.changed(peer); }

  void put_space(const kube::Object& object);
  void drop_space(const std::string& name);
  void put_secret(const kube::Object& object);
  void drop_secret(const kube::Name& name);
  static std::string kubeconfig_prefix();
  void put_tenant(const kube::Object& object);
  void drop_tenant(const kube::Name& name);
  void put_identity(const kube::Object& object);
  void drop_identity(const kube::Name& name);
  void put_copied(const kube::Object& object, const fabric::liqo::Kind& kind, OwnRemnant own,
                  Copies copies);
  void drop_copied(const kube::Name& name, OwnRemnant own, Copies copies);
  void put_slice(const kube::Object& object);
  void drop_slice(const kube::Name& name);
  void put_virtual_node(const kube::Object& object);
  void drop_virtual_node(const kube::Name& name);
  void put_node(const kube::Object& object);
  void drop_node(const std::string& name);
  void put_record(const kube::Object& object);
  void drop_record(const kube::Name& name);
  void put_guest(const kube::Object& object);
  void drop_guest(const kube::Name& name);
  void tell_of_guests(const std::string& space);
  void watch_fences();
  void watch_accounts();
  void watch_named(const fabric::liqo::Kind& kind, std::string_view name, Put put, Gone gone);
  void put_buyer_lease(const kube::Object& object);
  // Where it is in a seller's sight, by the namespace.
  template <class T>
  void put_right(const kube::Name& name, T fabric::SellerSight::*part, fabric::Right T::*which,
                 fabric::Right is);
  // Role and binding.
  template <class T, class JudgeRole, class JudgeBinding>
  void watch_rights(std::string_view name, T fabric::SellerSight::*part, JudgeRole judge_role,
                    JudgeBinding judge_binding);
  void put_foreign(const kube::Object& object);
  void drop_foreign(const std::string& name);
  void put_pod(const std::string& node, const kube::Object& object);
  void show_pods(const std::string& node);
  void list_leases();

  fabric::BoughtSight& unit(const std::string& peer, const std::string& name);
  void forget_unit(const std::string& peer, const std::string& name);  // if nothing is left of it
  void on_synced(const fabric::liqo::Kind& kind);
  void tell_known();

  kube::Api& api_;
  services::Log& log_;
  Calls calls_;
  std::vector<std::unique_ptr<kube::Watch>> watches_;
  std::vector<std::unique_ptr<kube::Watch>> fence_watches_;  // known apart from the others
  bool has_leases_ = false;                                  // they have been looked for
  bool is_told_ = false;
  std::optional<Error> trouble_;
  std::map<std::string, std::string> complaints_;  // what cannot be read, and in which version
  std::map<std::string, fabric::SellerSight> sellers_;
  std::map<std::string, fabric::BuyerSight> buyers_;
  std::map<std::string, std::string> unit_peers_;   // of units that there is anything of
  std::map<std::string, fabric::NodeSight> nodes_;  // whose peer nothing has named yet
  std::map<std::string, std::string> space_peers_;  // of namespaces with guests
  std::map<std::string, std::map<std::string, fabric::GuestSight>> guests_;  // namespace → pod
  std::set<std::string> guests_changed_;                                     // peers
  std::map<std::string, Pods> pods_;                                         // by node
  GuestSights guest_spaces_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
