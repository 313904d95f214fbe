// What units cost that are paid for anyway: until when, and after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/contract_text.h"
#include "cli/offer_text.h"
#include "support/nouns.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class PaidText : public testing::Test {
 protected:
  PaidText() {
    contract.price.minimum_term = hours(1);
    contract.started = now - minutes(48);
    contract.rate = 100'000;
    paid.contract = contract.id;
    paid.offer = contract.offer;
    paid.units = 2;
    paid.until = now + minutes(12);
  }

  const Instant now = test::k_some_day;
  const Clock clock{now, false};
  model::Contract contract = test::plain_contract();
  wire::PaidUnits paid;
};

TEST_F(PaidText, SaysUntilWhenAndWhatAnHourCostsAfter) {
  const std::string note = paid_note(paid, contract, clock);
  EXPECT_THAT(note,
              HasSubstr("ends in 12m; until then each costs nothing more, after that 0.1 EUR"));
  EXPECT_THAT(note, Not(HasSubstr("another hour")));
  EXPECT_THAT(
      contract_text(contract, clock),
      HasSubstr("ends in 12m; until then holding it costs nothing more, after that 0.1 EUR"));
}

TEST_F(PaidText, OfWhatIsPaidPerUseTheUseIsPaidBesides) {
  paid.marginal_rate = 40'000;
  EXPECT_THAT(paid_note(paid, contract, clock),
              HasSubstr("each costs up to 0.04 EUR an hour for what is used"));
}

}  // namespace
}  // namespace spillway::cli
