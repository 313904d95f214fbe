// What an agent must still know of its fabric after it was killed: for each contract what was
// agreed on and heard, and for each peer since when nothing of it is wanted. Part of AgentState.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "fabric/talk.h"
#include "model/agreement.h"
#include "services/fabric/shared_offer.h"

namespace spillway::agent {

// A live contract that the fabric makes real. What both have signed is kept here, too: whoever is
// started while the broker is away takes nothing for unpaid.
struct FabricContract {
  model::LiqoPart part;
  std::optional<fabric::RequestTalk> request = {};         // sold: what was heard, and checked
  std::optional<std::vector<std::string>> tolerable = {};  // sold: keys of its offer's taints
  std::vector<int32_t> purchased = {};                     // sold: spares, as its buyer signed
  std::optional<SharedOffer> offer = {};                   // bought: what its nodes look like
  bool is_bare = false;                                   // bought: nobody knows the offer any more
  std::string nonce = {};                                 // bought: to be signed
  std::optional<fabric::Proof> proof = {};                // bought: signed, and not said yet
  std::optional<std::vector<std::string>> recorded = {};  // bought: units, as its provider says
  std::map<std::string, Instant> ending = {};             // bought: units that end, and since when

  void forget_talk() {
    request.reset();
    nonce.clear();
    proof.reset();
    recorded.reset();
  }
  bool operator==(const FabricContract&) const = default;
};

struct PeerMemory {
  std::optional<Instant> idle_since = {};  // none: there are contracts with it
  // Bought from: how to reach it, as heard last and checked; without units. Once for all contracts:
  // its certificates are most of what is kept.
  std::optional<fabric::IdentityTalk> identity = {};
  // Bought from, and not heard (fabric/death.h). Written down before renewals go on, and before
  // work with identity begins elsewhere.
  std::optional<Instant> unheard = {};  // no renewal of ours can have arrived after that
  std::optional<Instant> dead = {};     // since when
  bool is_given_up = false;             // since then work with identity begins elsewhere
  int64_t turns = 0;                    // how often that happened
  Duration fence = {};                  // the longest that a contract with it had
  bool operator==(const PeerMemory&) const = default;
};

struct NetworkMemory {
  std::optional<fabric::NetworkTalk> heard = {};  // the last, and checked
  bool operator==(const NetworkMemory&) const = default;
};

struct FabricState {
  std::map<ContractId, FabricContract> contracts;
  // By Liqo id, until nothing is left of the peering.
  std::map<std::string, PeerMemory> bought_from;
  std::map<std::string, PeerMemory> sold_to;
  std::map<std::string, NetworkMemory> networks;  // with whom there is any, or should be
  bool operator==(const FabricState&) const = default;
};

}  // namespace spillway::agent
