#include "cli/contract_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pki/private_file.h"
#include "support/temporary_folder.h"
#include "unit/services/signed_trade.h"

namespace spillway::cli {
namespace {

using agent::SignedTrade;
using testing::ElementsAre;
using testing::HasSubstr;

class ContractProof : public testing::Test {
 protected:
  ContractProof() { told = trade.whole(SignedTrade::held(now)); }

  Result<Proof> prove_it() { return prove(told, told.contract.id, trade.buyer, papers, now); }
  void pin(const std::string& key) {
    ASSERT_TRUE(papers.change_trust_now(
        [&](agent::TrustBook& book) { return add_pin(book, trade.provider.cluster(), key, now); }));
  }
  std::optional<agent::Paper> kept() {
    return papers.find_now(told.contract.id).value_or(std::nullopt);
  }

  const Instant now = test::k_some_day;
  SignedTrade trade;
  test::TemporaryFolder folder;
  agent::FolderPapers papers{folder / ""};
  wire::AgreementAnswer told;
};

TEST_F(ContractProof, WhatIsProvenIsKept) {
  pin(trade.provider.fingerprint());
  const auto proof = prove_it();
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->wrong, "");
  EXPECT_EQ(proof->copy, "none; what was verified is kept now");
  ASSERT_TRUE(kept());
  EXPECT_TRUE(kept()->complete);
  EXPECT_EQ(kept()->events.size(), 1U);
  EXPECT_FALSE(kept()->ended);
  told.contract.state = model::ContractState::closed;
  told.contract.reason = model::EndReason::lapsed;
  EXPECT_EQ(prove_it()->copy, "the same");
  EXPECT_EQ(kept()->ended, now) << "it is over, and its paper knows";
}

TEST_F(ContractProof, OfAKeyThatIsNotPinnedNothingIsKept) {
  EXPECT_THAT(prove_it()->wrong, HasSubstr("not pinned"));
  EXPECT_FALSE(kept());
  pin(std::string(64, 'a'));
  EXPECT_THAT(prove_it()->wrong, HasSubstr("another key"));
  EXPECT_FALSE(kept());
}

TEST_F(ContractProof, ADamagedCopyIsReplacedByWhatIsProven) {
  pin(trade.provider.fingerprint());
  ASSERT_TRUE(prove_it());
  const std::string path = papers.folder() + "/" + told.contract.id.text + ".json";
  ASSERT_TRUE(pki::write_private(path, "{"));
  const auto proof = prove_it();
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->wrong, "");
  EXPECT_THAT(proof->copy, testing::AllOf(HasSubstr(path), HasSubstr("is kept now")));
  EXPECT_TRUE(kept() && kept()->complete);
}

// Otherwise a broker and a provider could make up a key that we never had.
TEST_F(ContractProof, AFormerKeyOfOursIsKnownByOurCopyAlone) {
  pin(trade.provider.fingerprint());
  const agent::Signatory before = trade.buyer;
  trade.buyer = agent::signing_member("edge-2");
  EXPECT_THAT(prove_it()->wrong, HasSubstr("another key than ours"));
  EXPECT_FALSE(kept());
  const agent::Signatory now_ours = std::exchange(trade.buyer, before);
  ASSERT_TRUE(prove_it());
  trade.buyer = now_ours;
  EXPECT_EQ(prove_it()->wrong, "");
  EXPECT_EQ(prove_it()->buyer.trust, "a former key of ours");
}

TEST_F(ContractProof, AReadingSaysWhatWasUsed) {
  pin(trade.provider.fingerprint());
  model::Use use;
  use.cpu_core_ms = 3'600'000;
  told.events.push_back(SignedTrade::deed(
      told, trade.provider, 2, {.kind = model::ContractEventKind::usage, .used = {{1, use}}}));
  const auto proof = prove_it();
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->events.back().says, "unit 1: " + to_text(use));
}

TEST_F(ContractProof, EventsAreInTheOrderOfTheirSigning) {
  const auto event = [this](const char* by, int64_t number, int64_t second) {
    return ProofEvent{by, number, "release", now + seconds(second), {}};
  };
  std::vector<ProofEvent> events{event("b", 2, 30), event("a", 2, 5), event("b", 1, 10),
                                 event("a", 1, 20), event("a", 3, 40)};
  put_in_order(events);
  std::vector<std::string> order;
  for (const ProofEvent& one : events) order.push_back(one.by + std::to_string(one.number));
  EXPECT_THAT(order, ElementsAre("b1", "a1", "a2", "b2", "a3")) << "a's clock went back";
}

}  // namespace
}  // namespace spillway::cli
