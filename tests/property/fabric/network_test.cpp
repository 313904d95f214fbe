// The network between two clusters that also trade: whatever is done of a plan, lost of the talk,
// deleted by hand or changed of who can serve, both gateways find each other when that ends; and
// nothing is left of it when the last contract has ended, also with a peer that says nothing.
#include "fabric/network.h"

#include <deque>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "property/fabric/both_machines.h"

namespace spillway::fabric {
namespace {

using model::Node;
using model::text_at;
using model::text_node;

// One of the two.
struct End {
  test::Shelf& shelf;
  std::string self;
  std::string peer;
  std::string own_range;  // second byte of it
  bool can_serve = true;
  std::optional<NetworkTalk> heard = {};
  bool owes_answer = false;
  std::deque<std::string> post = {};  // for it
  std::string said = {};              // last

  std::string space() const { return "liqo-tenant-" + peer; }
  test::Shelf::Key at(const liqo::Kind& kind, const std::string& name) const {
    return {std::string(kind.plural), space(), name};
  }
};

class Connected : public Both {
 public:
  void step_network() {
    End& end = chance(50) ? rome_ : milan_;
    switch (below(8)) {
      case 0:
        if (!end.post.empty()) hear(end, chance(70));
        break;
      case 1:
        end.can_serve = chance(70);
        break;
      case 2:
      case 3:
        work(end);
        break;
      default:
        act(end, chance(50) ? 100 : 40);
        break;
    }
  }
  void check_network() {
    if (std::none_of(contracts_.begin(), contracts_.end(), is_live)) return;
    for (End* end : {&rome_, &milan_}) {
      const NetworkStep step = plan_of(*end).step;
      RC_LOG(fmt::format("{} is {}\n", end->self, to_text(step)));
      RC_ASSERT(step == NetworkStep::connected);
      RC_ASSERT(sight_of(*end).server.has_value() != sight_of(*end).client.has_value());
    }
    RC_ASSERT(sight_of(rome_).server.has_value() != sight_of(milan_).server.has_value());
  }
  // It is gone, and will never say anything.
  void lose_peer() { is_lost_ = true; }
  void check_no_network_at_buyer() {
    for (const auto& [key, object] : liqos_.buyer.objects()) {
      for (const auto* kind : {&liqo::k_configurations, &liqo::k_gateway_servers,
                               &liqo::k_gateway_clients, &liqo::k_public_keys}) {
        RC_ASSERT(std::get<0>(key) != kind->plural);
      }
    }
  }

 protected:
  // Some rounds: what was said again, after it was lost, is news only when it is heard.
  bool work_of_others() override {
    bool is_any = false;
    for (int round = 0; round < 4; ++round) is_any = work_once() || is_any;
    return is_any;
  }

 private:
  static bool is_live(const Contract& one) {
    return one.is_there && one.ended.size() < one.units.size();
  }
  bool work_once() {
    bool is_any = false;
    for (End* end : {&rome_, &milan_}) {
      if (is_lost_ && end == &milan_) continue;
      while (!end->post.empty()) is_any = hear(*end, true) || is_any;
      is_any = work(*end) || is_any;
      is_any = act(*end, 100) || is_any;
    }
    return is_any;
  }
  NetworkWish wish_of(const End& end) {
    NetworkWish wish;
    wish.self = end.self;
    wish.peer = end.peer;
    wish.ranges = {{"10." + end.own_range + ".0.0/16"}, {"10.70.0.0/16"}};
    wish.can_serve = end.can_serve;
    (end.self == "rome" ? wish.is_buying : wish.is_selling) = true;
    wish.heard = end.heard;
    wish.owes_answer = end.owes_answer;
    for (const Contract& one : contracts_) {
      if (!is_live(one)) continue;
      wish.is_wanted = true;
      wish.contract = one.id;
    }
    wish.is_kept = now_ < warm_until_;
    return wish;
  }
  NetworkSight sight_of(End& end) {
    NetworkSight sight;
    sight.has_space = end.shelf.find({"namespaces", "", end.space()}) != nullptr;
    const auto find = [&](const liqo::Kind& kind) {
      return end.shelf.find(end.at(kind, end.peer));
    };
    if (const Node* one = find(liqo::k_configurations)) {
      sight.configuration = liqo::read_configuration(*one).value();
    }
    if (const Node* one = find(liqo::k_gateway_servers)) {
      sight.server = liqo::read_gateway_server(*one).value();
    }
    if (const Node* one = find(liqo::k_gateway_clients)) {
      sight.client = liqo::read_gateway_client(*one).value();
    }
    if (const Node* one = find(liqo::k_public_keys)) {
      sight.peer_key = liqo::read_public_key(*one).value();
    }
    if (const Node* one = end.shelf.find(end.at(liqo::k_secrets, "gw"))) {
      sight.own_key = liqo::read_gateway_keys(*one).value().public_key;
    }
    if (const Node* one = find(liqo::k_connections)) {
      sight.connection = liqo::read_connection(*one).value();
    }
    return sight;
  }
  NetworkPlan plan_of(End& end) { return plan_network(wish_of(end), sight_of(end), now_); }

  bool act(End& end, int percent) {
    End& other = &end == &rome_ ? milan_ : rome_;
    bool is_any = false;
    for (const Deed& deed : plan_of(end).plan.deeds) {
      if (!chance(percent)) continue;
      if (const auto* one = std::get_if<Create>(&deed)) end.shelf.create(*one);
      if (const auto* one = std::get_if<Merge>(&deed)) end.shelf.merge(*one);
      if (const auto* one = std::get_if<Remove>(&deed)) end.shelf.remove(*one);
      if (const auto* one = std::get_if<Say>(&deed)) {
        end.owes_answer = false;
        if (!is_lost_) other.post.push_back(one->body);
        // Said again and again, while nobody answers: that is nothing done.
        if (std::exchange(end.said, one->body) == one->body) continue;
      }
      is_any = true;
    }
    return is_any;
  }
  // True: it is news.
  static bool hear(End& end, bool arrives) {
    const NetworkTalk talk = read_network_talk(end.post.front()).value();
    end.post.pop_front();
    if (!arrives) return false;
    RC_ASSERT(fabric::check_network(talk).has_value());
    end.owes_answer = end.owes_answer || talk.is_asking;
    return std::exchange(end.heard, talk) != talk;
  }

  // Liqo's: all that it would do there.
  bool work(End& end) {
    bool is_any = settle_ranges(end);
    for (const auto* kind : {&liqo::k_gateway_servers, &liqo::k_gateway_clients}) {
      is_any = run_gateway(end, *kind) || is_any;
    }
    is_any = find_each_other(end) || is_any;
    return collect(end) || is_any;
  }
  static bool settle_ranges(End& end) {
    Node* one = end.shelf.find(end.at(liqo::k_configurations, end.peer));
    if (one == nullptr) return false;
    const Node* wanted = model::look(*one, {"spec", "remote"});
    const Node* has = model::look(*one, {"status", "remote"});
    if (has != nullptr && model::same(*has, *wanted)) return false;
    model::put(model::ensure(*one, {"status"}), "remote", *wanted);
    return true;
  }
  bool run_gateway(End& end, const liqo::Kind& kind) {
    Node* one = end.shelf.find(end.at(kind, end.peer));
    if (one == nullptr || model::look(*one, {"status"}) != nullptr) return false;
    Node keys = model::object_node();
    model::put(model::ensure(keys, {"metadata"}), "name", text_node("gw"));
    model::put(model::ensure(keys, {"metadata"}), "namespace", text_node(end.space()));
    model::put(model::ensure(keys, {"metadata"}), "owner",
               text_node(text_at(*one, {"metadata", "uid"})));
    std::string key = fmt::format("{:032}", ++keys_);
    model::put(model::ensure(keys, {"data"}), "publicKey", text_node(to_base64(key)));
    Node& status = model::ensure(*one, {"status"});
    model::put(model::ensure(status, {"secretRef"}), "name", text_node("gw"));
    if (kind.plural == liqo::k_gateway_servers.plural) {
      Node& endpoint = model::ensure(status, {"endpoint"});
      model::put(endpoint, "port", model::integer_node(51840));
      model::put(endpoint, "addresses", model::array_node())
          .items.push_back(text_node(fmt::format("192.0.2.{}", 1 + keys_ % 200)));
    }
    end.shelf.put(end.at(liqo::k_secrets, "gw"), std::move(keys));
    return true;
  }
  // A gateway connects when each has the other's key, and the client knows where the server is.
  bool find_each_other(End& end) {
    End& other = &end == &rome_ ? milan_ : rome_;
    const NetworkSight here = sight_of(end);
    const NetworkSight there = sight_of(other);
    const auto knows = [](const NetworkSight& one, const NetworkSight& two) {
      return one.peer_key && one.peer_key->key == two.own_key;
    };
    const auto reaches = [](const NetworkSight& client, const NetworkSight& server) {
      return client.client && server.server && server.server->endpoint &&
             client.client->endpoint.addresses == server.server->endpoint->addresses;
    };
    const bool is_up =
        knows(here, there) && knows(there, here) && (reaches(here, there) || reaches(there, here));
    const auto at = end.at(liqo::k_connections, end.peer);
    Node* known = end.shelf.find(at);
    if (known == nullptr && !here.server && !here.client) return false;
    if (known == nullptr) {
      Node made = model::object_node();
      model::put(model::ensure(made, {"metadata"}), "name", text_node(end.peer));
      end.shelf.put(at, std::move(made));
      known = end.shelf.find(at);
    }
    const std::string value = is_up ? "Connected" : "Connecting";
    if (text_at(*known, {"status", "value"}) == value) return false;
    model::put(model::ensure(*known, {"status"}), "value", text_node(value));
    return true;
  }
  // What belonged to a gateway that is gone.
  bool collect(End& end) {
    const NetworkSight seen = sight_of(end);
    std::set<std::string> uids;
    if (seen.server) uids.insert(seen.server->meta.uid);
    if (seen.client) uids.insert(seen.client->meta.uid);
    bool is_any = false;
    const auto drop = [&](const test::Shelf::Key& at) {
      end.shelf.erase(at);
      is_any = true;
    };
    const Node* keys = end.shelf.find(end.at(liqo::k_secrets, "gw"));
    if (keys != nullptr && !uids.contains(std::string(text_at(*keys, {"metadata", "owner"})))) {
      drop(end.at(liqo::k_secrets, "gw"));
    }
    if (seen.peer_key && !uids.contains(seen.peer_key->meta.owners.at(0).uid)) {
      drop(end.at(liqo::k_public_keys, end.peer));
    }
    if (seen.connection && uids.empty()) drop(end.at(liqo::k_connections, end.peer));
    // Somebody deleted the Secret: Liqo makes another.
    for (const auto* kind : {&liqo::k_gateway_servers, &liqo::k_gateway_clients}) {
      Node* one = end.shelf.find(end.at(*kind, end.peer));
      if (one == nullptr || end.shelf.find(end.at(liqo::k_secrets, "gw")) != nullptr) continue;
      is_any = model::erase(*one, "status") || is_any;
    }
    return is_any;
  }

  End rome_{liqos_.buyer, "rome", "milan", "10"};
  End milan_{liqos_.seller, "milan", "rome", "20"};
  bool is_lost_ = false;
  int keys_ = 0;
};

RC_GTEST_PROP(Network, ConvergesFromAnywhereAndLeavesNothingBehind, ()) {
  Connected both;
  const int steps = 20 + below(200);
  for (int i = 0; i < steps; ++i) chance(50) ? both.step() : both.step_network();
  RC_ASSERT(both.settle() >= 0);
  both.check();
  both.check_network();
  RC_ASSERT(both.settle() == 0);
  both.end_all();
  RC_ASSERT(both.settle() >= 0);
  both.check_nothing_left();
}

RC_GTEST_PROP(Network, EndsWithAPeerThatIsGone, ()) {
  Connected both;
  const int steps = 20 + below(100);
  for (int i = 0; i < steps; ++i) chance(50) ? both.step() : both.step_network();
  if (chance(50)) RC_ASSERT(both.settle() >= 0);
  both.lose_peer();
  both.end_all();
  RC_ASSERT(both.settle() >= 0);
  both.check_no_network_at_buyer();
}

}  // namespace
}  // namespace spillway::fabric
