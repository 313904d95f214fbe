// A driver with two embedded clusters with Liqo, rome and milan, and its face, on a loop whose time
// the test moves. Killed by dropping it: what it had not saved is lost.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/json.h"
#include "model/tree.h"
#include "services/driver/driver.h"
#include "services/driver/face.h"
#include "support/deed_gate.h"
#include "support/dialled_channel.h"
#include "support/embedded_liqos.h"
#include "support/memory_exchange.h"
#include "unit/services/agent_fixture.h"

namespace spillway::driver {

class DriverTest : public ::testing::Test {
 protected:
  struct Told {
    int status = 0;  // 0: nobody answered
    model::Node body;
    std::string text(std::initializer_list<std::string_view> path) const {
      return std::string(model::text_at(body, path));
    }
  };

  DriverTest() { start(); }

  // ---- the driver ----
  void start() {
    const Status started = try_to_start();
    ASSERT_TRUE(started) << started.error().message();
    Callers callers;
    callers.add("spillway://driver/operator", {"operator", false, {"*"}, {"*"}});
    callers.add("spillway://driver/board", {"board", true});
    callers.add("spillway://driver/tenant", {"tenant", false, {"rome"}, {"milan"}});
    callers.add("spillway://driver/other", {"other", false, {"milan"}, {"rome"}});
    face.emplace(loop(), *driver, callers, log, metrics);
  }
  Status try_to_start() {
    face.reset();
    driver.reset();
    store.crashed = false;
    lines.clear();
    driver.emplace(loop(), random, store, log, holder);
    std::vector<DriverCluster> clusters;
    for (const bool is_rome : {true, false}) {
      if (is_rome ? !is_rome_listed : !is_milan_listed) continue;
      const std::string name = is_rome ? rome : milan;
      Line& line = lines.emplace_back();
      line.channel = std::make_unique<test::DialledChannel>(
          loop(), [this, is_rome, known = authority_of(is_rome)] { return find(is_rome, known); },
          net::Peer{"test:1", nullptr});
      line.gated = std::make_unique<test::GatedChannel>(loop(), *line.channel, gates[name]);
      line.api = std::make_unique<kube::Api>(loop(), random, *line.gated,
                                             kube::ApiOptions{.patience = seconds(5)});
      agent::FabricOptions fabric;
      fabric.warm = minutes(30);
      fabric.pulse.dial = [this](const kube::Access& access) { return liqos.dial(access); };
      clusters.push_back({name, *line.api, fabric});
    }
    return driver->start(std::move(clusters));
  }
  void kill() {
    face.reset();
    driver.reset();
  }
  const std::string& authority_of(bool is_rome) const {
    return (is_rome ? liqos.buyer : liqos.seller)->authority_pem();
  }
  // By a kubeconfig, which says who has to have signed what the cluster shows.
  embedded::Cluster* find(bool is_rome, const std::string& known) const {
    if (is_rome ? is_rome_away : liqos.is_seller_dead) return nullptr;
    if (authority_of(is_rome) != known) return nullptr;
    return is_rome ? liqos.buyer.get() : liqos.seller.get();
  }

  // ---- asking ----
  std::shared_ptr<test::MemoryExchange> begin(const std::string& method, const std::string& target,
                                              const std::string& body = {},
                                              const std::string& as = "operator",
                                              const net::Headers& more = {}) {
    net::Request request{method, target, more, body};
    net::Peer peer{"127.0.0.1:9", nullptr};
    if (!as.empty()) {
      auto certificate = std::make_shared<net::PeerCertificate>();
      certificate->uri = "spillway://driver/" + as;
      certificate->not_after = k_last_instant;
      peer.certificate = certificate;
    }
    auto exchange = std::make_shared<test::MemoryExchange>();
    face->handle(std::move(request), peer, exchange);
    return exchange;
  }
  Told ask(const std::string& method, const std::string& target, const std::string& body = {},
           const std::string& as = "operator") {
    const auto exchange = begin(method, target, body, as);
    loop().run();
    if (!exchange->response) return {};
    Told told{exchange->response->status, {}};
    auto parsed = model::parse_json(exchange->response->body, "answer", size_t{1} << 20);
    if (parsed) told.body = std::move(*parsed);
    return told;
  }
  static std::string unit_of(int number, int contract = 1) {
    return unit_name(
        make_contract_id(Instant{1'769'851'800'250}, 7, static_cast<uint64_t>(contract)), number);
  }
  static std::string order_of(const std::string& consumer = "rome",
                              const std::string& provider = "milan", const std::string& more = {}) {
    return fmt::format(
        R"({{"version":1,"consumer":"{}","provider":"{}","resources":{{"cpu":"2","memory":"4Gi","pods":"20"}}{}}})",
        consumer, provider, more);
  }
  Told put(const std::string& unit, const std::string& body = order_of()) {
    return ask("PUT", "/v1/units/" + unit, body);
  }
  bool is_open(const std::string& peering) {
    return model::boolean_at(ask("GET", peering).body, {"open"});
  }
  std::string step_of(const std::string& unit) {
    return ask("GET", "/v1/units/" + unit).text({"step"});
  }

  // ---- the world ----
  test::ManualLoop& loop() { return liqos.loop; }
  void live(int rounds = 1) {
    for (int i = 0; i < rounds; ++i) loop().run_for(milliseconds(25));
  }
  template <class F>
  bool comes(F is_true, int rounds = 1200) {
    for (int i = 0; i < rounds; ++i) {
      if (is_true()) return true;
      live();
    }
    return is_true();
  }
  bool comes_to(const std::string& unit, const std::string& step) {
    return comes([&] { return step_of(unit) == step; });
  }
  std::string troubles_of(const std::string& unit) {
    const Told told = ask("GET", "/v1/units/" + unit);
    std::string all;
    for (const model::Node& one : model::items_at(told.body, {"troubles"})) {
      all += std::string(model::text_at(one, {"reason"})) + "\n";
    }
    return all;
  }
  bool is_told(const std::string& unit, const std::string& words) {
    return comes([&] { return troubles_of(unit).find(words) != std::string::npos; });
  }
  model::Node node(embedded::Cluster& cluster, const std::string& name) {
    return liqos.get(cluster, {fabric::liqo::k_nodes, {}, name});
  }
  bool is_ready(embedded::Cluster& cluster, const std::string& name) {
    const model::Node shown = node(cluster, name);
    for (const model::Node& one : model::items_at(shown, {"status", "conditions"})) {
      if (model::text_at(one, {"type"}) == "Ready") {
        return model::text_at(one, {"status"}) == "True";
      }
    }
    return false;
  }
  // Everything that has the unit in its name, on both sides.
  std::vector<std::string> left_of(const std::string& unit) {
    std::vector<std::string> left;
    for (embedded::Cluster* cluster : {liqos.buyer.get(), liqos.seller.get()}) {
      for (const auto& kind :
           {fabric::liqo::k_secrets, fabric::liqo::k_slices, fabric::liqo::k_virtual_nodes,
            fabric::liqo::k_nodes, fabric::liqo::k_leases}) {
        for (const model::Node& object : liqos.list(*cluster, kind)) {
          const std::string name(kube::name_in(object));
          if (name.find(unit) != std::string::npos) left.push_back(name);
        }
      }
      for (const model::Node& map : liqos.list(*cluster, fabric::liqo::k_config_maps)) {
        if (!model::text_at(map, {"data", unit}).empty()) left.push_back("record " + unit);
      }
    }
    return left;
  }

  test::EmbeddedLiqos liqos{"rome", "milan"};
  bool is_rome_listed = true;   // in the driver's file
  bool is_milan_listed = true;  //
  bool is_rome_away = false;    // for the driver; its Liqo goes on
  std::string rome = "rome";    // their names there
  std::string milan = "milan";  //
  std::string holder = "driver on a host";
  host::SeededRandom random{5};
  agent::MemoryState store;
  agent::MemoryLog log;
  services::Metrics metrics;
  struct Line {  // the driver's way to one cluster
    std::unique_ptr<test::DialledChannel> channel;
    std::unique_ptr<test::GatedChannel> gated;
    std::unique_ptr<kube::Api> api;
  };
  std::map<std::string, test::DeedGate> gates;  // by cluster
  std::vector<Line> lines;
  std::optional<Driver> driver;
  std::optional<Face> face;
};

}  // namespace spillway::driver
