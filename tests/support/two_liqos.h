// Two clusters with Liqo, as small as their fabric can tell: objects by place, and Liqo's own work
// as single steps that happen in any order or late. What Liqo does is what was recorded of the real
// one (tests/data/liqo); the provider's API server refuses slices that are not in its record, as
// the admission policies do.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "fabric/buyer.h"
#include "fabric/see.h"
#include "fabric/seller.h"
#include "support/shelf.h"

namespace spillway::test {

class TwoLiqos {
 public:
  static constexpr const char* k_buyer = "rome";
  static constexpr const char* k_seller = "milan";

  Shelf buyer;
  Shelf seller;
  std::deque<fabric::Say> to_buyer;
  std::deque<fabric::Say> to_seller;

  Instant now = {};  // of the provider's clock
  // The buyer's Lease at the provider, as its agent renews it; false: there is none yet.
  bool renew(Instant sent, int64_t turns);

  fabric::BuyerSight buyer_sight();
  fabric::SellerSight seller_sight();
  // One thing that Liqo would do now; false: there is nothing to do.
  bool work(size_t choice);
  // Of the buyer's, and its guest.
  void add_pod(const std::string& node, const std::string& name, bool has_identity = false);
  bool is_refusing = false;  // a disruption budget
  bool is_cut_off = false;   // neither cluster reaches the other

  void do_at_buyer(const fabric::Deed& deed);
  void do_at_seller(const fabric::Deed& deed);

 private:
  void see_fence(fabric::FenceSight& fence);
  std::vector<std::function<void()>> chances();
  void chances_at_seller(std::vector<std::function<void()>>& all);
  void chances_at_buyer(std::vector<std::function<void()>>& all);
  void chances_between(std::vector<std::function<void()>>& all);
  bool end_pod(const Shelf::Key& pod);
  bool drain(const std::string& node);
  bool may_exist(const std::string& slice, const model::Node& object);

  int nonces_ = 0;
  fabric::FenceSight fence_;  // as it was last seen
};

}  // namespace spillway::test
