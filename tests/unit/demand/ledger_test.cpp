#include "demand/ledger.h"

#include <gtest/gtest.h>

#include "demand/ledger_codec.h"
#include "demand/placeholder.h"
#include "support/nouns.h"

namespace spillway::demand {
namespace {

constexpr Instant k_now{1'800'000'000'000};

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    offer_ = test::plain_offer();
    other_ = offer_;
    other_.id = OfferId(std::string(owner_of(offer_.id.text)) + "/other");
    show(5, 5);
  }
  void show(int32_t free, int32_t other_free) {
    ledger_.show(std::vector<Ledger::OnSale>{{offer_, free}, {other_, other_free}});
  }
  int32_t target() const { return ledger_.find(offer_.id)->target(); }
  Ask increase(int32_t delta) { return ledger_.increase(offer_.id, delta, k_now).value().at(0); }
  ContractId grant(const Ask& ask, int32_t units) {
    const ContractId id = make_contract_id(k_now, 0, static_cast<uint64_t>(ask.generation));
    ledger_.granted(offer_.id, ask.generation, test::contract_of_units(id, units), k_now);
    return id;
  }
  NodeRef ref(const ContractId& contract, int32_t unit) {
    return {unit_provider_id(contract, unit), {}};
  }
  Status remove(const NodeRef& node) { return ledger_.remove(offer_.id, std::vector{node}, k_now); }
  std::vector<UnitState> states() const {
    std::vector<UnitState> all;
    for (const Instance& one : ledger_.instances(offer_.id)) all.push_back(one.state);
    return all;
  }

  model::Offer offer_;
  model::Offer other_;
  Ledger ledger_{{ClusterId("home"), 0, {}}};
};

using States = std::vector<UnitState>;

TEST_F(LedgerTest, CountsAnAskBeforeItsOutcomeIsKnown) {
  const Ask ask = increase(2);
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(states(), (States{UnitState::creating, UnitState::creating}));
  EXPECT_EQ(ledger_.instances(offer_.id).at(0).provider_id, "spillway://ask-1/0");
  EXPECT_EQ(hold_key(offer_.id, ask), offer_.id.text + "#1");
  ledger_.refused(offer_.id, ask.generation);
  EXPECT_EQ(target(), 0);
  EXPECT_EQ(increase(1).generation, 2);  // never the same again
}

TEST_F(LedgerTest, HasKeysThatABrokerTakesForTheLongestNames) {
  const OfferId longest(std::string(63, 'a') + "/" + std::string(63, 'b'));
  const Ask first{1'800'000'000'000, 1, {}, k_now};
  const Ask second{1'800'000'000'001, 1, {}, k_now};
  EXPECT_LE(hold_key(longest, first).size(), 128u);
  EXPECT_NE(hold_key(longest, first), hold_key(longest, second));
}

TEST_F(LedgerTest, KeepsWhatWasGrantedOfAShortfall) {
  const ContractId contract = grant(increase(3), 2);
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(ledger_.group_of(ref(contract, 1)), offer_.id);
  EXPECT_EQ(ledger_.group_of({{}, unit_name(contract, 1)}), offer_.id);
  EXPECT_EQ(ledger_.group_of({{}, unit_provider_id(contract, 1)}), offer_.id);
  EXPECT_FALSE(ledger_.group_of(ref(contract, 2)));
}

TEST_F(LedgerTest, ToldTheSameTwiceCountsItOnce) {
  const Ask ask = increase(2);
  grant(ask, 2);
  grant(ask, 2);
  EXPECT_EQ(target(), 2);
}

TEST_F(LedgerTest, RefusesNonsenseAndChangesNothing) {
  const LedgerState before = ledger_.state();
  EXPECT_EQ(ledger_.increase(OfferId("no/such"), 1, k_now).error().code, Code::not_found);
  EXPECT_EQ(ledger_.increase(offer_.id, 0, k_now).error().code, Code::invalid);
  EXPECT_EQ(ledger_.increase(offer_.id, -3, k_now).error().code, Code::invalid);
  EXPECT_EQ(ledger_.increase(offer_.id, 6, k_now).error().code, Code::taken);
  EXPECT_EQ(ledger_.increase(offer_.id, INT32_MAX, k_now).error().code, Code::taken);
  EXPECT_EQ(ledger_.cancel(offer_.id, -1, k_now).error().code, Code::conflict);
  EXPECT_EQ(ledger_.cancel(offer_.id, INT32_MIN, k_now).error().code, Code::conflict);
  EXPECT_EQ(ledger_.cancel(offer_.id, 1, k_now).error().code, Code::invalid);
  EXPECT_EQ(remove({"aws:///i-1", {}}).error().code, Code::invalid);
  EXPECT_EQ(remove({{}, "worker-1"}).error().code, Code::invalid);
  EXPECT_EQ(ledger_.state(), before);
}

TEST_F(LedgerTest, DeletesNodesOnceAndForgetsThemWhenTheyAreGone) {
  const ContractId contract = grant(increase(2), 2);
  ledger_.running(contract, 0, k_now);
  EXPECT_EQ(states(), (States{UnitState::running, UnitState::creating}));
  ASSERT_TRUE(remove(ref(contract, 0)));
  EXPECT_EQ(target(), 1);
  ASSERT_TRUE(remove({{}, unit_name(contract, 0)}));  // again, by its other name
  EXPECT_EQ(target(), 1);
  ledger_.gone(contract, 0, k_now);
  EXPECT_EQ(states(), (States{UnitState::creating}));
  EXPECT_TRUE(remove(ref(contract, 0)));  // and once it is gone
  EXPECT_FALSE(ledger_.group_of(ref(contract, 0)));
}

TEST_F(LedgerTest, DeletesNoneWhenOneIsForeign) {
  const ContractId contract = grant(increase(1), 1);
  const std::vector<NodeRef> nodes{ref(contract, 0), {"kind://docker/kind/worker", "worker"}};
  EXPECT_EQ(ledger_.remove(offer_.id, nodes, k_now).error().code, Code::invalid);
  EXPECT_EQ(ledger_.remove(other_.id, std::vector{ref(contract, 0)}, k_now).error().code,
            Code::invalid);
  EXPECT_EQ(target(), 1);
}

TEST_F(LedgerTest, DeletesPlaceholdersOnceEach) {
  const Ask ask = increase(3);
  ASSERT_TRUE(remove({placeholder_id(ask, 1), {}}));
  ASSERT_TRUE(remove({placeholder_id(ask, 1), {}}));
  ASSERT_TRUE(remove({{}, placeholder_id(ask, 1)}));
  EXPECT_EQ(target(), 2);
  grant(ask, 3);
  EXPECT_EQ(target(), 2);
  EXPECT_EQ(states(), (States{UnitState::creating, UnitState::creating, UnitState::deleting}));
}

TEST_F(LedgerTest, CancelsWhatIsNotThereYetAndNothingElse) {
  const ContractId first = grant(increase(2), 2);
  ledger_.running(first, 0, k_now);
  const Ask ask = increase(1);
  ASSERT_TRUE(ledger_.cancel(offer_.id, -2, k_now));
  EXPECT_EQ(target(), 1);
  EXPECT_EQ(states(), (States{UnitState::running, UnitState::deleting}));
  EXPECT_EQ(ledger_.cancel(offer_.id, -1, k_now).error().code, Code::conflict);
  grant(ask, 1);  // it came about all the same: it is given back
  EXPECT_EQ(target(), 1);
  EXPECT_EQ(states(), (States{UnitState::running, UnitState::deleting, UnitState::deleting}));
}

TEST_F(LedgerTest, ShowsAFailureUntilTheCallerDeletesIt) {
  const ContractId contract = grant(increase(1), 1);
  ledger_.failed(contract, 0, {"provider-gone", "edge-1 does not answer", true}, k_now);
  EXPECT_EQ(target(), 1);
  const Instance told = ledger_.instances(offer_.id).at(0);
  EXPECT_EQ(told.state, UnitState::failed);
  EXPECT_EQ(told.failure->code, "provider-gone");
  ledger_.running(contract, 0, k_now);  // a word from before
  EXPECT_EQ(ledger_.instances(offer_.id).at(0).state, UnitState::failed);
  ASSERT_TRUE(remove(ref(contract, 0)));
  EXPECT_EQ(target(), 0);
}

TEST_F(LedgerTest, TakesNothingMoreOfAProviderThatHasFailed) {
  const ContractId contract = grant(increase(2), 2);
  ledger_.failed(contract, 0, {"node-refused", "no room for its name", false, false}, k_now);
  EXPECT_EQ(ledger_.find(offer_.id)->most(), 5);  // it was not the provider
  ledger_.failed(contract, 1, {"notice", "it needs it itself", true, true}, k_now);
  EXPECT_EQ(ledger_.find(offer_.id)->most(), target());
  show(5, 5);
  EXPECT_EQ(ledger_.find(offer_.id)->most(), target());
  const auto refused = ledger_.increase(offer_.id, 1, k_now);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("rests until"), std::string::npos);
  EXPECT_TRUE(ledger_.increase(other_.id, 1, k_now));
  ledger_.show(std::vector<Ledger::OnSale>{{offer_, 5}}, k_now + Ledger::k_rest);
  EXPECT_EQ(ledger_.find(offer_.id)->most(), target() + 5);
}

TEST_F(LedgerTest, KeepsAGroupThatIsInUseWhenItIsNoLongerOnSale) {
  const ContractId contract = grant(increase(2), 2);
  ledger_.show({});
  ASSERT_NE(ledger_.find(offer_.id), nullptr);
  EXPECT_EQ(ledger_.find(offer_.id)->most(), 2);
  EXPECT_EQ(ledger_.find(other_.id), nullptr);
  EXPECT_EQ(ledger_.increase(offer_.id, 1, k_now).error().code, Code::taken);
  ledger_.gone(contract, 0, k_now);
  ledger_.gone(contract, 1, k_now);
  EXPECT_EQ(ledger_.find(offer_.id), nullptr);
}

TEST_F(LedgerTest, IsTheSameAfterARestart) {
  const ContractId contract = grant(increase(2), 2);
  ledger_.failed(contract, 1, {"x", "y", false}, k_now);
  increase(1);
  const auto read = ledger_from_json(to_json(ledger_.state()));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, ledger_.state());
  const Ledger again(*read);
  EXPECT_EQ(again.group_of(ref(contract, 1)), offer_.id);
  EXPECT_EQ(again.instances(offer_.id), ledger_.instances(offer_.id));
}

TEST_F(LedgerTest, HasNoLargerMaximumForHavingBought) {
  const int32_t most = ledger_.find(offer_.id)->most();
  const Ask ask = increase(2);
  EXPECT_EQ(ledger_.find(offer_.id)->most(), most);
  grant(ask, 2);
  EXPECT_EQ(ledger_.find(offer_.id)->most(), most);
}

// ---- spares ----

TEST_F(LedgerTest, ASpareIsNoNodeOfItsGroupUntilItIsAskedFor) {
  const ContractId id = grant(ledger_.keep_spares(offer_.id, 2, k_now, {}), 2);
  EXPECT_EQ(target(), 0);
  EXPECT_EQ(states(), States{});
  EXPECT_EQ(ledger_.find(offer_.id)->spares(), 2);
  EXPECT_FALSE(ledger_.group_of(ref(id, 0)));
  EXPECT_TRUE(ledger_.knows(unit_name(id, 0)));
  EXPECT_TRUE(remove(ref(id, 0))) << "the Cluster Autoscaler may ask for anything";
  EXPECT_EQ(ledger_.find(offer_.id)->spares(), 2);
}

TEST_F(LedgerTest, SparesAreBoughtFirstAndKeepTheirNames) {
  const ContractId id = grant(ledger_.keep_spares(offer_.id, 2, k_now, {}), 2);
  const auto asks = ledger_.increase(offer_.id, 3, k_now).value();
  ASSERT_EQ(asks.size(), 2u);
  EXPECT_EQ(asks[0].contract, id);
  EXPECT_EQ(asks[0].units, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(asks[1].asked, 1);
  EXPECT_EQ(target(), 3);
  EXPECT_EQ(ledger_.find(offer_.id)->spares(), 0);
  EXPECT_EQ(ledger_.instances(offer_.id).at(0).provider_id, unit_provider_id(id, 0));
  EXPECT_EQ(ledger_.group_of(ref(id, 0)), offer_.id);
  ASSERT_TRUE(remove(ref(id, 1))) << "before it is known what came of it";
  EXPECT_EQ(target(), 2);
  ledger_.granted(offer_.id, asks[0].generation, {}, k_now);
  EXPECT_EQ(states(), (States{UnitState::creating, UnitState::deleting, UnitState::creating}));
  EXPECT_EQ(target(), 2);
}

TEST_F(LedgerTest, WhatCannotBeBoughtIsASpareAgainOrGoes) {
  const ContractId id = grant(ledger_.keep_spares(offer_.id, 1, k_now, {}), 1);
  ledger_.refused(offer_.id, increase(1).generation);
  EXPECT_EQ(target(), 0);
  EXPECT_EQ(ledger_.find(offer_.id)->spares(), 1);
  ledger_.refused_for_good(offer_.id, increase(1).generation, k_now);
  EXPECT_EQ(ledger_.find(offer_.id)->spares(), 0);
  EXPECT_EQ(ledger_.find(offer_.id)->units.at(0).state, UnitState::deleting);
  EXPECT_EQ(states(), States{}) << "nobody has heard of it";
  ledger_.gone(id, 0, k_now);
  EXPECT_TRUE(ledger_.state().past.empty()) << "it cost nothing";
}

}  // namespace
}  // namespace spillway::demand
