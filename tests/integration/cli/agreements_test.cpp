// Contracts that both sides sign, as people and services live with them: a real broker, a
// provider's agent and a buyer's command line or autoscaler, real processes, real files.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "integration/cli/federation.h"
#include "integration/cli/live_autoscaler.h"
#include "services/agent/folder_papers.h"
#include "support/comes_true.h"
#include "support/text.h"

namespace spillway::cli {
namespace {

using agent::FolderPapers;
using agent::Paper;
using test::comes_true;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* k_signed_supply =
    "version: 1\n"
    "pools:\n"
    "  - id: turin/nodes\n    node: {cpu: 8, memory: 32Gi, pods: 100}\n"
    "    capacity: {cpu: 16, memory: 64Gi, pods: 200}\n"
    "offers:\n"
    "  - id: turin/small\n    pool: turin/nodes\n"
    "    shape: {cpu: 1, memory: 2Gi, pods: 10}\n"
    "    price: {currency: EUR, unit_hour: 0.10}\n"
    "    place: {latitude: 45.07, longitude: 7.68, country: IT}\n    visibility: everyone\n";

class SignedFederation : public Federation {
 protected:
  void SetUp() override {
    Federation::SetUp();
    join("turin", "provider");
    join("lyon", "consumer");
    std::ofstream(folder / "supply.yaml") << k_signed_supply;
  }

  void start_agent() {
    agent = std::make_unique<Running>(std::vector<std::string>{"agent", "--dir", folder / "turin",
                                                               "--supply", folder / "supply.yaml"},
                                      folder / "agent.out", folder / "agent.err");
  }
  void start_selling() {
    start_agent();
    const Ended offers = run_until("offers --cpu 1" + dir("lyon"), [](const Ended& ended) {
      return test::has(ended.out, "turin/small");
    });
    ASSERT_THAT(offers.out, HasSubstr("turin/small")) << text_of(folder / "agent.err");
    const Ended card = run_until("trust show" + dir("turin"), [](const Ended& ended) {
      return test::has(ended.out, "number 1");
    });
    ASSERT_THAT(card.out, HasSubstr("number 1")) << card.err << text_of(folder / "agent.err");
  }
  std::string hold() {
    const Ended held = run_spillway("hold turin/small --units 2 -o plain" + dir("lyon"));
    EXPECT_EQ(held.code, 0) << held.err;
    return held.out.substr(0, held.out.find('\n'));
  }
  std::string fingerprint(const std::string& name) {
    const std::string out = run_spillway("trust show -o plain" + dir(name)).out;
    return out.substr(0, 64);
  }
  std::optional<Paper> paper(const std::string& member, const std::string& id) const {
    const auto found = FolderPapers(folder / member).find_now(ContractId(id));
    return found ? *found : std::nullopt;
  }
  bool has_equal_copies(const std::string& id) const {
    const auto buyers = paper("lyon", id);
    const auto providers = paper("turin", id);
    return buyers && providers && buyers->complete && providers->complete &&
           buyers->document == providers->document;
  }
  std::string why() const { return text_of(folder / "agent.err"); }

  std::unique_ptr<Running> agent;
};

TEST_F(SignedFederation, BothSignAndBothHaveACopy) {
  start_selling();
  const std::string id = hold();
  const Ended confirmed = run_spillway("contracts confirm " + id + dir("lyon"));
  ASSERT_EQ(confirmed.code, 0) << confirmed.err << why();
  EXPECT_THAT(confirmed.out, HasSubstr("active"));
  EXPECT_TRUE(comes_true([&] { return has_equal_copies(id); })) << why();
  for (const char* member : {"lyon", "turin"}) {
    const Ended proof = run_spillway("contracts show " + id + " --verify" + dir(member));
    EXPECT_EQ(proof.code, 0) << proof.out << proof.err;
    EXPECT_THAT(proof.out, AllOf(HasSubstr("proven"), HasSubstr("first-use"), HasSubstr("our own"),
                                 HasSubstr(fingerprint("lyon")), HasSubstr(fingerprint("turin")),
                                 HasSubstr("accepted")));
  }
  EXPECT_EQ(run_spillway("contracts renew " + id + dir("lyon")).code, 0);
  EXPECT_EQ(run_spillway("contracts release " + id + " --unit 1" + dir("lyon")).code, 0);
  // The provider hears of it, and has it signed in its own copy.
  EXPECT_TRUE(comes_true([&] { return paper("turin", id)->events.size() == 3; })) << why();
  const Ended proof = run_spillway("contracts show " + id + " --verify" + dir("turin"));
  EXPECT_EQ(proof.code, 0) << proof.out << proof.err;
  EXPECT_THAT(proof.out, AllOf(HasSubstr("renewal"), HasSubstr("units 1")));
  EXPECT_EQ(run_spillway("contracts notice " + id + dir("turin")).code, 0);
  EXPECT_EQ(run_spillway("contracts show " + id + " --verify" + dir("lyon")).code, 0);
  EXPECT_EQ(run_spillway("contracts release " + id + dir("lyon")).code, 0);
  EXPECT_TRUE(comes_true([&] { return paper("turin", id)->ended.has_value(); })) << why();
  EXPECT_THAT(run_spillway("contracts papers" + dir("turin")).out, HasSubstr(id));
  EXPECT_THAT(run_spillway("contracts papers --prune" + dir("lyon")).out, HasSubstr("0 of 1"));
  EXPECT_THAT(run_spillway("contracts papers --prune --older-than 1ms" + dir("lyon")).out,
              HasSubstr("1 of 1"));
}

TEST_F(SignedFederation, ADamagedCopyStopsNobodyFromGivingBack) {
  start_selling();
  std::vector<std::string> ids;
  for (int i = 0; i < 2; ++i) {
    ids.push_back(hold());
    ASSERT_EQ(run_spillway("contracts confirm " + ids[i] + dir("lyon")).code, 0) << why();
  }
  const std::string path = folder / "lyon/papers/" + ids[0] + ".json";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Ended listed = run_spillway("contracts papers" + dir("lyon"));
  EXPECT_EQ(listed.code, 1);
  EXPECT_THAT(listed.out, AllOf(HasSubstr(ids[1]), testing::Not(HasSubstr(ids[0]))));
  EXPECT_THAT(listed.err, HasSubstr(path));
  EXPECT_THAT(run_spillway("contracts papers -o json" + dir("lyon")).out,
              AllOf(HasSubstr(ids[1]), HasSubstr(path)));
  const Ended released = run_spillway("contracts release " + ids[0] + " --unit 1" + dir("lyon"));
  EXPECT_EQ(released.code, 0) << released.err;
  EXPECT_THAT(released.err,
              AllOf(HasSubstr(path + ".damaged"), testing::Not(HasSubstr("broker's operator"))));
  EXPECT_TRUE(std::filesystem::exists(path + ".damaged"));
  EXPECT_TRUE(has_equal_copies(ids[0]));
  EXPECT_EQ(run_spillway("contracts papers" + dir("lyon")).code, 0);
}

TEST_F(SignedFederation, KeysThatWereGivenAreKnownAsGiven) {
  EXPECT_EQ(run_spillway("trust policy -o plain" + dir("lyon")).out, "yes\n");
  EXPECT_EQ(run_spillway("trust policy --first-use no" + dir("lyon")).code, 0);
  EXPECT_EQ(run_spillway("trust policy -o plain" + dir("lyon")).out, "no\n");
  EXPECT_EQ(run_spillway("trust policy -o json" + dir("lyon")).out, "{\"first_use\":false}\n");
  start_selling();
  const Ended stranger = run_spillway("hold turin/small --confirm" + dir("lyon"));
  EXPECT_EQ(stranger.code, 1);
  EXPECT_THAT(stranger.err, AllOf(HasSubstr("spillway trust add turin"),
                                  HasSubstr(fingerprint("turin")), HasSubstr("was given back")));
  EXPECT_EQ(run_spillway("contracts" + dir("lyon")).out, "No contracts.\n");
  EXPECT_EQ(run_spillway("trust add turin " + fingerprint("turin") + dir("lyon")).code, 0);
  EXPECT_EQ(run_spillway("trust add lyon " + fingerprint("lyon") + dir("turin")).code, 0);
  const Ended held = run_spillway("hold turin/small --confirm -o plain" + dir("lyon"));
  ASSERT_EQ(held.code, 0) << held.err << why();
  const std::string id = held.out.substr(0, held.out.find('\n'));
  const Ended proof = run_spillway("contracts show " + id + " --verify" + dir("lyon"));
  EXPECT_EQ(proof.code, 0) << proof.err;
  EXPECT_THAT(proof.out, AllOf(HasSubstr("(given)"), HasSubstr("buyer's key by: given")));
  EXPECT_THAT(run_spillway("trust list" + dir("lyon")).out,
              AllOf(HasSubstr("turin"), HasSubstr("given")));
}

TEST_F(SignedFederation, AnotherKeyNeedsTheOperatorsConsent) {
  const std::string wrong(64, 'a');
  EXPECT_EQ(run_spillway("trust add turin " + wrong + dir("lyon")).code, 0);
  start_selling();
  const std::string id = hold();
  const Ended refused = run_spillway("contracts confirm " + id + dir("lyon"));
  EXPECT_EQ(refused.code, 1);
  const std::string right = fingerprint("turin");
  EXPECT_THAT(refused.err, AllOf(HasSubstr(wrong), HasSubstr(right),
                                 HasSubstr("spillway trust replace turin " + right)));
  EXPECT_EQ(run_spillway("trust add turin " + right + dir("lyon")).code, 1);
  EXPECT_EQ(run_spillway("trust replace turin " + right + dir("lyon")).code, 0);
  EXPECT_EQ(run_spillway("contracts confirm " + id + dir("lyon")).code, 0) << why();
}

TEST_F(SignedFederation, AProviderThatDoesNotSignIsSaidSo) {
  start_selling();
  EXPECT_EQ(agent->stop(SIGTERM), 0);
  const std::string id = hold();
  const Ended waited = run_spillway("contracts confirm " + id + " --wait 1s" + dir("lyon"));
  EXPECT_EQ(waited.code, 1);
  EXPECT_THAT(waited.err, AllOf(HasSubstr("turin has not signed"), HasSubstr(id)));
  EXPECT_EQ(run_spillway("contracts show " + id + " --verify" + dir("lyon")).code, 1);
  start_agent();
  EXPECT_EQ(run_spillway("contracts confirm " + id + dir("lyon")).code, 0) << why();
  EXPECT_TRUE(comes_true([&] { return has_equal_copies(id); }));
}

// As soon as it has written its signature down: before it is sent, while it is, or just after.
TEST_F(SignedFederation, AnAgentThatIsKilledBetweenSigningAndSendingGoesOn) {
  start_selling();
  for (int round = 0; round < 4; ++round) {
    const std::string id = hold();
    agent->signal(SIGSTOP);
    EXPECT_EQ(run_spillway("contracts confirm " + id + " --wait 1ms" + dir("lyon")).code, 1);
    agent->signal(SIGCONT);
    const std::string path = folder / "turin/papers/" + id + ".json";
    EXPECT_TRUE(comes_true([&] { return std::filesystem::exists(path); })) << why();
    agent->stop(SIGKILL);
    const auto before = paper("turin", id);
    ASSERT_TRUE(before && before->complete);
    start_agent();
    const Ended confirmed = run_spillway("contracts confirm " + id + dir("lyon"));
    EXPECT_EQ(confirmed.code, 0) << confirmed.err << why();
    EXPECT_TRUE(has_equal_copies(id));
    EXPECT_EQ(paper("turin", id)->document, before->document);
    EXPECT_EQ(run_spillway("contracts release " + id + dir("lyon")).code, 0);
  }
}

TEST_F(LiveAutoscaler, BuysByTwoSignatures) {
  std::ofstream(folder_ / "supply.yaml")
      << "version: 1\n"
         "pools:\n"
         "  - id: seller/nodes\n    node: {cpu: 8, memory: 32Gi, pods: 100}\n"
         "    capacity: {cpu: 16, memory: 64Gi, pods: 200}\n"
         "offers:\n"
         "  - id: seller/small\n    pool: seller/nodes\n"
         "    shape: {cpu: 1, memory: 2Gi, pods: 10}\n"
         "    price: {currency: EUR, unit_hour: 0.10}\n"
         "    place: {latitude: 45.07, longitude: 7.68, country: IT}\n    visibility: everyone\n";
  const std::string seller = federation_.join_folder("seller", {model::Role::provider});
  Running agent({"agent", "--dir", seller, "--supply", folder_ / "supply.yaml"},
                folder_ / "agent.out", folder_ / "agent.err");
  const std::string home = federation_.join_folder("home", {model::Role::consumer}, &home_papers_);
  process_ = std::make_unique<test::AutoscalerProcess>(
      home, folder_ / "kubeconfig", std::vector<std::string>{"--backend", "embedded"});
  run();
  ASSERT_TRUE(comes([this] { return cloud_.groups().value().size() == 1; }));
  ASSERT_TRUE(comes_true([&] { return !FolderPapers(seller).read_trust_now()->card.empty(); }));
  ASSERT_EQ(code_of(cloud_.increase(k_small, 2)), GrpcCode::ok) << text_of(folder_ / "agent.err");
  EXPECT_EQ(sold(), 2);
  const auto bought = FolderPapers(home).all();
  ASSERT_TRUE(bought && bought->papers.size() == 1);
  const Paper& first = bought->papers.front();
  EXPECT_TRUE(first.complete);
  const auto sold_ = FolderPapers(seller).find_now(first.contract);
  ASSERT_TRUE(sold_ && *sold_);
  EXPECT_EQ((*sold_)->document, first.document);
  // A unit is given back by a signature, too.
  const std::string name = nodes().at(0).id;
  EXPECT_EQ(code_of(cloud_.remove(k_small, demand::NodeRef{name, {}})), GrpcCode::ok);
  EXPECT_TRUE(comes([this] { return sold() == 1; }));
  EXPECT_TRUE(comes_true([&] {
    for (const agent::PaperEvent& event :
         FolderPapers(seller).find_now(first.contract).value()->events) {
      if (event.kind == model::ContractEventKind::release) return true;
    }
    return false;
  })) << text_of(folder_ / "agent.err");
  EXPECT_EQ(process_->end(), 0);
}

}  // namespace
}  // namespace spillway::cli
