#include "demand/best_of_class.h"

#include <gtest/gtest.h>

#include "support/nouns.h"

namespace spillway::demand {
namespace {

Ledger::OnSale on_sale(const std::string& name, int64_t cores = 2) {
  model::Offer offer = test::plain_offer();
  offer.id = OfferId("edge-1/" + name);
  offer.shape.cpu_millis = cores * 1000;
  return {offer, 3};
}

std::vector<std::string> names_of(const std::vector<Ledger::OnSale>& offers) {
  std::vector<std::string> names;
  for (const Ledger::OnSale& one : offers) names.push_back(one.offer.id.text);
  return names;
}

using Names = std::vector<std::string>;

TEST(BestOfClass, KeepsTheFirstOfThoseThatNoPodCanTellApart) {
  EXPECT_EQ(names_of(best_of_class({on_sale("a"), on_sale("b"), on_sale("c")}, 2)),
            (Names{"edge-1/a", "edge-1/b"}));
}

TEST(BestOfClass, KeepsWhatALargePodNeedsBesideWhatIsCheapest) {
  EXPECT_EQ(names_of(best_of_class({on_sale("a"), on_sale("b"), on_sale("large", 16)}, 1)),
            (Names{"edge-1/a", "edge-1/large"}));
}

TEST(BestOfClass, CountsByLabelsTaintsRegionsAndGpus) {
  auto zone = on_sale("zone");
  zone.offer.labels = {{"zone", "b"}};
  auto taint = on_sale("taint");
  taint.offer.taints = {{"spot", "true", model::TaintEffect::no_schedule}};
  auto region = on_sale("region");
  region.offer.place.region = "eu-south-1";
  auto gpu = on_sale("gpu");
  gpu.offer.shape.gpus = {{"nvidia-a100", 1}};
  EXPECT_EQ(best_of_class({on_sale("a"), zone, taint, region, gpu, on_sale("b")}, 1).size(), 5u);
}

}  // namespace
}  // namespace spillway::demand
