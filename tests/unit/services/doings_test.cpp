// What is done for one peer stands in nobody else's way.
#include "services/fabric/doings.h"

#include <gtest/gtest.h>

#include "model/tree.h"
#include "support/manual_loop.h"
#include "support/scripted_channel.h"

namespace spillway::agent {
namespace {

class DoingsTest : public testing::Test {
 protected:
  test::ManualLoop loop_;
  host::SeededRandom random_{7};
  test::ScriptedChannel channel_{loop_};
  kube::Api api_{loop_, random_, channel_, {}};
  int in_flight_ = 0;
  int asked_ = 0;

  void SetUp() override {
    channel_.script = [this](const net::Request&) -> std::optional<Result<net::Response>> {
      ++asked_;
      return std::nullopt;  // it does not answer
    };
  }
  Doings for_a_peer() {
    return Doings(api_, in_flight_, {[] {}, [](const fabric::Place&) {}});
  }

  static std::vector<fabric::Deed> removals(int count, const std::string& space) {
    std::vector<fabric::Deed> deeds;
    for (int i = 0; i < count; ++i) {
      deeds.emplace_back(
          fabric::Remove{{fabric::liqo::k_shadow_pods, space, fmt::format("guest-{}", i)}, {}});
    }
    return deeds;
  }

  static std::vector<fabric::Deed> mending(const std::string& version) {
    model::Node patch = model::object_node();
    model::Node& meta = model::ensure(patch, {"metadata"});
    model::put(meta, "resourceVersion", model::text_node(version));
    return {fabric::Merge{{fabric::liqo::k_nodes, {}, "unit"}, std::move(patch)}};
  }
};

TEST_F(DoingsTest, OneWithMuchToDoLeavesRoomForOthers) {
  Doings hostile = for_a_peer();
  hostile.want(removals(100, "a"));
  loop_.run();
  EXPECT_EQ(asked_, Doings::k_most_of_one);
  Doings other = for_a_peer();
  other.want(removals(1, "b"));
  loop_.run();
  EXPECT_EQ(asked_, Doings::k_most_of_one + 1);
}

TEST_F(DoingsTest, WhoFindsNoRoomLooksAgainSoon) {
  Doings one = for_a_peer();
  Doings other = for_a_peer();
  one.want(removals(Doings::k_most_of_one, "a"));
  other.want(removals(Doings::k_most_in_flight - Doings::k_most_of_one, "b"));
  Doings third = for_a_peer();
  EXPECT_EQ(third.want(removals(1, "c")), loop_.now() + Doings::k_full_wait);
  EXPECT_EQ(in_flight_, Doings::k_most_in_flight);
}

TEST_F(DoingsTest, WhoIsGoneHasNothingUnderWay) {
  {
    Doings gone = for_a_peer();
    gone.want(removals(3, "a"));
    EXPECT_EQ(in_flight_, 3);
  }
  EXPECT_EQ(in_flight_, 0);
}

// It may be seen before it is answered. Who removed it then had it back, when another request to
// make it, sent before it was seen, came late.
TEST_F(DoingsTest, NothingIsRemovedWhileItIsBeingMade) {
  channel_.script = [](const net::Request&) { return net::Response{201, {}, "{}"}; };
  const auto methods = [this] {
    std::vector<std::string> all;
    for (const auto& one : channel_.asked) all.push_back(one.request.method);
    return all;
  };
  Doings doings = for_a_peer();
  const fabric::Place unit{fabric::liqo::k_slices, "a", "unit"};
  doings.want({fabric::Create{unit, model::object_node()}});
  doings.want({fabric::Remove{unit, "uid"}});
  EXPECT_EQ(methods(), (std::vector<std::string>{"POST"}));
  doings.want({fabric::Remove{{fabric::liqo::k_slices, "a", "other"}, "uid"}});
  EXPECT_EQ(methods(), (std::vector<std::string>{"POST", "DELETE"}));
  loop_.run();
  doings.want({fabric::Remove{unit, "uid"}});
  EXPECT_EQ(methods(), (std::vector<std::string>{"POST", "DELETE", "DELETE"}));
}

// As it was wanted, with all labels, and whoever wants it does not see it: it cannot be read.
TEST_F(DoingsTest, WhatIsThereAndIsNotSeenIsToldAndAskedForMoreSeldom) {
  const std::string there =
      R"({"kind":"Tenant","metadata":{"name":"rome","labels":{"liqo.io/remote-cluster-id":"rome"}}})";
  int made = 0;
  channel_.script = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
    if (request.method == "GET") return net::Response{200, {}, there};
    ++made;
    return net::Response{409, {}, R"({"kind":"Status","reason":"AlreadyExists"})"};
  };
  Doings doings = for_a_peer();
  const std::vector<fabric::Deed> wanted = {fabric::Create{
      {fabric::liqo::k_tenants, "liqo-tenant-rome", "rome"}, *model::parse_json(there, "test")}};
  doings.want(wanted);
  loop_.run_for(seconds(2));
  EXPECT_TRUE(doings.troubles().empty()) << "what watches may be late";
  for (int i = 0; i < 300; ++i) {
    doings.want(wanted);
    loop_.run_for(seconds(1));
  }
  ASSERT_EQ(doings.troubles().size(), 1U);
  EXPECT_EQ(doings.troubles()[0].reason, "it is there, and cannot be read");
  EXPECT_LT(made, 40);
}

// A refusal by 409 says that another of that name is there, where a uid was named. Where none was,
// or a version, the thing itself may still be there, and nothing else would tell: Leases are not
// watched.
TEST_F(DoingsTest, AConflictMeansThatItIsGoneOnlyWhereAUidWasNamed) {
  channel_.script = [this](const net::Request&) -> std::optional<Result<net::Response>> {
    ++asked_;
    return net::Response{409, {}, R"({"kind":"Status","reason":"Conflict","code":409})"};
  };
  const fabric::Place at{fabric::liqo::k_leases, "liqo-tenant-milan", "sw-x-0"};
  const auto is_gone_after = [&](const fabric::Remove& deed) {
    bool is_gone = false;
    Doings doings(api_, in_flight_, {[] {}, [&](const fabric::Place&) { is_gone = true; }});
    doings.want({deed});
    loop_.run();
    EXPECT_TRUE(doings.troubles().empty());  // the next look tells
    return is_gone;
  };
  EXPECT_TRUE(is_gone_after({at, "uid"}));
  EXPECT_FALSE(is_gone_after({at, ""}));
  EXPECT_FALSE(is_gone_after({at, "uid", false, "7"}));
}

TEST_F(DoingsTest, WhatWasNotAnsweredIsDueWhenTheServerIsBack) {
  channel_.script = [this](const net::Request&) -> std::optional<Result<net::Response>> {
    ++asked_;
    return net::Response{403, {}, "{}"};
  };
  Doings doings = for_a_peer();
  for (int i = 0; i < 6; ++i) {
    doings.want(removals(1, "a"));
    loop_.run_for(minutes(1));
  }
  doings.want(removals(1, "a"));
  loop_.run();
  const int before = asked_;
  EXPECT_GT(doings.want(removals(1, "a")), loop_.now());
  loop_.run();
  EXPECT_EQ(asked_, before);
  doings.hurry();
  doings.want(removals(1, "a"));
  loop_.run();
  EXPECT_EQ(asked_, before + 1);
}

// Whoever undoes what was done makes a new version each time: that is no reason to hurry.
TEST_F(DoingsTest, WhatSomebodyUndoesIsDoneOnceAWhile) {
  channel_.script = [this](const net::Request&) -> std::optional<Result<net::Response>> {
    ++asked_;
    return net::Response{200, {}, R"({"kind":"Node","metadata":{"name":"unit"}})"};
  };
  Doings doings = for_a_peer();
  for (int i = 0; i < 50; ++i) {
    doings.want(mending(std::to_string(i)));
    loop_.run();
  }
  EXPECT_EQ(asked_, 1);
}

// It was somebody else's turn: what they have made of it is seen by now.
TEST_F(DoingsTest, WhoWasOvertakenGoesOnAtOnceWithTheNextVersion) {
  channel_.script = [this](const net::Request&) -> std::optional<Result<net::Response>> {
    ++asked_;
    return net::Response{409, {}, R"({"kind":"Status","reason":"Conflict","code":409})"};
  };
  Doings doings = for_a_peer();
  doings.want(mending("1"));
  loop_.run();
  doings.want(mending("1"));
  loop_.run();
  EXPECT_EQ(asked_, 1);
  doings.want(mending("2"));
  loop_.run();
  EXPECT_EQ(asked_, 2);
}

}  // namespace
}  // namespace spillway::agent
