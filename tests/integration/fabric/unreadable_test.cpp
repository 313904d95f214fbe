// What the other side writes into a slice, and cannot be read: the unit is there all the same, and
// can be ended.
#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

class Unreadable : public FabricTest {
 protected:
  void SetUp() override {
    seller.start();
    buyer.start();
    live(8);
    contract = trade_units(1);
    unit = unit_names(contract)[0];
    ASSERT_TRUE(comes([&] { return all_ready(contract); }));
    live(40);
  }
  static std::string told(Party& party) {
    std::string all;
    for (const std::string& one : party.agent->fabric()->status().troubles) all += one + "\n";
    return all;
  }
  // Law 3: nothing waits for who has written it.
  bool comes_to_an_end(test::Place& at) {
    tell_both(closed(contract), "contract-closed");
    return comes(
        [&] {
          loop.run_for(seconds(5));
          return !at.has(slice_path(at, unit));
        },
        400);
  }

  // A quantity to Kubernetes; no amount of memory to anybody.
  static constexpr const char* k_status = R"({"status":{"resources":{"memory":"1500m"}}})";
  static constexpr const char* k_spec = R"({"spec":{"resources":{"memory":"1500m"}}})";
  model::Contract contract;
  std::string unit;
};

TEST_F(Unreadable, AStatusHidesNoSliceFromWhoReleasesIt) {
  seller.kill();
  liqo.milan.merge(slice_path(liqo.milan, unit) + "/status", k_status);
  EXPECT_TRUE(comes([&] { return told(buyer).find("cannot be read") != std::string::npos; }));
  EXPECT_NE(told(buyer).find(unit), std::string::npos) << told(buyer);
  // Nothing is asked of the API server again and again.
  int asked = 0;
  buyer.gate.refuses = [&](const net::Request& request) {
    asked += request.target.find("resourceslices") != std::string::npos &&
                     request.target.find("watch=") == std::string::npos
                 ? 1
                 : 0;
    return false;
  };
  for (int i = 0; i < 60; ++i) {
    loop.run_for(seconds(1));
    live(1);
  }
  EXPECT_LT(asked, 10);
  liqo.rome.merge(slice_path(liqo.rome, unit),
                  R"({"metadata":{"annotations":{"spillway.dev/end":"true"}}})");
  EXPECT_TRUE(comes([&] { return !all_ready(contract); }, 400)) << "it is released";
  EXPECT_TRUE(comes_to_an_end(liqo.rome));
}

TEST_F(Unreadable, ASliceIsEndedByItsProvider) {
  buyer.kill();
  liqo.is_replicating = false;
  liqo.milan.merge(slice_path(liqo.milan, unit), k_spec);
  EXPECT_TRUE(comes([&] { return told(seller).find("cannot be read") != std::string::npos; }))
      << told(seller);
  EXPECT_TRUE(comes_to_an_end(liqo.milan));
}

// Nor do more labels and annotations than anybody reads.
TEST_F(Unreadable, ManyAnnotationsHideNone) {
  buyer.kill();
  liqo.is_replicating = false;
  std::string many;
  for (int i = 0; i < 600; ++i)
    many += fmt::format(R"({}"a.example/{}":"x")", i == 0 ? "" : ",", i);
  liqo.milan.merge(
      slice_path(liqo.milan, unit),
      fmt::format(R"({{"metadata":{{"annotations":{{{0}}},"labels":{{{0}}}}}}})", many));
  EXPECT_TRUE(comes([&] { return told(seller).find("entries, at most") != std::string::npos; }))
      << told(seller);
  EXPECT_TRUE(comes_to_an_end(liqo.milan));
}

// A virtual node, into which Liqo copies what is granted.
TEST_F(Unreadable, AVirtualNodeIsTakenDown) {
  const std::string path = test::Place::path(fabric::liqo::k_virtual_nodes,
                                             fabric::liqo::tenant_namespace_name("milan"), unit);
  liqo.rome.merge(path, R"({"spec":{"resourceQuota":{"hard":{"memory":"1500m"}}}})");
  EXPECT_TRUE(comes([&] { return told(buyer).find("VirtualNode") != std::string::npos; }));
  live(40);
  EXPECT_TRUE(liqo.rome.has(path)) << "it is not replaced: pods run there";
  EXPECT_TRUE(comes_to_an_end(liqo.rome));
  EXPECT_TRUE(comes([&] { return !liqo.rome.has(path); }));
}

}  // namespace
}  // namespace spillway::agent
