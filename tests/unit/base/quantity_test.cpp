#include "base/quantity.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

int64_t whole(std::string_view text) {
  const auto parsed = parse_quantity(text, QuantityStep::whole);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().message();
  return parsed.value_or(-12345);
}

int64_t milli(std::string_view text) {
  const auto parsed = parse_quantity(text, QuantityStep::milli);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().message();
  return parsed.value_or(-12345);
}

std::string refusal(std::string_view text, QuantityStep step) {
  const auto parsed = parse_quantity(text, step);
  return parsed ? "accepted as " + std::to_string(*parsed) : parsed.error().message();
}

TEST(Quantity, ReadsEverySuffixOfKubernetes) {
  EXPECT_EQ(whole("1"), 1);
  EXPECT_EQ(whole("1k"), 1000);
  EXPECT_EQ(whole("1M"), 1'000'000);
  EXPECT_EQ(whole("1G"), 1'000'000'000);
  EXPECT_EQ(whole("1T"), 1'000'000'000'000);
  EXPECT_EQ(whole("1P"), 1'000'000'000'000'000);
  EXPECT_EQ(whole("1E"), 1'000'000'000'000'000'000);
  EXPECT_EQ(whole("1Ki"), 1024);
  EXPECT_EQ(whole("1Mi"), int64_t{1} << 20);
  EXPECT_EQ(whole("1Gi"), int64_t{1} << 30);
  EXPECT_EQ(whole("1Ti"), int64_t{1} << 40);
  EXPECT_EQ(whole("1Pi"), int64_t{1} << 50);
  EXPECT_EQ(whole("1Ei"), int64_t{1} << 60);
  EXPECT_EQ(milli("500m"), 500);
  EXPECT_EQ(milli("1000000u"), 1000);
  EXPECT_EQ(milli("3000000n"), 3);
}

TEST(Quantity, ReadsFractionsAndExponentsExactly) {
  EXPECT_EQ(whole("1.5Gi"), 1'610'612'736);
  EXPECT_EQ(whole("0.5Ki"), 512);
  EXPECT_EQ(whole(".5Ki"), 512);
  EXPECT_EQ(whole("2."), 2);
  EXPECT_EQ(whole("2e3"), 2000);
  EXPECT_EQ(whole("2E3"), 2000);
  EXPECT_EQ(whole("2000e-3"), 2);
  EXPECT_EQ(whole("1.25e+2"), 125);
  EXPECT_EQ(milli("0.001"), 1);
  EXPECT_EQ(milli("1.1"), 1100);
  EXPECT_EQ(milli("2"), 2000);
  EXPECT_EQ(whole("0.0009765625Mi"), 1024);
}

TEST(Quantity, IgnoresZerosThatSayNothing) {
  EXPECT_EQ(whole("000000000000000000000000000000000000000012"), 12);
  EXPECT_EQ(whole("12.0000000000000000000000000000000000000000"), 12);
  EXPECT_EQ(whole("0e999999"), 0);
  EXPECT_EQ(whole("0.00000000000000000000000000000000000000000000"), 0);
}

TEST(Quantity, KeepsSigns) {
  EXPECT_EQ(whole("-5"), -5);
  EXPECT_EQ(whole("+5"), 5);
  EXPECT_EQ(milli("-0.5"), -500);
}

TEST(Quantity, ReachesBothEndsOfInt64) {
  EXPECT_EQ(whole("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(whole("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(refusal("9223372036854775808", QuantityStep::whole),
            "quantity: \"9223372036854775808\" is too large; write a Kubernetes quantity, such as "
            "2, 500m, 1.5 or 4Gi");
}

TEST(Quantity, RefusesWhatIsNoWholeNumberOfStepsAndNamesTheNearest) {
  EXPECT_EQ(refusal("1.5", QuantityStep::whole),
            "quantity: \"1.5\" is no whole number; the nearest that is one is 2");
  EXPECT_EQ(refusal("0.0004", QuantityStep::milli),
            "quantity: \"0.0004\" is no whole number of thousandths; the nearest that is one is 0");
  EXPECT_EQ(refusal("1500.6m", QuantityStep::milli),
            "quantity: \"1500.6m\" is no whole number of thousandths; the nearest that is one is "
            "1501m");
  EXPECT_EQ(refusal("500m", QuantityStep::whole),
            "quantity: \"500m\" is no whole number; the nearest that is one is 1");
}

TEST(Quantity, RoundsWhereToldWhichWayAndCapsWhatIsTooLarge) {
  const auto up = [](std::string_view text) {
    return parse_quantity(text, QuantityStep::whole, Rounding::up).value();
  };
  const auto down = [](std::string_view text) {
    return parse_quantity(text, QuantityStep::whole, Rounding::down).value();
  };
  EXPECT_EQ(up("1500m"), 2);
  EXPECT_EQ(down("1500m"), 1);
  EXPECT_EQ(up("2"), 2);
  EXPECT_EQ(down("2"), 2);
  EXPECT_EQ(up("1n"), 1);
  EXPECT_EQ(down("1n"), 0);
  EXPECT_EQ(up("-1500m"), -1);
  EXPECT_EQ(down("-1500m"), -2);
  EXPECT_EQ(parse_quantity("100100u", QuantityStep::milli, Rounding::up).value(), 101);
  EXPECT_EQ(up("1e30"), INT64_MAX);
  EXPECT_EQ(down("-1e30"), INT64_MIN);
  EXPECT_EQ(up("9223372036854775807.2"), INT64_MAX);
  EXPECT_EQ(down("-9223372036854775808.2"), INT64_MIN);
  EXPECT_FALSE(parse_quantity("1,5", QuantityStep::whole, Rounding::up));
}

TEST(Quantity, RefusesAbsurdNumbers) {
  for (const char* text : {"8Ei", "10E", "1e19", "1e999999999999", "99999999999999999999Ei"}) {
    EXPECT_NE(refusal(text, QuantityStep::whole).find("is too large"), std::string::npos) << text;
  }
  EXPECT_NE(refusal("1e-999", QuantityStep::whole).find("finer than any"), std::string::npos);
  EXPECT_NE(refusal("0.1234567890123456789012345678901", QuantityStep::whole).find("more digits"),
            std::string::npos);
}

TEST(Quantity, RefusesWhatIsNoQuantity) {
  for (const char* text :
       {"",    "-",  "+",   ".",    "m",    "Gi",  "1.2.3", "1 Gi", " 1",  "1 ",  "1gi",
        "1KI", "1e", "1e+", "0x10", "1Gi2", "--1", "1,5",   "NaN",  "inf", "1mm", "١"}) {
    EXPECT_FALSE(parse_quantity(text, QuantityStep::whole)) << text;
    EXPECT_FALSE(parse_quantity(text, QuantityStep::milli)) << text;
  }
  EXPECT_EQ(refusal("4GB", QuantityStep::whole),
            "quantity: \"4GB\" ends in \"GB\", which is no suffix; use one of n u m k M G T P E Ki "
            "Mi Gi Ti Pi Ei, or none");
}

TEST(Quantity, IsWrittenInItsShortestForm) {
  EXPECT_EQ(cpu_to_text(1500), "1500m");
  EXPECT_EQ(cpu_to_text(2000), "2");
  EXPECT_EQ(cpu_to_text(0), "0");
  EXPECT_EQ(cpu_to_text(-500), "-500m");
  EXPECT_EQ(bytes_to_text(int64_t{4} << 30), "4Gi");
  EXPECT_EQ(bytes_to_text(1500 * 1024), "1500Ki");
  EXPECT_EQ(bytes_to_text(1000), "1k");
  EXPECT_EQ(bytes_to_text(4000000000), "4G");
  EXPECT_EQ(bytes_to_text(0), "0");
  EXPECT_EQ(bytes_to_text(INT64_MIN), "-8Ei");
}

}  // namespace
}  // namespace spillway
