// Liar: a broker that turned. It stands between a party and the brokers, reads all that it is
// answered, and now and then says something else of what was signed: it changes fields, drops,
// doubles and exchanges signatures, shows other keys, its own among them, shows what was signed on
// another contract or earlier, and messages that are changed, repeated, turned around or of others.
//
// It has a key of its own, and everything that it has ever seen; it has no key of anybody else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/node.h"
#include "net/message.h"
#include "sim/issuer.h"
#include "sim/world.h"

namespace spillway::sim {

class Liar {
 public:
  Liar(World& world, uint64_t permille);

  // Before `party` hears it.
  void alter(const std::string& party, const net::Request& request, net::Response& response);
  void fall_silent() { permille_ = 0; }  // from now on it tells the truth
  uint64_t lies() const { return lies_; }

 private:
  bool lie_about_agreement(const std::string& party, model::Node& answer);
  bool lie_about_messages(const std::string& contract, model::Node& answer);
  // One of what it has seen, other than this; empty: there is none.
  std::string another(const std::vector<std::string>& seen, const std::string& than);
  std::string own_card_for(const std::string& document);
  std::string resigned(const std::string& document, bool as_buyer);
  std::string with_changed_leaf(const std::string& document);
  std::string with_changed_signatures(const std::string& document);
  void remember(std::vector<std::string>& seen, const std::string& what);

  World& world_;
  uint64_t permille_;
  SimKey key_;
  std::vector<std::string> agreements_;
  std::vector<std::string> events_;
  std::vector<std::string> cards_;
  std::vector<model::Node> messages_;
  uint64_t lies_ = 0;
};

}  // namespace spillway::sim
