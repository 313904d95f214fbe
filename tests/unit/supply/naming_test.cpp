#include "supply/naming.h"

#include <gmock/gmock.h>

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

using ::testing::MatchesRegex;

std::string name_of(const PoolKey& key) { return pool_id(k_turin, key).text; }

TEST(Naming, CallsAPlainPoolByArchitectureAndStep) {
  EXPECT_EQ(name_of({"amd64", "large", {}, {}, {}}), "turin/amd64-large");
}

TEST(Naming, AddsWhatElseAPoolHasAndAFingerprint) {
  EXPECT_THAT(name_of({"amd64", "gpu", {{"nvidia.com/gpu", "nvidia-a100"}}, {}, {}}),
              MatchesRegex("turin/amd64-gpu-nvidia-a100-[0-9a-f]{8}"));
  EXPECT_THAT(name_of({"arm64", "small", {}, {{"zone", "Eu_West.1"}}, {}}),
              MatchesRegex("turin/arm64-small-eu-west-1-[0-9a-f]{8}"));
}

TEST(Naming, StaysWithinAnIdForAnything) {
  const std::string longest(63, 'x');
  const PoolKey key{longest,
                    "small",
                    {{"nvidia.com/gpu", longest}},
                    {{"zone", longest}, {"y", ""}},
                    {{"example.com/taint", "", model::TaintEffect::no_schedule}}};
  EXPECT_TRUE(check_owned_id(name_of(key)));
  EXPECT_TRUE(check_owned_id(name_of({"x_y", "a--b", {}, {}, {}})));
  model::Offer offer;
  offer.pool = pool_id(k_turin, key);
  EXPECT_TRUE(check_owned_id(offer_id(offer, std::string(24, 's')).text));
}

// "a-b" and "c" must not be taken for "a" and "b-c".
TEST(Naming, TellsKeysApartThatReadAlike) {
  EXPECT_NE(name_of({"a-b", "c", {}, {}, {}}), name_of({"a", "b-c", {}, {}, {}}));
  EXPECT_NE(name_of({"a", "s", {}, {{"k", "v"}}, {}}), name_of({"a", "s", {}, {{"l", "v"}}, {}}));
  EXPECT_NE(name_of({"a", "s", {}, {}, {{"t", "x", model::TaintEffect::no_schedule}}}),
            name_of({"a", "s", {}, {}, {{"t", "x", model::TaintEffect::no_execute}}}));
}

TEST(Naming, GivesAnOfferAnotherIdWhenWhatIsImmutableChanges) {
  model::Offer offer;
  offer.pool = PoolId("turin/amd64-large");
  offer.shape = {2000, k_gib, 10, 0, {}, {}};
  const OfferId before = offer_id(offer, "small");
  EXPECT_THAT(before.text, MatchesRegex("turin/amd64-large-small-[0-9a-f]{8}"));
  model::Offer priced = offer;
  priced.price.unit_hour = 7;
  EXPECT_EQ(offer_id(priced, "small"), before);
  model::Offer shaped = offer;
  shaped.shape.gpus = {{"nvidia-a100", 1}};
  model::Offer labelled = offer;
  labelled.labels = {{"zone", "a"}};
  model::Offer tainted = offer;
  tainted.taints = {{"t", "", model::TaintEffect::no_schedule}};
  for (const model::Offer& changed : {shaped, labelled, tainted}) {
    EXPECT_NE(offer_id(changed, "small"), before);
  }
  EXPECT_NE(offer_id(offer, "tiny"), before);
}

TEST(Naming, RefusesStepsThatWouldNotReadWell) {
  EXPECT_TRUE(check_step_name("small-2"));
  for (const char* name :
       {"", "Small", "a b", "-a", "seven-deadbeef", "aaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    EXPECT_FALSE(check_step_name(name)) << name;
  }
}

}  // namespace
}  // namespace spillway::supply
