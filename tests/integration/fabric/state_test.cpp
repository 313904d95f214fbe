// What is kept of the fabric is read back as it was, and nothing else is taken for it.
#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

class KeptFabric : public FabricTest {
 protected:
  AgentState full() {
    const model::Contract contract = SignedTrade::held(loop.now());
    const std::string unit = unit_names(contract)[0];
    AgentState state;
    state.cluster = ClusterId("edge-2");
    FabricContract& kept = state.fabric.contracts[contract.id];
    kept.part = part_of(contract);
    kept.offer = test::plain_offer();
    kept.tolerable = {"dedicated"};
    kept.nonce = "nonce-1";
    kept.proof = fabric::Proof{"nonce-0", "c2ln", "key", "request"};
    kept.request = fabric::RequestTalk{kept.proof, {{unit, "request"}}};
    kept.recorded = {unit};
    kept.ending[unit] = loop.now();
    state.fabric.bought_from["milan"].identity = fabric::IdentityTalk{
        {"authority", "certificate", "https://milan:6443", ""}, "liqo-tenant-rome", {}};
    state.fabric.sold_to["naples"].idle_since = loop.now();
    return state;
  }
};

TEST_F(KeptFabric, IsReadBackAsItWas) {
  const AgentState state = full();
  const auto back = state_from_json(to_json(state));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, state);
}

TEST_F(KeptFabric, OfAnEarlierReleaseIsEmpty) {
  AgentState state;
  state.cluster = ClusterId("edge-2");
  EXPECT_EQ(to_json(state).find("fabric"), std::string::npos);
  EXPECT_TRUE(state_from_json(to_json(state)));
}

TEST_F(KeptFabric, OfAnotherShapeIsRefused) {
  AgentState state = full();
  state.fabric.contracts.begin()->second.part.provider = "not an id";
  EXPECT_FALSE(state_from_json(to_json(state)));
  state = full();
  state.fabric.contracts[ContractId("nothing")] = state.fabric.contracts.begin()->second;
  EXPECT_FALSE(state_from_json(to_json(state)));
  state = full();
  state.fabric.sold_to["../etc"] = {};
  EXPECT_FALSE(state_from_json(to_json(state)));
  std::string text = to_json(full());
  text.replace(text.find("\"nonce\""), 7, "\"nonse\"");
  EXPECT_FALSE(state_from_json(text));
}

TEST_F(KeptFabric, UnitsAreKnownByTheirNamesAlone) {
  const ContractId id = SignedTrade::held(loop.now()).id;
  EXPECT_EQ(contract_of_unit(unit_name(id, 12)), id);
  for (const std::string& name :
       {std::string("node-1"), std::string("sw-"), "sw-" + id.text, "sw-" + id.text + "-",
        "sw-" + id.text + "-x", std::string("sw-short-0"), id.text + "-0"}) {
    EXPECT_FALSE(contract_of_unit(name)) << name;
  }
}

}  // namespace
}  // namespace spillway::agent
