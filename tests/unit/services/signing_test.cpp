// What a member signs and keeps, step by step: also when its own copy of a contract is damaged, for
// then what the broker can prove is enough to go on.
#include "services/agent/signing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pki/private_file.h"
#include "services/agent/folder_papers.h"
#include "support/manual_loop.h"
#include "support/scripted_broker.h"
#include "support/temporary_folder.h"
#include "unit/services/signed_trade.h"

namespace spillway::agent {
namespace {

using testing::HasSubstr;

class SigningTest : public testing::Test {
 protected:
  SigningTest() {
    broker.is_strict = true;
    papers.on_set_aside = [this](const SetAside& aside) { set_aside.push_back(aside); };
    const wire::AgreementAnswer whole = trade.whole(SignedTrade::held(loop.now()));
    id = whole.contract.id;
    broker.contracts[id.text] = whole.contract;
    broker.agreements[id.text] = whole;
    broker.cards["edge-1"] = whole.provider_card;
    broker.cards["edge-2"] = whole.buyer_card;
  }

  // Asks, and lets the broker answer.
  template <class T>
  Result<T> wait(const std::function<void(std::function<void(Result<T>)>)>& ask) {
    Result<T> told = fail(Code::unavailable, "test", "no answer", "");
    ask([&told](Result<T> answer) { told = std::move(answer); });
    loop.run_for(seconds(1));
    return told;
  }
  Result<Signing::Known> collect() {
    return wait<Signing::Known>([this](auto then) { signing.collect(id, std::move(then)); });
  }
  Result<wire::ContractAnswer> release(std::vector<int32_t> units) {
    return wait<wire::ContractAnswer>([&](auto then) {
      agent::release(client, &signing, id, std::move(units), std::move(then));
    });
  }
  Result<wire::ContractAnswer> renew() {
    return wait<wire::ContractAnswer>(
        [&](auto then) { agent::renew(client, &signing, id, std::move(then)); });
  }
  void damage() {
    ASSERT_TRUE(collect());
    ASSERT_TRUE(pki::write_private(papers.folder() + "/" + id.text + ".json", "{\"contract\":"));
  }
  bool is_released(size_t unit) { return !broker.contracts.at(id.text).units.at(unit).live; }

  test::ManualLoop loop;
  test::ScriptedBroker broker{loop};
  wire::BrokerClient client{broker.channel};
  test::TemporaryFolder folder;
  FolderPapers papers{folder / ""};
  std::vector<SetAside> set_aside;
  SignedTrade trade;
  Signing signing{client, papers, trade.buyer, [this] { return loop.now(); }};
  ContractId id;
};

// Another process of this member, which knows Liqo, has shown a later one meanwhile.
TEST_F(SigningTest, AnOlderCardAtTheBrokerTakesNoLiqoIdAway) {
  const auto later = trade.buyer.sign(trade.buyer.card(1000, "rome"));
  ASSERT_TRUE(later);
  papers.change_trust(
      [&](TrustBook& book) -> Status {
        book.card = *later;
        return {};
      },
      [](const Result<TrustBook>& changed) { ASSERT_TRUE(changed); });
  const auto shown =
      wait<model::Card>([this](auto then) { signing.show_card(std::nullopt, std::move(then)); });
  ASSERT_TRUE(shown) << shown.error().message();
  EXPECT_EQ(shown->liqo, "rome");
}

TEST_F(SigningTest, OfADamagedPaperUnitsAreGivenBackAndTheBrokersProofIsKept) {
  damage();
  const auto told = release({1});
  ASSERT_TRUE(told) << told.error().message();
  EXPECT_TRUE(is_released(1));
  ASSERT_EQ(set_aside.size(), 1U);
  EXPECT_THAT(set_aside[0].paper, HasSubstr(id.text));
  const auto kept = papers.find_now(id);
  ASSERT_TRUE(kept && *kept);
  EXPECT_TRUE((*kept)->complete);
  EXPECT_EQ((*kept)->events.size(), 2U) << "accepted, and the release";
}

TEST_F(SigningTest, OfADamagedPaperLeasesAreRenewed) {
  damage();
  const auto told = renew();
  ASSERT_TRUE(told) << told.error().message();
  EXPECT_EQ(broker.renewed.size(), 1U);
}

// Our own signature is on it, so it is ours to give back; to pay for longer is another thing.
TEST_F(SigningTest, OfADamagedPaperAndAnotherKeyThanThePinnedOnlyGivingBackGoesOn) {
  damage();
  ASSERT_TRUE(papers.change_trust_now([&](TrustBook& book) {
    return replace_pin(book, ClusterId("edge-1"), std::string(64, 'a'), loop.now());
  }));
  const auto longer = renew();
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message(), HasSubstr(std::string(64, 'a')));
  EXPECT_FALSE(papers.find_now(id)) << "nothing took its place";
  const auto told = release({});
  ASSERT_TRUE(told) << told.error().message();
  EXPECT_TRUE(is_released(0) && is_released(1));
  EXPECT_EQ((*papers.find_now(id))->events.size(), 2U);
}

TEST_F(SigningTest, ABrokerThatCallsADamagedPaperUnsignedIsNotBelieved) {
  damage();
  broker.lie = [](wire::AgreementAnswer& told) {
    told.document.clear();
    told.complete = false;
    told.events.clear();
    told.contract.agreement.clear();
  };
  const auto told = renew();
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message(), HasSubstr("called unsigned, and our copy is damaged"));
  EXPECT_TRUE(broker.renewed.empty());
}

TEST_F(SigningTest, ARepeatedUnitIsNamedOnce) {
  ASSERT_TRUE(release({1, 1}));
  const auto event = pki::verify_event(broker.agreements[id.text].events.back());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->event.units, std::vector<int32_t>{1});
}

// Papers that another process of the member writes to while this one is about to.
class BusyPapers final : public Papers {
 public:
  explicit BusyPapers(Papers& kept) : kept_(kept) {}

  void change_trust(TrustChange change, Then<TrustBook> then) override {
    kept_.change_trust(std::move(change), std::move(then));
  }
  void find(const ContractId& id, Then<std::optional<Paper>> then) override {
    kept_.find(id, std::move(then));
  }
  void keep(const Paper& heard, Then<Paper> then) override {
    const bool is_signed = std::any_of(
        heard.events.begin(), heard.events.end(),
        [](const PaperEvent& event) { return event.kind == model::ContractEventKind::renewal; });
    if (is_signed) std::exchange(meanwhile, [](const Paper&) {})(heard);
    kept_.keep(heard, std::move(then));
  }

  std::function<void(const Paper&)> meanwhile = [](const Paper&) {};  // once

 private:
  Papers& kept_;
};

// The other one has used our number too, and its next event has taken the place of that one: what
// is kept no longer tells that the number is used.
TEST_F(SigningTest, ANumberThatAnotherProcessHasUsedAndGoneBeyondIsNotUsedAgain) {
  BusyPapers busy(papers);
  Signing slower(client, busy, trade.buyer, [this] { return loop.now(); });
  busy.meanwhile = [this](const Paper& paper) {
    for (const int64_t number : {1, 2}) {
      const Deed deed{.until = loop.now() + hours(number)};
      const auto document =
          trade.buyer.sign({paper.agreement, paper.contract}, deed, number, loop.now());
      Paper theirs = paper;
      theirs.events = {{trade.buyer.cluster(), number, deed.kind, *document}};
      ASSERT_TRUE(papers.keep_now(theirs));
    }
  };
  const auto told = wait<wire::ContractAnswer>(
      [&](auto then) { agent::renew(client, &slower, id, std::move(then)); });
  ASSERT_TRUE(told) << told.error().message();
  ASSERT_EQ(broker.renewed.size(), 1U);
  const auto sent = pki::verify_event(broker.agreements[id.text].events.back());
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->event.number, 3);
}

}  // namespace
}  // namespace spillway::agent
