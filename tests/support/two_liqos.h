// Two clusters with Liqo, as small as their fabric can tell: objects by place, and Liqo's own work
// as single steps that happen in any order or late. What Liqo does is what was recorded of the real
// one (tests/data/liqo); the provider's API server refuses slices that are not in its record, as
// the admission policies do.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fabric/buyer.h"
#include "fabric/seller.h"

namespace spillway::test {

// The objects of one cluster.
class Shelf {
 public:
  using Key = std::tuple<std::string, std::string, std::string>;  // plural, namespace, name

  static Key key(const fabric::Place& at) {
    return {std::string(at.kind.plural), at.space, at.name};
  }
  model::Node* find(const Key& key);
  void put(const Key& key, model::Node object);  // gives it a uid and a version
  void touch(model::Node& object);
  void erase(const Key& key) { objects_.erase(key); }
  std::vector<Key> all(const std::string& plural) const;
  const std::map<Key, model::Node>& objects() const { return objects_; }

  void create(const fabric::Create& deed);
  bool merge(const fabric::Merge& deed);  // false: somebody was faster
  // What has finalizers is marked, and waits for Liqo.
  void remove(const fabric::Remove& deed);

 private:
  std::map<Key, model::Node> objects_;
  int64_t versions_ = 0;
};

class TwoLiqos {
 public:
  static constexpr const char* k_buyer = "rome";
  static constexpr const char* k_seller = "milan";

  Shelf buyer;
  Shelf seller;
  std::deque<fabric::Say> to_buyer;
  std::deque<fabric::Say> to_seller;

  fabric::BuyerSight buyer_sight();
  fabric::SellerSight seller_sight();
  // One thing that Liqo would do now; false: there is nothing to do.
  bool work(size_t choice);
  void add_pod(const std::string& node, const std::string& name);  // of the buyer's, and its guest
  bool is_refusing = false;                                        // a disruption budget

  void do_at_buyer(const fabric::Deed& deed);
  void do_at_seller(const fabric::Deed& deed);

 private:
  std::vector<std::function<void()>> chances();
  void chances_at_seller(std::vector<std::function<void()>>& all);
  void chances_at_buyer(std::vector<std::function<void()>>& all);
  void chances_between(std::vector<std::function<void()>>& all);
  bool may_exist(const std::string& slice, const model::Node& object);

  int nonces_ = 0;
};

}  // namespace spillway::test
