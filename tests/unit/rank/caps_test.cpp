#include "rank/caps.h"

#include <gmock/gmock.h>

#include "unit/rank/options.h"

namespace spillway::rank {
namespace {

using ::testing::HasSubstr;

// 2026-11-16, a Monday, at 06:30 UTC.
const Instant k_morning = parse_instant("2026-11-16T06:30:00Z").value();

Holding held_at(int64_t rate, int32_t units, Instant started) {
  Holding holding;
  holding.rate = rate;
  holding.units = units;
  holding.started = started;
  return holding;
}

EffectivePolicy capped(Caps cluster, Caps of_class = {}, std::string name = {}) {
  EffectivePolicy policy;
  policy.cluster_caps = cluster;
  policy.class_caps = of_class;
  policy.workload_class = std::move(name);
  return policy;
}

TEST(Caps, WindowsAreThoseOfUtc) {
  const auto text = [](Window window) {
    const WindowSpan span = window_at(window, k_morning);
    return to_text(span.from) + " " + to_text(span.to);
  };
  EXPECT_EQ(text(Window::hour), "2026-11-16T06:00:00Z 2026-11-16T07:00:00Z");
  EXPECT_EQ(text(Window::day), "2026-11-16T00:00:00Z 2026-11-17T00:00:00Z");
  EXPECT_EQ(text(Window::month), "2026-11-01T00:00:00Z 2026-12-01T00:00:00Z");
  const Instant december = parse_instant("2026-12-31T23:59:59.999Z").value();
  EXPECT_EQ(to_text(window_at(Window::month, december).to), "2027-01-01T00:00:00Z");
}

TEST(Caps, WhatIsHeldCountsFromItsStartToTheEndOfTheWindow) {
  const WindowSpan hour = window_at(Window::hour, k_morning);
  EXPECT_EQ(taken_by(held_at(1'000'000, 2, k_morning), hour, true), 1'000'000);
  EXPECT_EQ(taken_by(held_at(1'000'000, 2, k_morning - hours(5)), hour, true), 2'000'000);
  Holding ended = held_at(1'000'000, 1, hour.from);
  ended.ended = hour.from + minutes(6);
  EXPECT_EQ(taken_by(ended, hour, true), 100'000);
  ended.minimum_term = minutes(15);  // paid for, though not used
  EXPECT_EQ(taken_by(ended, hour, true), 250'000);
  ended.ended = hour.from - hours(1);
  ended.started = hour.from - hours(2);
  EXPECT_EQ(taken_by(ended, hour, true), 0);
}

TEST(Caps, CarbonCountsPowerTimesIntensity) {
  Holding holding = held_at(0, 1, k_morning);
  holding.milliwatt_grams = 100'000 * 500;  // 100 W at 500 g/kWh: 50 g an hour
  EXPECT_EQ(taken_by(holding, window_at(Window::hour, k_morning), false), 25'000);  // mg
}

TEST(Caps, AllowAsManyUnitsAsFit) {
  Caps caps;
  caps.money.hour = 2'000'000;
  const std::vector<Holding> held = {held_at(1'000'000, 1, k_morning - hours(9))};
  const CapRooms rooms(capped(caps), held, k_morning);
  // A million is used; each takes a quarter of one in the half hour that is left.
  const Holding unit = held_at(500'000, 1, k_morning);
  EXPECT_EQ(rooms.allowed(unit, 9).units, 4);
  EXPECT_EQ(rooms.allowed(unit, 4).bound, nullptr);
  EXPECT_EQ(rooms.allowed(held_at(0, 1, k_morning), 9).units, 9);
  EXPECT_THAT(rooms.sentence(*rooms.allowed(unit, 9).bound, unit),
              HasSubstr("the cluster's cap of 2 EUR an hour leaves 1 EUR until "
                        "2026-11-16T07:00:00Z, a unit takes 0.25 EUR"));
}

TEST(Caps, OfAClassCountOnlyWhatIsHeldForIt) {
  Caps caps;
  caps.money.hour = 1'000'000;
  Holding other = held_at(3'000'000, 1, k_morning - hours(9));
  other.workload_class = "other";
  const std::vector<Holding> held = {other};
  const Holding unit = held_at(1'000'000, 1, k_morning);
  EXPECT_EQ(CapRooms(capped({}, caps, "batch"), held, k_morning).allowed(unit, 9).units, 2);
  EXPECT_EQ(CapRooms(capped(caps, caps, "batch"), held, k_morning).allowed(unit, 9).units, 0);
}

TEST(Caps, OnMoneyAllowNothingBesideAnotherCurrency) {
  Caps caps;
  caps.money.hour = 1'000'000'000;
  Holding foreign = held_at(1, 1, k_morning);
  foreign.currency = parse_currency("USD").value();
  const std::vector<Holding> held = {foreign};
  const CapRooms rooms(capped(caps), held, k_morning);
  const Holding unit = held_at(1'000'000, 1, k_morning);
  EXPECT_EQ(rooms.allowed(unit, 1).units, 0);
  EXPECT_THAT(rooms.sentence(rooms.rooms()[0], unit), HasSubstr("another currency"));
}

}  // namespace
}  // namespace spillway::rank
