#include "rank/catalogue.h"

#include <gtest/gtest.h>

#include "unit/rank/market.h"

namespace spillway::rank {
namespace {

model::Offer full_offer() {
  model::Offer offer = make_offer("edge-1/large");
  offer.shape.pods = 110;
  offer.shape.storage_bytes = 100 * k_gib;
  offer.shape.gpus = {{"nvidia-a100", 2}, {"nvidia-t4", 1}};
  offer.shape.extended = {{"example.com/fpga", 3}};
  offer.price = {
      parse_currency("CHF").value(), model::PriceBasis::pay_per_use,  1,          20'000, 3'000, 7,
      {{"nvidia-a100", 2'000'000}},  {{"example.com/fpga", 500'000}}, minutes(10)};
  offer.labels = {{"kubernetes.io/arch", "arm64"}, {"topology.kubernetes.io/zone", "turin-1"}};
  offer.taints = {{"dedicated", "guests", model::TaintEffect::no_execute},
                  {"spot", "", model::TaintEffect::prefer_no_schedule}};
  offer.place = {45'070'312, -7'686'856, "IT", "Piemonte", "Torino"};
  offer.network = {10'000, 90'000, true, "192.0.2.7:443"};
  offer.energy = make_energy(231, 12'400);
  for (int32_t hour = 0; hour < 24; ++hour) offer.energy->carbon_forecast.push_back(300 + hour);
  offer.energy->mix = {{"grid", 400}, {"solar", 600}};
  offer.energy->provenance.evidence = model::Evidence::measured;
  offer.visibility = {false, {ClusterId("a"), ClusterId("b")}, {{"vetted", "yes"}}};
  offer.terms = {hours(2), minutes(3), seconds(4), milliseconds(5)};
  offer.until = k_now + hours(5);
  return offer;
}

TEST(Catalogue, GivesBackTheOfferThatWasPut) {
  Catalogue catalogue;
  const model::Offer offer = full_offer();
  ASSERT_TRUE(model::validate(offer));
  catalogue.put_offer(offer);
  EXPECT_EQ(catalogue.find(offer.id), offer);
  const model::Offer plain = make_offer("edge-2/small");
  catalogue.put_offer(plain);
  EXPECT_EQ(catalogue.find(plain.id), plain);
  EXPECT_EQ(catalogue.find(offer.id), offer);
}

TEST(Catalogue, PutReplacesWhatIsUnderTheId) {
  Catalogue catalogue;
  model::Offer offer = full_offer();
  catalogue.put_offer(offer);
  offer.price.unit_hour = 9;
  offer.energy.reset();
  offer.visibility = {true, {}, {}};
  catalogue.put_offer(offer);
  EXPECT_EQ(catalogue.find(offer.id), offer);
  EXPECT_EQ(catalogue.size(), 1);
}

TEST(Catalogue, WhatWasErasedIsNotFoundAndLeavesNothingBehind) {
  Catalogue catalogue;
  const model::Offer offer = full_offer();
  catalogue.put_offer(offer);
  catalogue.put_pool(offer.pool, {});
  catalogue.erase_offer(offer.id);
  ASSERT_FALSE(catalogue.find(offer.id));
  EXPECT_EQ(catalogue.find(offer.id).error().code, Code::not_found);
  catalogue.erase_pool(offer.pool);
  EXPECT_EQ(catalogue.census(), Census{});
}

TEST(Catalogue, ErasingWhatIsNotThereChangesNothing) {
  Market market;
  market.add(make_offer("edge-1/small"));
  const Census before = market.catalogue.census();
  market.catalogue.erase_offer(OfferId("edge-1/large"));
  market.catalogue.erase_pool(PoolId("edge-1/other"));
  EXPECT_EQ(market.catalogue.census(), before);
}

TEST(Catalogue, ErasingOneOfferKeepsTheOthers) {
  Market market;
  for (const char* id : {"edge-1/a", "edge-2/b", "edge-3/c"}) market.add(make_offer(id));
  market.catalogue.erase_offer(OfferId("edge-1/a"));
  EXPECT_EQ(market.catalogue.find(OfferId("edge-3/c")), make_offer("edge-3/c"));
  EXPECT_EQ(market.catalogue.find(OfferId("edge-2/b")), make_offer("edge-2/b"));
  EXPECT_EQ(market.rank(make_intent()).fitting, 2);
}

TEST(Catalogue, OffersOfOnePoolShareWhatIsFree) {
  Market market;
  model::Offer large = make_offer("edge-1/large");
  large.shape.cpu_millis = 8000;
  market.add(make_offer("edge-1/small"));
  market.catalogue.put_offer(large);
  // 9 cpu, 16Gi: one large unit by cpu, four small ones by both.
  market.catalogue.put_pool(large.pool, {{9000, 16 * k_gib, 0, 0, {}, {}}, true, k_now + hours(1)});
  EXPECT_EQ(market.catalogue.free_units(*market.catalogue.find_row(large.id)), 1);
  EXPECT_EQ(market.catalogue.free_units(*market.catalogue.find_row(OfferId("edge-1/small"))), 4);
}

TEST(Catalogue, ADeficitInAnyResourceCoversNoUnit) {
  Market market;
  model::Offer offer = make_offer("edge-1/small");
  market.add(offer);
  const Row& row = *market.catalogue.find_row(offer.id);
  EXPECT_TRUE(market.catalogue.covers_a_unit(row));
  model::Resources free = offer.shape;
  free.gpus = {{"nvidia-a100", -1}};
  market.catalogue.put_pool(offer.pool, {free, true, k_now + hours(1)});
  EXPECT_FALSE(market.catalogue.covers_a_unit(row));
}

TEST(PackedOffer, KnowsTheCarbonOfEveryHour) {
  Catalogue catalogue;
  const model::Offer offer = full_offer();
  catalogue.put_offer(offer);
  const PackedOffer& packed = catalogue.find_row(offer.id)->packed;
  EXPECT_EQ(packed.carbon_at(k_now - milliseconds(1)), 231);  // before the forecast begins
  EXPECT_EQ(packed.carbon_at(k_now), 300);
  EXPECT_EQ(packed.carbon_at(k_now + minutes(59)), 300);
  EXPECT_EQ(packed.carbon_at(k_now + minutes(60)), 301);
  EXPECT_EQ(packed.carbon_at(k_now + hours(23)), 323);
  EXPECT_EQ(packed.carbon_at(k_now + hours(24)), 231);  // after it ended
  catalogue.put_offer(make_offer("edge-2/small"));
  EXPECT_EQ(catalogue.find_row(OfferId("edge-2/small"))->packed.carbon_at(k_now), std::nullopt);
}

}  // namespace
}  // namespace spillway::rank
