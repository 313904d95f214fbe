// Fabric: makes contracts real, in this cluster's part of them: as what it has bought and as what
// it has sold. It hosts the two machines of fabric/: it looks (Sights), lets them decide, does what
// they want (Doings), says what the other side should know (Sayings), and hears what it says
// (services/fabric/hearing.h). Whatever changes makes it look again, soon; nothing else does, but
// for what is due by time.
//
// What is not known yet ends nothing: no peer is decided on before the cluster has been seen, and
// while one of its units is of a live contract that has not been verified yet.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/grant_policy.h"
#include "host/alarm.h"
#include "host/lifeline.h"
#include "services/agent/never.h"
#include "services/fabric/dealings.h"
#include "services/fabric/doings.h"
#include "services/fabric/edits.h"
#include "services/fabric/handouts.h"
#include "services/fabric/handshake_options.h"
#include "services/fabric/hearing.h"
#include "services/fabric/liqo_home.h"
#include "services/fabric/makings.h"
#include "services/fabric/networks.h"
#include "services/fabric/pulses.h"
#include "services/fabric/sayings.h"
#include "services/fabric/sights.h"
#include "services/fabric/spaces.h"
#include "services/fabric/standings.h"
#include "services/fabric/tellings.h"
#include "services/fabric/templates.h"
#include "services/fabric/unreleased.h"
#include "services/fabric/visits.h"
#include "services/fabric/wishes.h"

namespace spillway::agent {

struct FabricOptions {
  AllowedServers api_servers = {};  // that providers may send us to; empty: any
  std::string template_name = {};   // that the virtual kubelets' options come from; empty: Liqo's
  Duration warm = minutes(30);      // how long a peering without contracts stays
  Duration drain = minutes(5);      // how long a unit that ends has to become empty
  fabric::OffloadPolicy offload = {};
  fabric::GrantPolicy grant = {};
  std::string own_space = {};   // where the agent lives; empty: in no namespace
  PulseOptions pulse = {};      // how providers are asked whether they are there
  Duration doubt = seconds(5);  // how long both signs of death must last
  Duration skew = seconds(15);  // how much clocks may differ
  NetworkOptions network = {};
  HandshakeOptions handshake = {};
};

struct FabricStatus {
  bool is_seeing = false;
  std::map<fabric::UnitStep, int64_t> bought;
  std::map<fabric::UnitStep, int64_t> sold;
  int64_t peers = 0;
  int64_t refused = 0;  // messages, since the start
  std::map<fabric::Life, int64_t> providers;
  std::map<fabric::NetworkStep, int64_t> networks;
  std::vector<std::string> troubles;
};

// With one peer, in one role, as of the last look.
struct PeerProgress {
  std::string peer;                           // its Liqo id
  bool is_bought = false;                     // from it; else sold to it
  bool is_open = false;                       // the peering stands: one more unit is one slice
  bool is_over = false;                       // nothing is left of it, and it is forgotten
  fabric::Life life = fabric::Life::unknown;  // of a provider
  std::vector<fabric::UnitProgress> units = {};
  std::vector<fabric::Trouble> troubles = {};
};

class Fabric {
 public:
  static constexpr Duration k_gather = milliseconds(2);  // changes seldom come alone

  // In the cluster of `api`, on its loop: so it runs the same in services and in sim/.
  Fabric(Dealings& dealings, kube::Api& api, services::Log& log, FabricOptions options);

  void start();                   // with the state as it was saved
  void know_self(LiqoHome self);  // nothing is decided before
  void contracts_changed();       // any of them, or what is verified of them
  void set_offload(fabric::OffloadPolicy policy);
  void set_grant(fabric::GrantPolicy policy);  // also of what is sold already
  void set_guarded(bool is_guarded);           // the whole guard is in force in this cluster
  // False: nothing is decided on; providers are still told that their buyer is there.
  void set_holding(bool is_holding);
  FabricStatus status() const;

  // ---- for whoever shows units to people ----
  // Called after every look at a peer; it may ask for everything below.
  void when_looked(std::function<void(const PeerProgress&)> call) { looked_ = std::move(call); }
  std::vector<PeerProgress> progress() const;
  // Whether anything of that unit is there, on this side. True while that is not known.
  bool has_any_of(const std::string& unit) const {
    return !sights_.is_known() || sights_.has_any_of(unit);
  }
  // A unit that was bought ends: it is written down, then it is drained and taken down. Calls when
  // it is written down. Not found: it is none of a contract that lives; conflict: it was sold.
  void end_unit(const std::string& unit, std::function<void(Status)> then);
  // A peering that has no contracts any more does not stay warm, in that direction.
  void close_peering(const std::string& peer, bool is_bought);
  // Why the cluster cannot be seen; null: it is.
  const Error* blindness() const { return sights_.trouble(); }

 private:
  enum class Role { buyer, seller };
  // With one peer, in one role.
  struct Side {
    Doings doings;
    Sayings sayings;
    std::vector<fabric::UnitProgress> units = {};
    fabric::Life life = fabric::Life::unknown;  // of a provider
    bool is_open = false;                       // the peering
    std::vector<fabric::Trouble> troubles = {};
    Makings makings = {};
    bool has_begun = false;  // what was there before is known
    Edits edits = {};
    Unreleased unreleased = {};
  };
  using PeerRole = std::pair<std::string, Role>;

  FabricState& state() const { return dealings_.state(); }
  Instant now() const { return api_.loop().now(); }
  const model::Contract* contract(const ContractId& id) const;
  bool is_bought(const model::Contract& contract) const { return dealings_.is_bought(contract); }
  const std::string& peer_of(const model::Contract& contract, const model::LiqoPart& part) const {
    return is_bought(contract) ? part.provider : part.buyer;
  }
  void change(const std::string& peer);
  void server_is_back();
  void step();

  // ---- contracts ----
  void share_offers();
  void look_at_contracts();
  void adopt();
  // False: another member has that peer's Liqo id, or it is not known yet whether one has.
  bool takes_liqo_id(const model::Contract& row, const model::LiqoPart& part);
  // Anything of its units, in this cluster and of that peer: what lies elsewhere others have put
  // there.
  bool is_here(const model::Contract& row, const std::string& peer);
  const ClusterId& other_of(const model::Contract& row) const {
    return is_bought(row) ? row.provider : row.buyer;
  }
  void note_purchases();
  void forget_ended();
  void forget_if(const std::function<bool(const ContractId&)>& is_over);
  void note_peers();
  // Peers that the state does not know of. True: it is one, and is known from now on.
  bool find_peer(const std::string& peer);
  void find_peers();
  void prepare();
  void make_requests(const model::Contract& row, const FabricContract& kept);
  void tell_of_refusals(const std::string& peer, Role role, fabric::Plan& plan) const;
  void tell_of_other_key(const model::Contract& row, fabric::Plan& plan) const;
  void tell_of_unreleased(const std::string& peer, const fabric::BuyerWish& wish,
                          fabric::Plan& plan);
  void find_offer(const model::Contract& wanted);
  void prove(const ContractId& id, FabricContract& kept);
  void save_then_look(const ContractId& id);
  void look_now(const std::string& peer);

  // ---- machines ----
  Instant decide(const std::string& peer);
  bool is_waiting_for(const std::string& peer, Role role);
  bool is_unverified(std::string_view unit) const;
  Instant buy(const std::string& peer, PeerMemory& memory);
  Instant sell(const std::string& peer, PeerMemory& memory);
  std::vector<std::string> tolerable_by(const std::string& buyer);
  void limit_guests(const fabric::SellerWish& wish, fabric::Plan& plan);
  void check_newcomer(const fabric::SellerWish& wish, fabric::Plan& plan);
  void guests_known();
  std::string misled(const std::string& peer, const PeerMemory& memory,
                     const fabric::BoughtSight& seen) const;
  void note_endings(const std::string& peer, const fabric::BuyerSight& sight);
  Side& side(const std::string& peer, Role role);
  void note_present(const std::string& peer, Role role, const fabric::Plan& plan);
  void note_made(const std::string& peer, Role role, const fabric::Place& at);
  void note_removed(const std::string& peer, Role role, const fabric::Place& at);
  void space_is_gone(const std::string& peer, const std::string& space);
  void note_labelled(const std::string& peer, const fabric::Place& at, const std::string& labels);
  Instant do_plan(const std::string& peer, Role role, const fabric::Plan& plan);
  Instant warm_until(const PeerMemory& memory) const;
  void on_said(const fabric::Say& said);
  static PeerProgress progress_of(const PeerRole& peer, const Side& with);
  void forget_side(const std::string& peer, Role role);

  // ---- what leaves ----
  fabric::liqo::Leaving leaving_to(const std::string& peer);
  void read_pins();
  void templates_changed();

  // ---- death ----
  void watch_over(const std::string& peer, const PeerMemory& memory,
                  const fabric::BuyerSight& sight);
  fabric::ProviderLife life_of(const std::string& peer, PeerMemory& memory,
                               const fabric::BuyerSight& sight);
  void note_life(const std::string& peer, PeerMemory& memory, fabric::Life life);
  Instant give_up(const std::string& peer, PeerMemory& memory, fabric::BuyerWish& wish);
  void provider_silenced(const std::string& peer, Instant unheard);
  void provider_answered(const std::string& peer, int64_t turns);
  void tell_of_refusal(const std::string& peer, fabric::Plan& plan) const;

  // ---- networks ----
  Instant connect(const std::string& peer);
  Instant kept_until(const std::string& peer) const;
  std::optional<std::string> proxy_for(const std::string& buyer);
  void open_ranges(const std::string& buyer, fabric::GuestWish& guests);

  // ---- the paper's way of peering ----
  void hear_of_kubeconfig(const Received& message);
  void fall_back(const ContractId& id);
  Result<model::Node> own_tenant(const std::string& nonce) const;
  void visit_answered(const Visits::Order& order, const fabric::liqo::Tenant& tenant);
  void visit_failed(const Visits::Order& order, const Error& why);

  // ---- talk ----
  FabricContract* heard_on(const Received& message, bool as_buyer);
  void hear_of_nonce(const Received& message);
  void hear_of_request(const Received& message);
  void hear_of_identity(const Received& message);
  bool are_all_accepted(const std::string& provider, const std::vector<std::string>& units);
  void take_identity(const ContractId& contract, FabricContract& kept,
                     std::vector<std::string> units, fabric::IdentityTalk identity);
  void hear_of_network(const Received& message);
  void refuse(const Received& message, const Error& why);

  Dealings& dealings_;
  kube::Api& api_;
  services::Log& log_;
  std::optional<LiqoHome> self_;
  FabricOptions options_;
  Tellings tellings_;
  Sights sights_;
  Standings standings_;
  int in_flight_ = 0;
  Templates templates_;
  Spaces spaces_;
  Pulses pulses_;
  Networks networks_;
  Handouts handouts_;
  Visits visits_;
  // Whose provider hands out kubeconfigs, and the nonce that it has told beside; none any more once
  // one came to nothing.
  std::map<ContractId, std::string> offered_;
  std::set<std::string> disappointing_;        // providers whose kubeconfig did
  std::set<std::string> waiting_;              // providers, for slices that are here and accepted
  std::map<std::string, Instant> errors_;      // since when Liqo says so of a provider
  std::set<std::string> giving_up_;            // of which that is being written down
  std::optional<std::set<ClusterId>> pinned_;  // by hand; none: not known yet
  std::map<PeerRole, std::unique_ptr<Side>> sides_;
  std::map<ContractId, ClusterId> disputed_;     // their peer's Liqo id is that member's
  std::map<ContractId, UnitRequests> requests_;  // of what was bought
  std::set<ContractId> offers_;                  // asked for
  std::map<ContractId, int> unsaved_;            // what is to be written down first
  std::set<std::string> changed_;                // peers
  std::map<std::string, Instant> due_;           // peers to look at by then
  bool are_contracts_changed_ = true;
  bool is_holding_ = true;
  int64_t refused_ = 0;
  std::map<ContractId, fabric::Trouble> refusals_;  // the last of each, until one is taken
  std::function<void(const PeerProgress&)> looked_ = [](const PeerProgress&) {};
  std::optional<Instant> hurried_;
  host::Alarm alarm_;
  kube::Api::Listening back_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
