#include "base/money.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

TEST(Money, IsReadToTheMicroUnit) {
  EXPECT_EQ(parse_micros("1.25").value(), 1'250'000);
  EXPECT_EQ(parse_micros("0.000001").value(), 1);
  EXPECT_EQ(parse_micros("-3").value(), -3'000'000);
  EXPECT_EQ(parse_micros("9223372036854.775807").value(), INT64_MAX);
  EXPECT_EQ(parse_micros("-9223372036854.775808").value(), INT64_MIN);
}

TEST(Money, RefusesASeventhDecimalRatherThanRoundIt) {
  const auto parsed = parse_micros("0.0000001");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message(),
            "amount: \"0.0000001\" has more than six decimals; write a decimal with at most six "
            "decimals, such as 1.25");
}

TEST(Money, RefusesWhatIsNoAmount) {
  for (const char* text : {"", "-", ".", "1.", ".5", "1e3", "1,25", " 1", "1 ", "+1", "--1", "0x1",
                           "1.2.3", "9223372036854.775808", "99999999999999999999", "NaN"}) {
    EXPECT_FALSE(parse_micros(text)) << text;
  }
}

TEST(Money, IsWrittenAsTheShortestDecimal) {
  EXPECT_EQ(micros_to_text(1'250'000), "1.25");
  EXPECT_EQ(micros_to_text(0), "0");
  EXPECT_EQ(micros_to_text(-1), "-0.000001");
  EXPECT_EQ(micros_to_text(INT64_MIN), "-9223372036854.775808");
  EXPECT_EQ(to_text(Money{1'250'000, Currency{{'U', 'S', 'D'}}}), "1.25 USD");
}

TEST(Money, IsReadWithItsCurrency) {
  EXPECT_EQ(parse_money("1.25 USD").value(), (Money{1'250'000, Currency{{'U', 'S', 'D'}}}));
  for (const char* text : {"", "1.25", "USD", "1.25USD", "1.25  USD", "1.25 usd", "USD 1.25"}) {
    EXPECT_FALSE(parse_money(text)) << text;
  }
}

TEST(Currency, IsThreeCapitalLetters) {
  EXPECT_EQ(parse_currency("XCR")->text(), "XCR");
  for (const char* text : {"", "EU", "EURO", "eur", "E1R", "€", "E R"}) {
    EXPECT_FALSE(parse_currency(text)) << text;
  }
}

}  // namespace
}  // namespace spillway
