// The provider's machine towards one buyer: the handshake, what its units are granted, and their
// end. It grants what contracts say and nothing else; what no contract names ends, whoever made it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/account.h"
#include "fabric/deed.h"
#include "fabric/fence.h"
#include "fabric/liqo/guests.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/slice.h"
#include "fabric/record.h"
#include "fabric/talk.h"

namespace spillway::fabric {

struct SoldUnit {
  std::string name;
  bool is_live = true;
  bool is_spare = false;  // accepted, with nothing granted until it is bought
};

// A contract that both have signed, and that lives.
struct Sale {
  ContractId contract;
  std::vector<SoldUnit> units;
  liqo::Grant grant;                        // of each of them
  std::optional<RequestTalk> request = {};  // the last that was heard, and checked
  // Closing: no new guests now; nothing at all from `zero_at` on.
  bool is_closing = false;
  Instant zero_at = {};
  Duration fence = minutes(5);  // so long its guests with identity outlive their buyer
  bool is_kept = false;         // the peering is wanted for itself, also without units
  std::string buyer_key = {};   // of its control plane, as the contract says; PEM; empty: any
  Instant made = {};            // the contract
};

struct SellerWish {
  std::string self;        // Liqo ids
  std::string buyer;       //
  std::string buyer_hash;  // SHA-256 of the buyer's, 64 hexadecimal digits
  std::vector<Sale> sales;
  // Without sales: how long the peering stays, for the next one to be fast.
  Instant warm_until = {};
  Duration skew = seconds(15);  // so much clocks may differ
  // By which the buyer reaches our API server through the network between us, in its own words.
  // None: whatever the Tenant says stays.
  std::optional<std::string> proxy = {};
  HandOut hand_out = {};
};

// What is there of this buyer, in its tenant namespace but for guests.
struct SellerSight {
  bool has_space = false;
  std::string provider = {};  // liqo::k_provider_annotation
  std::optional<liqo::Nonce> nonce = {};
  std::optional<liqo::Tenant> tenant = {};
  std::optional<Record> record = {};
  bool is_record_unreadable = false;               // there is one, and nobody knows what it allows
  std::map<std::string, liqo::Slice> slices = {};  // by name
  std::map<std::string, std::vector<Place>> guests = {};  // all ShadowPods of this buyer, by user
  std::map<std::string, std::vector<Place>> with_identity = {};  // those of them that have one
  FenceSight fence = {};
  AccountSight account = {};
  // The copies of its NamespaceMap and its Renew, which go by the buyer's own hand; by name, for
  // somebody may have made more than the one that Liqo makes.
  std::set<std::string> maps = {};
  std::set<std::string> renews = {};
  bool has_certificate = false;                // the Secret with its control plane's
  std::vector<std::string> certificates = {};  // slices whose certificate's Secret is there
};

// Somebody has peered with that Liqo id by hand, and maybe with another cluster than the member
// that claims it: its Tenant, its slices and its guests are not ours. What we make has our mark,
// and before any Tenant there is a record.
bool is_others_peering(const SellerSight& sight);

// Whether anything of ours is left here of the buyer but its namespace.
bool is_clear(const SellerSight& sight);

Plan plan_seller(const SellerWish& wish, const SellerSight& sight, Instant now);

}  // namespace spillway::fabric
