// The buyer's machine towards one provider: the handshake, a node for each unit, and its end.
//
// A unit is its slice, the VirtualNode and the Node, all of one name, which is never used again.
// The VirtualNode waits for the kubeconfig that its virtual kubelet reads; the Node is made before
// the virtual kubelet starts and adopts it, so that it has its provider id from the first moment.
// Liqo fills in what is granted once its slice says that it may make the VirtualNode itself.
// A unit ends by being drained first, by us: the VirtualNode is deleted when nothing runs on it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/death.h"
#include "fabric/deed.h"
#include "fabric/liqo/foreign_cluster.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/slice.h"
#include "fabric/liqo/virtual_node.h"
#include "fabric/talk.h"

namespace spillway::fabric {

// On a slice: who wants the unit to end writes this. Whoever hosts the machine writes it down
// before anything follows: once the slice is gone, nothing else would say that it was not lost.
inline constexpr std::string_view k_end_annotation = "spillway.dev/end";
// On a slice: when Liqo was last made to look at it again.
inline constexpr std::string_view k_asked_again_annotation = "spillway.dev/asked-again";
// On a VirtualNode: which authorities its virtual kubelet was to believe when it was made
// (BoughtSight::authorities).
inline constexpr std::string_view k_authorities_annotation = "spillway.dev/authorities";
inline constexpr size_t k_authority_hash = 16;  // hexadecimal digits: to tell one from another
// On a slice: the contract that it is a unit of.
inline constexpr std::string_view k_contract_label = "spillway.dev/contract";

struct BoughtUnit {
  std::string name;
  std::string request;  // PEM, ours
  std::string provider_id;
  std::optional<Instant> drained_by = {};  // it ends; then, whether it is drained or not
  bool is_spare = false;                   // its node is not to be Ready yet
  Duration fence = minutes(5);             // so long its provider may run what has identity
  // Why nobody is to go where its provider's Liqo says that its API server is; empty: they may.
  std::string misled = {};
};

// A contract that both have signed, and that lives.
struct Purchase {
  ContractId contract;
  std::vector<BoughtUnit> units;
  liqo::Amounts amounts;  // of each of them
  liqo::Texts labels;     // of their nodes
  liqo::Texts annotations;
  std::vector<model::Taint> taints;
  // What the nodes look like is not known: those that are there are left as they are.
  bool is_bare = false;
  // What was heard last, and is believed.
  // For a nonce that was heard, until it is said: a provider that still wants it asks again.
  std::optional<Proof> proof = {};
  std::optional<std::vector<std::string>> recorded = {};  // units that the provider knows of
  bool is_kept = false;  // the peering is wanted for itself, also without units
};

struct BuyerWish {
  std::string self;           // Liqo ids
  std::string provider;       //
  std::string template_name;  // of the virtual kubelets' options, beside them; empty: Liqo's own
  std::vector<Purchase> purchases;
  Instant warm_until = {};  // without purchases: how long the peering stays
  ProviderLife life = {};
  // How to reach the provider, as it said last; of the units each purchase knows its own. Once for
  // all: its certificates are larger than all else of a purchase.
  std::optional<IdentityTalk> identity = {};
  // It waits for slices that its Liqo has accepted already, as we see them: they were lost there.
  bool is_waiting = false;
};

struct NodeSight {
  std::string uid;
  std::string provider_id;
  bool is_ready = false;
  bool is_cordoned = false;
  std::string version = {};
  Entries taints = {};
  bool is_silent = false;  // no virtual kubelet has been heard for it for a while
};
// That patience can be added to.
inline constexpr Instant k_not_gone{k_last_instant.ms - k_patience.ms};

// One without a name: there may be any, they are not known yet.
struct PodSight {
  std::string space;
  std::string name;
  bool is_leaving = false;  // it has been told to go
  std::string uid = {};
  std::string version = {};
  bool has_identity = false;
  Duration grace = {};  // that it has to end
  Entries tolerations = {};
  Instant gone_by = k_not_gone;  // one that is leaving: it had its time until then
};

struct BoughtSight {
  std::optional<liqo::Slice> slice = {};
  // Liqo has made the kubeconfig of it: where that leads, and the authorities that whoever goes by
  // it believes, as hashes with dots between; empty: not known.
  bool has_access = false;
  std::string server = {};
  std::string proxy = {};
  std::string authorities = {};
  std::optional<liqo::VirtualNode> virtual_node = {};
  std::optional<NodeSight> node = {};
  std::vector<PodSight> pods = {};  // on the node, but for what every node has
  bool has_lease = false;           // which Liqo leaves behind
};

struct BuyerSight {
  bool has_space = false;
  std::optional<liqo::Identity> identity = {};
  std::map<std::string, BoughtSight> units = {};  // by name; those of ours
  std::optional<liqo::ForeignCluster> foreign = {};
  // What Liqo made for the peering, and ends. Without an identity nobody takes down the copies of
  // the NamespaceMap and the Renew; the Secret with the kubeconfig goes last. Of them names,
  // finalizers and since when they are being deleted.
  std::optional<liqo::Meta> map = {};
  std::optional<liqo::Meta> renew = {};
  std::optional<liqo::Meta> access = {};
};

// Its virtual kubelet believes no authority that its provider has now, whose cluster was installed
// anew: it read that when it started, and reaches nobody any more. One that reaches it was started
// again since, while authorities were changed one by one.
bool is_astray(const BoughtSight& seen);

// Somebody has peered with that Liqo id by hand, and maybe with another cluster than the member
// that claims it: what is there is not ours, and units would go where that leads.
bool is_others_peering(const BuyerSight& sight);

// Whether anything of ours is left here of the provider but its namespace.
bool is_clear(const BuyerSight& sight);

Plan plan_buyer(const BuyerWish& wish, const BuyerSight& sight, Instant now);

}  // namespace spillway::fabric
