#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "pki/private_file.h"
#include "services/agent/folder_papers.h"
#include "services/agent/signatory.h"
#include "support/nouns.h"
#include "support/temporary_folder.h"

namespace spillway::agent {
namespace {

using testing::HasSubstr;
using Kind = model::ContractEventKind;

class PapersTest : public testing::Test {
 protected:
  PapersTest() {
    contract.state = model::ContractState::hold;
    contract.started.reset();
    contract.units = {{0, true, {}, 0, 0}};
  }

  Paper half(Instant sign_by) const {
    const auto document = buyer.sign(
        contract, {buyer.card(1, ""), provider.card(1, ""), model::Trust::given, sign_by});
    return paper_of(*pki::verify_agreement(*document, pki::Signers::buyer), false, now);
  }
  Paper half() const { return half(contract.deadline); }
  Paper whole(const Paper& signed_once) const {
    const auto document = provider.countersign(signed_once.document);
    return paper_of(*pki::verify_agreement(*document, pki::Signers::both), true, now);
  }
  Paper with(Paper paper, const Signatory& by, int64_t number, const Deed& deed) const {
    const auto document = by.sign({paper.agreement, paper.contract}, deed, number, now);
    paper.events.push_back(event_of(*pki::verify_event(*document)));
    return paper;
  }

  const Instant now = test::k_some_day;
  Signatory buyer = *Signatory::of(pki::Key::generate_member(), "lab", ClusterId("edge-2"));
  Signatory provider = *Signatory::of(pki::Key::generate_member(), "lab", ClusterId("edge-1"));
  model::Contract contract = test::plain_contract();
};

TEST_F(PapersTest, TheSecondSignatureIsAddedAndNeverLost) {
  const auto both = merged(half(), whole(half()));
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->complete);
  EXPECT_EQ(both->document, whole(half()).document);
  EXPECT_EQ(merged(*both, half()), *both);
}

TEST_F(PapersTest, AnotherAgreementDoesNotReplaceACompleteOne) {
  const Paper other = half(contract.deadline - seconds(1));
  const auto told = merged(whole(half()), whole(other));
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::conflict);
  EXPECT_THAT(told.error().message(), HasSubstr(other.agreement));
  EXPECT_EQ(merged(half(), other)->agreement, other.agreement) << "nobody had accepted the first";
}

TEST_F(PapersTest, ANumberIsNotUsedForTwoThings) {
  const Paper paper = whole(half());
  const Deed one{.kind = Kind::release, .units = {0}};
  const Deed another{.kind = Kind::drained};
  const auto told = merged(with(paper, buyer, 1, one), with(paper, buyer, 1, another));
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::contended);
  EXPECT_TRUE(merged(with(paper, buyer, 1, one), with(paper, provider, 1, {.kind = Kind::notice})));
  EXPECT_TRUE(merged(with(paper, buyer, 1, one), with(paper, buyer, 1, one)));
}

TEST_F(PapersTest, TheNewestRenewalSaysItAll) {
  Paper paper = whole(half());
  for (const int64_t number : {2, 1, 3}) {
    const Deed renewal{.kind = Kind::renewal, .until = now + hours(number)};
    paper = *merged(paper, with(whole(half()), buyer, number, renewal));
  }
  ASSERT_EQ(paper.events.size(), 1U);
  EXPECT_EQ(last_number(paper, buyer.cluster()), 3);
  EXPECT_EQ(last_number(paper, provider.cluster()), 0);
}

TEST_F(PapersTest, AFolderKeepsThemPrivateAndWhole) {
  const test::TemporaryFolder folder;
  FolderPapers papers(folder / "");
  EXPECT_FALSE(papers.find_now(contract.id).value().has_value());
  ASSERT_TRUE(papers.keep_now(half()));
  ASSERT_TRUE(papers.keep_now(whole(half())));
  FolderPapers another(folder / "");  // of another process
  EXPECT_TRUE((*another.find_now(contract.id))->complete);
  ASSERT_EQ(another.all()->papers.size(), 1U);
  struct stat facts {};
  ASSERT_EQ(::stat((papers.folder() + "/" + contract.id.text + ".json").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  ASSERT_TRUE(another.remove(contract.id));
  EXPECT_FALSE(papers.find_now(contract.id).value().has_value());
}

TEST_F(PapersTest, ADamagedPaperIsNamedSetAsideAndReplaced) {
  const test::TemporaryFolder folder;
  FolderPapers papers(folder / "");
  std::vector<SetAside> told;
  papers.on_set_aside = [&](const SetAside& aside) { told.push_back(aside); };
  const std::string path = papers.folder() + "/" + contract.id.text + ".json";
  Paper other = whole(half());
  other.contract = ContractId("01jq3f8z5y6k7m8n9p0q1r2s3t");
  Paper swapped = whole(half());
  swapped.agreement = std::string(64, 'a');
  const std::string good = to_json(whole(half()));
  std::vector<std::string> spoilt = {"", "{", good.substr(0, good.size() / 2), to_json(other),
                                     to_json(swapped)};
  spoilt.push_back(good);
  spoilt.back()[good.find("signature\\\":\\\"") + 20] ^= 1;
  for (size_t i = 0; i < spoilt.size(); ++i) {
    ASSERT_TRUE(papers.keep_now(whole(half())));
    ASSERT_TRUE(pki::write_private(path, spoilt[i]));
    const auto found = papers.find_now(contract.id);
    ASSERT_FALSE(found) << spoilt[i];
    EXPECT_EQ(found.error().code, Code::invalid);
    EXPECT_THAT(found.error().message(), HasSubstr(path));
    EXPECT_THAT(found.error().message(), testing::Not(HasSubstr("broker's operator")));
    const auto kept = papers.keep_now(whole(half()));
    ASSERT_TRUE(kept) << kept.error().message();
    EXPECT_EQ(*papers.find_now(contract.id), whole(half()));
    ASSERT_EQ(told.size(), i + 1);
    EXPECT_EQ(told.back().paper, path);
    EXPECT_EQ(pki::read_private(told.back().now_at)->view(), spoilt[i]) << "it is evidence";
  }
}

TEST_F(PapersTest, AThousandUnitsReadAndGivenBackOneByOneLeaveAPaperThatCanBeRead) {
  constexpr int32_t k_units = 950;
  Paper paper = whole(half());
  for (int32_t i = 0; i < k_units; ++i) {
    const model::Use read{.cpu_core_ms = 1, .memory_mib_s = 1};
    paper = with(std::move(paper), provider, i + 1, {.kind = Kind::usage, .used = {{i, read}}});
    paper = with(std::move(paper), buyer, i + 1, {.kind = Kind::release, .units = {i}});
  }
  const test::TemporaryFolder folder;
  FolderPapers papers(folder / "");
  ASSERT_TRUE(papers.keep_now(paper));
  ASSERT_GT(to_json(paper).size(), pki::k_most_private_bytes);
  const auto found = papers.find_now(contract.id);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ((*found)->events.size(), size_t{2} * k_units);
}

// What a provider may say is bounded; that its buyer gives back is not bounded by it.
TEST_F(PapersTest, AFullPaperTakesAReleaseAllTheSame) {
  const Paper paper = whole(half());
  Paper full = paper;
  const Paper one = with(paper, provider, 1, {.kind = Kind::drained});
  for (size_t i = 0; i < Paper::k_most_events; ++i) {
    PaperEvent event = one.events[0];
    event.number = static_cast<int64_t>(i) + 1;
    full.events.push_back(std::move(event));
  }
  const auto notice =
      merged(full, with(paper, provider, Paper::k_most_events + 1, {.kind = Kind::notice}));
  ASSERT_FALSE(notice);
  EXPECT_EQ(notice.error().code, Code::conflict);
  const auto release = merged(full, with(paper, buyer, 1, {.kind = Kind::release}));
  ASSERT_TRUE(release) << release.error().message();
  EXPECT_EQ(last_number(*release, buyer.cluster()), 1);
}

TEST_F(PapersTest, WhoHasLetOthersReadThePinsIsToldHowToMendThat) {
  const test::TemporaryFolder folder;
  FolderPapers papers(folder / "");
  const auto pin = [&](TrustBook& book) {
    return add_pin(book, ClusterId("edge-2"), buyer.fingerprint(), now);
  };
  ASSERT_TRUE(papers.change_trust_now(pin));
  ASSERT_EQ(::chmod((papers.folder() + "/trust.json").c_str(), 0644), 0);
  const auto book = papers.read_trust_now();
  ASSERT_FALSE(book);
  EXPECT_THAT(book.error().next, testing::StartsWith("chmod 600")) << "no pin is lost by that";
}

TEST_F(PapersTest, OneThatIsDamagedHidesNoOther) {
  const test::TemporaryFolder folder;
  FolderPapers papers(folder / "");
  ASSERT_TRUE(papers.keep_now(whole(half())));
  const std::string path = papers.folder() + "/01jq3f8z5y6k7m8n9p0q1r2s3t.json";
  ASSERT_TRUE(pki::write_private(path, "{"));
  const auto all = papers.all();
  ASSERT_TRUE(all);
  ASSERT_EQ(all->papers.size(), 1U);
  EXPECT_EQ(all->papers[0].contract, contract.id);
  ASSERT_EQ(all->damaged.size(), 1U);
  EXPECT_EQ(all->damaged[0].thing, path);
}

TEST_F(PapersTest, WhatTheOperatorChangesIsReadAgain) {
  const test::TemporaryFolder folder;
  FolderPapers papers(folder / "");
  FolderPapers cli(folder / "");
  const ShownCard far{ClusterId("far"), std::string(64, 'a'), 1};
  ASSERT_TRUE(cli.change_trust_now([](TrustBook& book) {
    book.first_use = false;
    return Status();
  }));
  Result<model::Trust> told = tl::unexpected(Error{});
  const auto take = [&told](const Result<model::Trust>& how) { told = how; };
  papers.believe(far, now, take);
  EXPECT_FALSE(told);
  ASSERT_TRUE(cli.change_trust_now(
      [&](TrustBook& book) { return add_pin(book, far.cluster, far.key, now); }));
  papers.believe(far, now, take);
  EXPECT_EQ(told, model::Trust::given);
}

TEST_F(PapersTest, ADamagedBookIsNotReplacedByAnEmptyOne) {
  const test::TemporaryFolder folder;
  FolderPapers papers(folder / "");
  ASSERT_TRUE(papers.change_trust_now([](TrustBook& book) {
    book.first_use = false;
    return Status();
  }));
  const std::string path = papers.folder() + "/trust.json";
  ASSERT_TRUE(pki::write_private(path, "{"));
  const auto told = papers.change_trust_now([](TrustBook&) { return Status(); });
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message(), HasSubstr("trust.json"));
  EXPECT_EQ(pki::read_private(path)->view(), "{");
}

}  // namespace
}  // namespace spillway::agent
