// What a peer can say at any rate drowns nothing that another has to tell, and takes bounded room.
#include "services/fabric/tellings.h"

#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

class TellingsTest : public FabricTest {
 protected:
  static fabric::Trouble trouble(std::string thing) { return {std::move(thing), "it is so", ""}; }
  void flood(int sentences) {
    for (int i = 0; i < sentences; ++i) {
      tellings.set("sold to rome", "liqo-tenant-rome", {trouble(fmt::format("word {}", i))});
      if (i % 50 == 0) live();
    }
    live(4);
  }
  int told(std::string_view part) { return events(liqo.milan, part); }

  kube::Api api{loop, seller.random, seller.channel, kube::ApiOptions{.patience = seconds(5)}};
  MemoryLog log;
  Tellings tellings{api, log};
};

TEST_F(TellingsTest, OneSourceDoesNotSilenceAnother) {
  flood(2000);
  EXPECT_EQ(told("word"), static_cast<int>(Tellings::k_most));
  tellings.set("bought from rome", "liqo-tenant-rome", {trouble("provider rome")});
  tellings.tell_once("liqo-tenant-bonn", trouble("Role of bonn"));
  live(4);
  EXPECT_EQ(told("provider rome: it is so"), 1);
  EXPECT_EQ(told("Role of bonn: it is so"), 1);
}

TEST_F(TellingsTest, WhatDidNotFitIsToldWhenThereIsRoom) {
  flood(2000);
  const auto stands = [&] { tellings.set("sold to rome", "r", {trouble("what stands")}); };
  stands();
  live(4);
  EXPECT_EQ(told("what stands"), 0);
  EXPECT_EQ(tellings.all(), std::vector<std::string>{"what stands: it is so"});
  loop.run_for(Tellings::k_quiet);
  stands();
  stands();
  live(4);
  EXPECT_EQ(told("what stands"), 1);
}

TEST_F(TellingsTest, ASentenceIsCutWhereACharacterEnds) {
  tellings.set("a", "a", {trouble(std::string(Tellings::k_longest - 1, 'x') + "\u00e9")});
  live(4);
  EXPECT_EQ(tellings.all().at(0), std::string(Tellings::k_longest - 1, 'x'));
  EXPECT_EQ(told("xxx"), 1);
}

}  // namespace
}  // namespace spillway::agent
