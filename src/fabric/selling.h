// What the seller's machine (fabric/seller.h) works with while it makes one plan.
#pragma once

#include <string>
#include <string_view>

#include "fabric/seller.h"

namespace spillway::fabric {

struct Selling {
  const SellerWish& wish;
  const SellerSight& sight;
  Instant now;
  std::string space = liqo::tenant_namespace_name(wish.buyer);
  bool is_account_kept = false;  // all of it is there (fabric/account.h)
  Plan plan = {};

  std::string thing() const { return "buyer " + wish.buyer; }
  void tell(std::string of, std::string reason, std::string next) {
    plan.troubles.push_back({std::move(of), std::move(reason), std::move(next)});
  }
  Place at(const liqo::Kind& kind, std::string_view name) const {
    return {kind, space, std::string(name)};
  }
  void remove(const liqo::Kind& kind, std::string_view name, std::string_view uid = {}) {
    plan.deeds.emplace_back(Remove{at(kind, name), std::string(uid)});
  }
};

struct Wanted {
  const Sale* sale = nullptr;
  const SoldUnit* unit = nullptr;
  const std::string* request = nullptr;  // PEM; null: not heard yet
};
Wanted wanted(const SellerWish& wish, std::string_view name);  // nothing: no such unit is sold

bool is_live(const Sale& sale);
// It names the key that the buyer's control plane has now: that of the contract made last. A buyer
// has one Tenant and so one key; who has signed with several would have them take turns for ever.
bool has_newest_key(const Selling& s, const Sale& sale);
bool has_recorded(const SellerSight& sight, const std::string& name, const std::string& request);

// The handshake (fabric/seller_welcome.cpp): a namespace, the record, the fence, a Tenant, and who
// we are, for a buyer that has bought something.
void welcome(Selling& s);
// The paper's way (fabric/seller_handing.cpp). First the account: it is kept while somebody comes
// by it, and goes.
void settle_account(Selling& s);
void hand_out(Selling& s);
bool hands_out(const Selling& s);
bool comes_by_account(const Selling& s, const Sale& sale);
bool is_made_by_account(const Selling& s, const liqo::Tenant& tenant);
// Liqo answers no Tenant with another request than the one that it signed before.
void remove_certificate(Selling& s);

}  // namespace spillway::fabric
