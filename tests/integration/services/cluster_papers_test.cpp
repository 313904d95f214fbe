// Papers as ConfigMaps, over a real API: several writers, an operator with an editor, and a bound.
#include "services/agent/cluster_papers.h"

#include <future>

#include <gtest/gtest.h>

#include "live/live_cluster.h"
#include "services/agent/signatory.h"
#include "support/comes_true.h"
#include "support/nouns.h"

namespace spillway::agent {
namespace {

using Kind = model::ContractEventKind;

class ClusterPapersTest : public testing::Test {
 protected:
  ClusterPapersTest() {
    on_thread(
        [this] { papers = std::make_unique<ClusterPapers>(cluster.api(), "default", "edge"); });
  }
  ~ClusterPapersTest() override {
    on_thread([this] { papers.reset(); });
  }

  template <class F>
  void on_thread(F f) {
    cluster.thread().run([&] {
      f();
      return true;
    });
  }
  // Begins on the cluster's thread, waits here.
  template <class T>
  Result<T> wait(const std::function<void(std::function<void(Result<T>)>)>& begin) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    on_thread([&] { begin([promise](Result<T> told) { promise->set_value(std::move(told)); }); });
    auto future = promise->get_future();
    if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
      return fail(Code::unavailable, "papers", "no answer", "");
    }
    return future.get();
  }
  Result<Paper> keep(const Paper& paper) {
    return wait<Paper>([&](auto then) { papers->keep(paper, std::move(then)); });
  }
  Result<std::optional<Paper>> find(const ContractId& id) {
    return wait<std::optional<Paper>>([&](auto then) { papers->find(id, std::move(then)); });
  }
  Result<model::Trust> believe(const ShownCard& card) {
    return wait<model::Trust>(
        [&](auto then) { papers->believe(card, test::k_some_day, std::move(then)); });
  }

  Paper half(int64_t second) const {
    model::Contract contract =
        test::contract_of_units(make_contract_id(test::k_some_day + seconds(second), 1, 2), 1);
    contract.state = model::ContractState::hold;
    contract.started.reset();
    const auto document = buyer.sign(contract, {buyer.card(1, ""), provider.card(1, ""),
                                                model::Trust::given, contract.deadline});
    return paper_of(*pki::verify_agreement(*document, pki::Signers::buyer), false,
                    test::k_some_day);
  }
  Paper with_event(Paper paper, int64_t number, const Deed& deed) const {
    const auto document =
        buyer.sign({paper.agreement, paper.contract}, deed, number, test::k_some_day);
    paper.events = {event_of(*pki::verify_event(*document))};
    return paper;
  }
  size_t count() {
    const auto listed = wait<size_t>([&](auto then) {
      auto found = std::make_shared<size_t>(0);
      cluster.api().list(
          kube::k_config_maps, {.space = "default", .labels = "spillway.dev/paper=edge"},
          [found](const kube::ListPage& page) {
            if (page.is_first) *found = 0;
            *found += page.items.size();
          },
          [found, then](const Result<std::string>&) { then(*found); });
    });
    return listed.value_or(0);
  }

  Signatory buyer = *Signatory::of(pki::Key::generate_member(), "lab", ClusterId("edge-2"));
  Signatory provider = *Signatory::of(pki::Key::generate_member(), "lab", ClusterId("edge-1"));
  test::LiveCluster cluster;
  std::unique_ptr<ClusterPapers> papers;
};

TEST_F(ClusterPapersTest, KeepsWhatTheFolderWould) {
  const Paper paper = half(1);
  EXPECT_FALSE(find(paper.contract).value().has_value());
  ASSERT_TRUE(keep(paper));
  EXPECT_EQ(find(paper.contract).value(), std::optional(paper));
  ASSERT_TRUE(keep(with_event(paper, 1, {.kind = Kind::release, .units = {0}})));
  const auto told = keep(with_event(paper, 1, {.kind = Kind::drained}));
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::contended);
  EXPECT_EQ(last_number(*find(paper.contract).value(), buyer.cluster()), 1);
}

TEST_F(ClusterPapersTest, ADamagedPaperIsNamedSetAsideAndReplaced) {
  std::vector<SetAside> told;
  on_thread([&] { papers->on_set_aside = [&](const SetAside& aside) { told.push_back(aside); }; });
  const Paper paper = half(1);
  const kube::Name name{"default", "edge-paper-" + paper.contract.text};
  for (const char* key : {"damaged.json", "damaged-2.json"}) {
    ASSERT_TRUE(keep(paper));
    const auto spoilt = wait<kube::Object>([&](auto then) {
      cluster.api().change(
          kube::k_config_maps, name,
          [](kube::Object& object) {
            model::put(model::ensure(object, {"data"}), "paper.json",
                       model::text_node("{\"contract\":"));
            return Status();
          },
          std::move(then));
    });
    ASSERT_TRUE(spoilt);
    const auto found = find(paper.contract);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Code::invalid);
    EXPECT_NE(found.error().message().find(name.name + ", paper.json"), std::string::npos)
        << found.error().message();
    ASSERT_TRUE(keep(paper));
    EXPECT_EQ(find(paper.contract).value(), std::optional(paper));
    const auto object = wait<kube::Object>(
        [&](auto then) { cluster.api().get(kube::k_config_maps, name, std::move(then)); });
    ASSERT_TRUE(object);
    EXPECT_EQ(model::text_at(*object, {"data", key}), "{\"contract\":") << "it is evidence";
    EXPECT_NE(told.back().now_at.find(key), std::string::npos);
  }
  EXPECT_EQ(told.size(), 2U);
}

TEST_F(ClusterPapersTest, TwoThatWriteAtOnceLoseNothing) {
  const Paper paper = half(1);
  ASSERT_TRUE(keep(paper));
  auto first = std::make_shared<std::promise<bool>>();
  auto second = std::make_shared<std::promise<bool>>();
  on_thread([&] {
    papers->keep(with_event(paper, 1, {.kind = Kind::release, .units = {0}}),
                 [first](const Result<Paper>& kept) { first->set_value(kept.has_value()); });
    papers->keep(with_event(paper, 2, {.kind = Kind::drained}),
                 [second](const Result<Paper>& kept) { second->set_value(kept.has_value()); });
  });
  EXPECT_TRUE(first->get_future().get());
  EXPECT_TRUE(second->get_future().get());
  EXPECT_EQ(find(paper.contract).value()->events.size(), 2U);
}

TEST_F(ClusterPapersTest, WhatTheOperatorWritesCounts) {
  const ShownCard far{ClusterId("far"), std::string(64, 'a'), 1};
  EXPECT_EQ(believe(far), model::Trust::first_use);
  // As with kubectl edit.
  const auto edited = wait<kube::Object>([&](auto then) {
    cluster.api().change(
        kube::k_config_maps, {"default", "edge-trust"},
        [](kube::Object& object) {
          model::put(model::ensure(object, {"data"}), "trust.json",
                     model::text_node(R"({"version":1,"first_use":false,"pins":{"far":{"key":")" +
                                      std::string(64, 'b') +
                                      R"(","how":"given","since":"2026-01-31T09:00:00Z"}}})"));
          return Status();
        },
        std::move(then));
  });
  ASSERT_TRUE(edited);
  const auto told = believe(far);
  ASSERT_FALSE(told);
  EXPECT_NE(told.error().message().find(std::string(64, 'b')), std::string::npos);
  EXPECT_EQ(believe({far.cluster, std::string(64, 'b'), 1}), model::Trust::given);
  EXPECT_FALSE(believe({ClusterId("near"), far.key, 1}));
}

TEST_F(ClusterPapersTest, OfEndedContractsTheOldestGo) {
  constexpr int64_t k_beyond = 3;
  Paper live = half(0);
  ASSERT_TRUE(keep(live));
  for (int64_t i = 1; i <= static_cast<int64_t>(ClusterPapers::k_most) + k_beyond; ++i) {
    Paper paper = half(i);
    paper.ended = test::k_some_day;
    ASSERT_TRUE(keep(paper));
  }
  EXPECT_TRUE(test::comes_true([&] { return count() <= ClusterPapers::k_most; })) << count();
  EXPECT_TRUE(find(live.contract).value().has_value()) << "it has not ended";
  EXPECT_FALSE(find(half(1).contract).value().has_value());
  EXPECT_TRUE(find(half(500).contract).value().has_value());
}

}  // namespace
}  // namespace spillway::agent
