// What the demo computes and draws; that it plays is tested with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/demo_chart.h"
#include "cli/demo_load.h"
#include "cli/demo_notes.h"
#include "cli/demo_report.h"
#include "cli/demo_say.h"
#include "cli/safe_text.h"

namespace spillway::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Instant k_begun{1'800'000'000'000};
constexpr FastTime k_time{k_begun, 60};

OnSale sale(const std::string& seller, int64_t usd_hour, int32_t units, int64_t cpus) {
  OnSale sold{seller, {}, usd_hour * 1'000'000, units};
  sold.offer.id = OfferId(seller + "/unit");
  sold.offer.shape.cpu_millis = cpus * 1000;
  sold.offer.shape.memory_bytes = int64_t{4} << 30;
  sold.offer.shape.pods = 10;
  sold.offer.energy.emplace();
  sold.offer.energy->carbon_now = 500;
  sold.offer.energy->unit_milliwatts = 100'000;
  return sold;
}

model::Contract contract(const OnSale& sold, Duration from, int32_t units) {
  model::Contract contract;
  contract.offer = sold.offer.id;
  contract.rate = sold.rate;
  contract.started = k_begun + from;
  for (int32_t i = 0; i < units; ++i) contract.units.push_back({i, true, std::nullopt, 0, 0});
  return contract;
}

TEST(DemoLoad, RisesAndFallsLinearly) {
  EXPECT_EQ(replicas_at({}), 0);
  EXPECT_EQ(replicas_at(minutes(5)), k_most_replicas / 4);
  EXPECT_EQ(replicas_at(minutes(10)), k_most_replicas / 2);
  EXPECT_EQ(replicas_at(minutes(20)), k_most_replicas);
  EXPECT_EQ(replicas_at(minutes(35)), k_most_replicas / 4);
  EXPECT_EQ(replicas_at(minutes(40)), 0);
  EXPECT_EQ(replicas_at(minutes(59)), 0);
}

TEST(DemoSpend, CountsUnitsOnTheFastClock) {
  const OnSale far = sale("far", 45, 4, 2);
  std::vector<model::Contract> contracts{contract(far, seconds(10), 2)};
  contracts[0].units[1].live = false;
  contracts[0].units[1].ended = k_begun + seconds(20);
  const Spend spend = spend_of(contracts, {far}, k_time, k_begun + seconds(40));
  const Use use = spend.sellers.at("far");
  EXPECT_EQ(use.held, 1);
  EXPECT_EQ(use.time, minutes(40));  // 30 s and 10 s, 60 times as fast
  EXPECT_EQ(use.money, 30'000'000);
  EXPECT_EQ(use.carbon_mg, 33'333);
  EXPECT_EQ(spend.rate, 45'000'000);
}

TEST(DemoSpend, CountsNothingBeyondItsEnd) {
  const OnSale far = sale("far", 60, 4, 2);
  std::vector<model::Contract> contracts{contract(far, seconds(10), 1),
                                         contract(far, seconds(50), 1)};
  contracts[0].units[0].ended = k_begun + seconds(60);
  const Spend spend = spend_of(contracts, {far}, k_time, k_begun + seconds(30));
  EXPECT_EQ(spend.sellers.at("far").time, minutes(20));
  EXPECT_EQ(spend.sellers.at("far").held, 1);  // then it was still there
  EXPECT_EQ(spend.in_all().money, 20'000'000);
}

TEST(DemoSpend, AlwaysOnTakesTheCheapestForAPod) {
  // A pod costs 30 at large, 40 at small, 100 at dear.
  const std::vector<OnSale> on_sale{sale("small", 80, 3, 2), sale("large", 120, 1, 4),
                                    sale("dear", 200, 9, 2)};
  const Spend spend = always_on(on_sale, 7, replica_requests(), hours(1));
  EXPECT_EQ(spend.sellers.at("large").held, 1);
  EXPECT_EQ(spend.sellers.at("small").held, 2);
  EXPECT_EQ(spend.sellers.at("dear").held, 0);
  EXPECT_EQ(spend.in_all().money, 280'000'000);
}

scaler::PodView waiting(const std::string& name) {
  scaler::PodView pod;
  pod.key = "default/" + name;
  pod.is_unschedulable = true;
  return pod;
}

TEST(DemoNotes, PodsWaitUntilTheyAreSomewhere) {
  PodWaits waits;
  scaler::ClusterView cluster;
  cluster.pods = {waiting("a"), waiting("b"), waiting("c")};
  cluster.pods[2].is_unschedulable = false;  // nobody has looked at it yet
  waits.look(cluster, k_begun);
  cluster.pods[0].node = "n1";
  waits.look(cluster, k_begun + seconds(4));
  EXPECT_THAT(waits.all(k_begun + seconds(9)), ElementsAre(seconds(4), seconds(9)));
}

TEST(DemoNotes, TellWhyANodeWentBack) {
  using Kind = scaler::Action::Kind;
  Decided decided({});
  scaler::Action taint{Kind::taint};
  taint.node.row.name = "n1";
  decided.note(taint, {}, {});
  scaler::Action evict{Kind::evict};
  evict.pod.node = "n1";
  decided.note(evict, {}, {});
  scaler::Action remove{Kind::remove, "far/unit"};
  remove.nodes = {{"spillway://1/0", "n1"}, {"spillway://1/1", "n2"}};
  decided.note(remove, {}, minutes(3));
  ASSERT_EQ(decided.all().size(), 2U);
  EXPECT_EQ(decided.all()[0].why, "little used for 10m; its pod was moved first");
  EXPECT_EQ(decided.all()[1].why, "it failed");
}

UnitNode unit_at(std::string name, fabric::UnitStep step, int32_t guests) {
  UnitNode unit{std::move(name), "far"};
  unit.step = step;
  unit.guests = guests;
  return unit;
}

Seen seen_at_peak() {
  Seen seen{minutes(20), {sale("far", 45, 4, 2), sale("green", 75, 2, 2)}, {}};
  for (RunSeen& run : seen.runs) {
    run.name = "cost-unaware";
    run.expander = "random";
    run.view.placed = 16;
    run.view.waiting = 1;
    run.spend.sellers["far"].held = 3;
    run.spend.sellers["far"].money = 1'234'560'000;
    run.spend.sellers["green"].held = 1;
    run.view.units = {unit_at("sw-a-0", fabric::UnitStep::ready, 2),
                      unit_at("sw-a-1", fabric::UnitStep::ready, 1),
                      unit_at("sw-a-2", fabric::UnitStep::granted, 0)};
  }
  seen.runs[1].spend.sellers["far"].held = 1;
  seen.runs[1].view.units.resize(1);
  return seen;
}

TEST(DemoChart, FitsIntoEightyColumns) {
  for (const bool blocks : {true, false}) {
    const std::vector<std::string> lines = chart(seen_at_peak(), {blocks, false}, 8);
    EXPECT_LT(lines.size(), 24U);
    for (const std::string& line : lines) EXPECT_LT(columns(line), k_chart_width) << line;
  }
}

TEST(DemoChart, ShowsUnitsThatAreHeldAndThatAreNot) {
  std::string all;
  for (const std::string& line : chart(seen_at_peak(), {false, false}, 8)) all += line + "\n";
  EXPECT_THAT(all, HasSubstr("## ## oo ..  3 guests       ## .. .. ..  2 guests"));
  EXPECT_THAT(all, HasSubstr("far       ready      yes         2"));
  EXPECT_THAT(all, HasSubstr("################o 16, 1 wait"));
  EXPECT_THAT(all, HasSubstr("1234.56 ############"));
  EXPECT_THAT(all, Not(HasSubstr("\033")));
  for (const char c : all) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(DemoChart, ColoursTakeNoRoom) {
  const std::vector<std::string> plain = chart(seen_at_peak(), {true, false}, 8);
  const std::vector<std::string> coloured = chart(seen_at_peak(), {true, true}, 8);
  ASSERT_EQ(plain.size(), coloured.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    std::string bare = coloured[i];
    for (size_t at = 0; (at = bare.find('\033')) != std::string::npos;) {
      bare.erase(at, bare.find('m', at) - at + 1);
    }
    EXPECT_EQ(bare, plain[i]);
  }
}

TEST(DemoReport, WrapsAndSqueezesWhatTheServerTold) {
  const std::string told =
      "group far/unit: 1 held\n      tier 1             45.0  45 USD/h × 1h\n\ndecided, …\nmore\n";
  EXPECT_EQ(explanation_text(told, {false, false}),
            "  group far/unit: 1 held\n        tier 1  45.0  45 USD/h x 1h\n");
  EXPECT_EQ(wrapped("  " + std::string(70, 'a') + " bbbbbbbbb", 4),
            "  " + std::string(70, 'a') + "\n    bbbbbbbbb\n");
}

}  // namespace
}  // namespace spillway::cli
