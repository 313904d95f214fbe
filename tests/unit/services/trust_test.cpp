#include "services/agent/trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/nouns.h"

namespace spillway::agent {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const ClusterId k_far("far");
const std::string k_key(64, 'a');
const std::string k_other(64, 'b');
const Instant k_now = test::k_some_day;

ShownCard shown(const std::string& key, int64_t number = 1) { return {k_far, key, number}; }

TEST(Trust, WhoIsFirstMetIsPinnedAndMarkedAsSuch) {
  TrustBook book;
  EXPECT_EQ(believe(book, shown(k_key, 3), k_now), model::Trust::first_use);
  EXPECT_EQ(book.pins.at(k_far), (Pin{k_key, model::Trust::first_use, k_now, 3}));
  EXPECT_EQ(believe(book, shown(k_key, 3), k_now + hours(1)), model::Trust::first_use);
  EXPECT_EQ(book.pins.at(k_far).since, k_now);
}

TEST(Trust, NobodyIsPinnedOnFirstUseWhereThePolicyForbidsIt) {
  TrustBook book;
  book.first_use = false;
  const auto told = believe(book, shown(k_key), k_now);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message(),
              AllOf(HasSubstr("far"), HasSubstr(k_key), HasSubstr("spillway trust add far")));
  EXPECT_TRUE(book.pins.empty());
}

TEST(Trust, AnotherKeyIsRefusedByBothFingerprints) {
  TrustBook book;
  ASSERT_TRUE(add_pin(book, k_far, k_key, k_now));
  const TrustBook before = book;
  const auto told = believe(book, shown(k_other, 9), k_now);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::denied);
  EXPECT_THAT(told.error().message(), AllOf(HasSubstr(k_key), HasSubstr(k_other),
                                            HasSubstr("spillway trust replace far " + k_other)));
  EXPECT_EQ(book, before);
}

TEST(Trust, AnOlderCardIsRefused) {
  TrustBook book;
  ASSERT_TRUE(believe(book, shown(k_key, 5), k_now));
  const auto told = believe(book, shown(k_key, 4), k_now);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message(), AllOf(HasSubstr("number 4"), HasSubstr("5 was seen")));
  EXPECT_TRUE(believe(book, shown(k_key, 6), k_now));
  EXPECT_FALSE(believe(book, shown(k_key, 5), k_now));
}

TEST(Trust, AnOperatorsPinIsGiven) {
  TrustBook book;
  book.first_use = false;
  ASSERT_TRUE(add_pin(book, k_far, k_key, k_now));
  EXPECT_EQ(believe(book, shown(k_key), k_now), model::Trust::given);
}

TEST(Trust, AddingTheKeyThatWasMetMakesItGiven) {
  TrustBook book;
  ASSERT_TRUE(believe(book, shown(k_key, 4), k_now));
  ASSERT_TRUE(add_pin(book, k_far, k_key, k_now + hours(1)));
  EXPECT_EQ(book.pins.at(k_far), (Pin{k_key, model::Trust::given, k_now + hours(1), 4}));
}

TEST(Trust, AddingReplacesNothing) {
  TrustBook book;
  ASSERT_TRUE(believe(book, shown(k_key), k_now));
  const Status told = add_pin(book, k_far, k_other, k_now);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message(), HasSubstr("spillway trust replace far " + k_other));
  EXPECT_EQ(book.pins.at(k_far).key, k_key);
}

TEST(Trust, AReplacedKeyIsBelievedFromThenOnAndTheOldOneIsNot) {
  TrustBook book;
  ASSERT_TRUE(believe(book, shown(k_key, 4), k_now));
  ASSERT_TRUE(replace_pin(book, k_far, k_other, k_now));
  EXPECT_EQ(believe(book, shown(k_other, 5), k_now), model::Trust::given);
  EXPECT_FALSE(believe(book, shown(k_key, 6), k_now));
  EXPECT_FALSE(believe(book, shown(k_other, 3), k_now)) << "a card of before the new key";
  EXPECT_EQ(replace_pin(book, ClusterId("nobody"), k_key, k_now).error().code, Code::not_found);
}

TEST(Trust, ARemovedPinIsForgotten) {
  TrustBook book;
  ASSERT_TRUE(add_pin(book, k_far, k_key, k_now));
  ASSERT_TRUE(remove_pin(book, k_far));
  EXPECT_EQ(believe(book, shown(k_other), k_now), model::Trust::first_use);
  EXPECT_EQ(remove_pin(book, ClusterId("nobody")).error().code, Code::not_found);
}

TEST(Trust, FingerprintsAreReadAsPeopleWriteThem) {
  std::string spelled;
  for (int i = 0; i < 32; ++i) spelled += i == 0 ? "AB" : ":aB";
  std::string plain;
  for (int i = 0; i < 32; ++i) plain += "ab";
  EXPECT_EQ(read_fingerprint(spelled), plain);
  EXPECT_FALSE(read_fingerprint(plain.substr(1)));
  EXPECT_FALSE(read_fingerprint(plain + "a"));
  EXPECT_FALSE(read_fingerprint(std::string(64, 'g')));
}

TEST(Trust, TheBookIsReadAsItWasWritten) {
  TrustBook book;
  book.first_use = false;
  book.card = "signed";
  ASSERT_TRUE(add_pin(book, k_far, k_key, k_now));
  book.pins[ClusterId("near")] = {k_other, model::Trust::first_use, k_now, 7};
  EXPECT_EQ(trust_from_json(to_json(book)), book);
  EXPECT_FALSE(trust_from_json(R"({"pins":{"far":{"key":"x","how":"given","since":0}}})"));
}

}  // namespace
}  // namespace spillway::agent
