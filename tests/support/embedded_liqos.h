// Two embedded clusters with Liqo, a buyer's and a seller's, on a loop whose time the test moves.
// Each reaches the other by the kubeconfigs that Liqo made, without a socket.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "embedded/cluster.h"
#include "fabric/buyer.h"
#include "fabric/liqo/cluster_objects.h"
#include "fabric/see.h"
#include "fabric/seller.h"
#include "host/random.h"
#include "model/node.h"
#include "support/manual_loop.h"

namespace spillway::test {

class EmbeddedLiqos {
 public:
  static constexpr const char* k_buyer = "rome";
  static constexpr const char* k_seller = "milan";

  EmbeddedLiqos(std::string buyer = k_buyer, std::string seller = k_seller,
                bool checks_record = true);

  struct Answer {
    int status = 0;  // 0: none came
    model::Node body;
  };
  // As an administrator of that cluster.
  Answer ask(embedded::Cluster& cluster, std::string method, std::string target,
             std::string body = {}, std::string type = "application/json");
  std::vector<model::Node> list(embedded::Cluster& cluster, const fabric::liqo::Kind& kind,
                                const std::string& space = {});
  bool is_up(embedded::Cluster& cluster);
  // Null nodes where there is none.
  model::Node get(embedded::Cluster& cluster, const fabric::Place& at);
  // False: it was refused, or nobody answered.
  bool carry_out(embedded::Cluster& cluster, const fabric::Deed& deed);

  // As a client that checks whose certificate it is shown.
  Result<std::unique_ptr<net::Channel>> dial(const kube::Access& access);
  // All of that kind, by force, as whoever removes Liqo's definitions does: nothing waits for its
  // finalizers.
  void purge(embedded::Cluster& cluster, const fabric::liqo::Kind& kind);
  // Of Liqo there; all else stays.
  void replace_key(embedded::Cluster& cluster);
  // Another cluster stands in its place, of the same Liqo id and by another authority; nothing of
  // what was there is.
  void reinstall_seller();

  fabric::BuyerSight buyer_sight();
  fabric::SellerSight seller_sight();

  ManualLoop loop;
  host::SeededRandom random{7};
  std::string buyer_id;
  std::string seller_id;
  bool is_seller_dead = false;  // nobody is there any more
  bool is_buyer_heard = true;   // its Lease is renewed all the time
  std::unique_ptr<embedded::Cluster> buyer;
  std::unique_ptr<embedded::Cluster> seller;

 private:
  std::unique_ptr<embedded::Cluster> make(const std::string& id, bool checks_record);
  embedded::Cluster* at(const std::string& host);
};

}  // namespace spillway::test
