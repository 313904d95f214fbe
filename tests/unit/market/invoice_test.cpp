// Lines of an invoice: whatever the windows, they sum to what was charged.
#include "market/invoice.h"

#include <gtest/gtest.h>

#include "market/metering.h"
#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;

constexpr Window k_ever{k_first_instant, {k_last_instant.ms + 1}};

class Invoice : public testing::Test {
 protected:
  void SetUp() override {
    book.open_market(6);
    start = book.now;
  }
  OfferId offer_of(model::PriceBasis basis, Duration minimum_term) {
    model::Offer offer = minute_offer("other");
    offer.price.basis = basis;
    offer.price.minimum_term = minimum_term;
    book.publish(offer).value();
    return offer.id;
  }
  std::vector<InvoiceLine> lines(const ContractId& id, const Window& window = k_ever) {
    return lines_of(book.contract(id), window, book.now);
  }
  Window minutes_of(int64_t from, int64_t until) {
    return {start + minutes(from), start + minutes(until)};
  }

  TestBook book;
  Instant start;
};

TEST_F(Invoice, ALineSaysWhatWasPaidForAndWhy) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(20));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  const auto all = lines(id);
  ASSERT_EQ(all.size(), 1u);
  const InvoiceLine& line = all[0];
  EXPECT_EQ(line.contract, id);
  EXPECT_EQ(line.buyer, k_buyer);
  EXPECT_EQ(line.provider, k_seller);
  EXPECT_EQ(line.offer, minute_offer().id);
  EXPECT_EQ(line.why, LineReason::used);
  EXPECT_FALSE(line.running);
  EXPECT_EQ(line.from, start);
  EXPECT_EQ(line.time(), minutes(20));
  EXPECT_EQ(line.rate, 60'000);
  EXPECT_EQ(line.amount, 20'000);
}

TEST_F(Invoice, AUnitThatCrossesABorderIsSplit) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(minutes(20));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  EXPECT_TRUE(lines(id, minutes_of(-9, 0)).empty());
  EXPECT_EQ(lines(id, minutes_of(-9, 5))[0].amount, 5'000);
  EXPECT_EQ(lines(id, minutes_of(5, 6))[0].amount, 1'000);
  EXPECT_EQ(lines(id, minutes_of(6, 99))[0].amount, 14'000);
  EXPECT_EQ(lines(id, minutes_of(6, 99))[0].to, start + minutes(20));
  EXPECT_TRUE(lines(id, minutes_of(20, 99)).empty());
}

// 60,000 an hour is 1/60 of a micro-unit a millisecond: most windows have nothing, and some have
// the micro-unit that was rounded up.
TEST_F(Invoice, PartsOfAMicroUnitAreNeitherLostNorAddedTwice) {
  const ContractId id = book.active(k_buyer, 1);
  book.pass(milliseconds(130));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  ASSERT_EQ(book.purse().spent, 3);
  int64_t sum = 0;
  for (int64_t ms = -3; ms < 140; ++ms) {
    for (const InvoiceLine& line :
         lines(id, {start + milliseconds(ms), start + milliseconds(ms + 1)})) {
      sum += line.amount;
    }
  }
  EXPECT_EQ(sum, 3);
}

TEST_F(Invoice, TheMinimumTermStandsInTheWindowOfTheEnd) {
  const ContractId id = book.active(k_buyer, 1, offer_of(model::PriceBasis::reserved, minutes(30)));
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  const auto all = lines(id);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].amount, 10'000);
  EXPECT_EQ(all[1].why, LineReason::minimum_term);
  EXPECT_EQ(all[1].amount, 20'000);
  EXPECT_EQ(all[1].time(), minutes(20));
  EXPECT_EQ(lines(id, minutes_of(0, 10)).size(), 1u);
  const auto later = lines(id, minutes_of(10, 11));
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].amount, 20'000);
  EXPECT_TRUE(lines(id, minutes_of(11, 99)).empty());
}

TEST_F(Invoice, WhatWasMeteredIsALineOfItsOwn) {
  const ContractId id =
      book.active(k_buyer, 1, offer_of(model::PriceBasis::pay_per_use, minutes(30)));
  book.pass(minutes(6));
  const model::Use use{.cpu_core_ms = 360'000};
  ASSERT_TRUE(book.run(MeterUsage{k_seller, id, {{0, use}}}));
  auto running = lines(id);
  ASSERT_EQ(running.size(), 2u);
  EXPECT_EQ(running[1].why, LineReason::metered);
  EXPECT_TRUE(running[1].running);
  EXPECT_EQ(lines(id, minutes_of(0, 5)).size(), 1u) << "it is not owed yet";
  ASSERT_TRUE(book.run(Release{k_buyer, id, {}}));
  const auto all = lines(id);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].amount, 4'000);
  EXPECT_EQ(all[1].why, LineReason::minimum_term);
  EXPECT_EQ(all[1].amount, 16'000);
  EXPECT_EQ(all[2].why, LineReason::metered);
  EXPECT_EQ(all[2].use, use);
  EXPECT_EQ(all[2].amount, 1'000);
  EXPECT_FALSE(all[2].running);
}

TEST_F(Invoice, WhatRunsIsShownAsFarAsItHasCome) {
  const ContractId id = book.active(k_buyer, 2);
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0}}));
  book.pass(minutes(10));
  const auto all = lines(id);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].running);
  EXPECT_TRUE(all[1].running);
  EXPECT_EQ(all[1].to, book.now);
  EXPECT_EQ(all[1].amount, 20'000);
  // What lies before now is over, though the unit runs.
  EXPECT_FALSE(lines(id, minutes_of(10, 15))[0].running);
  EXPECT_TRUE(lines(id, minutes_of(10, 25))[0].running);
  EXPECT_TRUE(lines(id, minutes_of(25, 30)).empty());
}

TEST_F(Invoice, AHoldIsInNone) {
  const ContractId id = book.held(k_buyer, 2);
  EXPECT_TRUE(lines(id).empty());
  ASSERT_TRUE(book.run(Release{k_buyer, id, {0}}));
  ASSERT_TRUE(book.run(Confirm{k_buyer, id}));
  book.pass(minutes(1));
  ASSERT_EQ(lines(id).size(), 1u);
  EXPECT_EQ(lines(id)[0].unit, 1);
}

TEST_F(Invoice, TotalsAreByCounterpartAndCurrency) {
  const ContractId bought = book.active(k_buyer, 1);
  const ContractId other = book.active(k_rival, 2);
  book.pass(minutes(10));
  ASSERT_TRUE(book.run(Release{k_buyer, bought, {}}));
  std::vector<InvoiceLine> all = lines(bought);
  for (const InvoiceLine& line : lines(other)) all.push_back(line);
  EXPECT_EQ(totals_of(lines(bought), k_buyer),
            (std::vector<InvoiceTotal>{{InvoiceSide::bought, k_seller, {}, 10'000, 0}}));
  EXPECT_EQ(totals_of(all, k_seller),
            (std::vector<InvoiceTotal>{{InvoiceSide::sold, k_buyer, {}, 10'000, 0},
                                       {InvoiceSide::sold, k_rival, {}, 0, 20'000}}));
  all[0].amount = INT64_MAX;
  all.push_back(all[0]);
  EXPECT_EQ(totals_of(all, k_seller)[0].settled, INT64_MAX);
}

// A row of before there was metering: of what it was charged only the sum is known.
TEST_F(Invoice, RowsOfBeforeSumUpToo) {
  const ContractId id = book.active(k_buyer, 1, offer_of(model::PriceBasis::reserved, minutes(30)));
  model::Contract contract = book.contract(id);
  contract.state = model::ContractState::closed;
  contract.reason = model::EndReason::released;
  contract.units[0].live = false;
  contract.units[0].ended = *contract.started - minutes(1);  // a clock that was set back
  contract.units[0].charged = 30'000;
  int64_t sum = 0;
  for (const Window& window : {minutes_of(-60, 0), minutes_of(0, 60)}) {
    for (const InvoiceLine& line : lines_of(contract, window, book.now)) sum += line.amount;
  }
  EXPECT_EQ(sum, 30'000);
}

}  // namespace
}  // namespace spillway::market
