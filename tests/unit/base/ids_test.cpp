#include "base/ids.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

TEST(ClusterId, IsADnsLabel) {
  EXPECT_TRUE(check_cluster_id("edge-1"));
  EXPECT_TRUE(check_cluster_id(std::string(63, 'a')));
  for (const std::string& text : {std::string(), std::string(64, 'a'), std::string("-a"),
                                  std::string("a-"), std::string("Edge"), std::string("a.b"),
                                  std::string("a/b"), std::string("a\0b", 3), std::string("é")}) {
    EXPECT_FALSE(check_cluster_id(text)) << text;
  }
}

TEST(OwnedId, NamesItsCluster) {
  EXPECT_TRUE(check_owned_id("edge-1/standard"));
  EXPECT_EQ(owner_of("edge-1/standard"), "edge-1");
  EXPECT_EQ(owner_of("edge-1"), "edge-1");
  for (const char* text : {"", "edge-1", "/a", "a/", "a/b/c", "a//b", "A/b"}) {
    EXPECT_FALSE(check_owned_id(text)) << text;
  }
}

TEST(ContractId, IsInOrderOfTime) {
  const ContractId early = make_contract_id(Instant{1'769'851'800'250}, UINT64_MAX, UINT64_MAX);
  const ContractId late = make_contract_id(Instant{1'769'851'800'251}, 0, 0);
  EXPECT_EQ(early.text.size(), 26U);
  EXPECT_LT(early, late);
  EXPECT_TRUE(check_contract_id(early.text));
  EXPECT_TRUE(check_contract_id(late.text));
}

TEST(ContractId, KeepsItsRandomBits) {
  const Instant now{1'769'851'800'250};
  EXPECT_NE(make_contract_id(now, 0, 1), make_contract_id(now, 0, 2));
  EXPECT_NE(make_contract_id(now, 1, 0), make_contract_id(now, 2, 0));
}

TEST(ContractId, RefusesWhatWasNotMadeAsOne) {
  const std::string good = make_contract_id(Instant{1}, 2, 3).text;
  EXPECT_TRUE(check_contract_id(good));
  EXPECT_FALSE(check_contract_id(""));
  EXPECT_FALSE(check_contract_id(good + "0"));
  EXPECT_FALSE(check_contract_id("8" + good.substr(1)));  // more than 128 bits
  EXPECT_FALSE(check_contract_id(good.substr(0, 25) + "u"));
  EXPECT_FALSE(check_contract_id(good.substr(0, 25) + "A"));
}

TEST(Unit, NamesStayWithinFiftyCharacters) {
  const ContractId id = make_contract_id(Instant{1'769'851'800'250}, 7, 8);
  EXPECT_EQ(unit_name(id, 3), "sw-" + id.text + "-3");
  EXPECT_EQ(unit_provider_id(id, 3), "spillway://" + id.text + "/3");
  EXPECT_LE(unit_name(id, INT32_MAX).size(), 50U);
  EXPECT_LE(unit_provider_id(id, INT32_MAX).size(), 50U);
}

}  // namespace
}  // namespace spillway
