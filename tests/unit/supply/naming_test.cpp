#include "supply/naming.h"

#include <gmock/gmock.h>

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

using ::testing::MatchesRegex;

std::string name_of(const PoolKey& key) { return pool_id(k_turin, key).text; }

const model::Resources k_size{8000, 32 * k_gib, 110, 0, {}, {}};

TEST(Naming, CallsAPlainPoolByArchitectureAndSize) {
  EXPECT_THAT(name_of({"amd64", k_size, {}, {}, {}}),
              MatchesRegex("turin/amd64-8cpu-32gi-[0-9a-f]{8}"));
  const model::Resources odd{7910, 31 * k_gib + k_gib / 2, 110, 0, {}, {}};
  EXPECT_THAT(name_of({"amd64", odd, {}, {}, {}}),
              MatchesRegex("turin/amd64-7910m-32256mi-[0-9a-f]{8}"));
}

TEST(Naming, AddsWhatElseAPoolHasAndAFingerprint) {
  EXPECT_THAT(name_of({"amd64", k_size, {{"nvidia.com/gpu", "nvidia-a100"}}, {}, {}}),
              MatchesRegex("turin/amd64-8cpu-32gi-nvidia-a100-[0-9a-f]{8}"));
  EXPECT_THAT(name_of({"arm64", k_size, {}, {{"zone", "Eu_West.1"}}, {}}),
              MatchesRegex("turin/arm64-8cpu-32gi-eu-west-1-[0-9a-f]{8}"));
}

TEST(Naming, StaysWithinAnIdForAnything) {
  const std::string longest(63, 'x');
  const PoolKey key{longest,
                    k_size,
                    {{"nvidia.com/gpu", longest}},
                    {{"zone", longest}, {"y", ""}},
                    {{"example.com/taint", "", model::TaintEffect::no_schedule}}};
  EXPECT_TRUE(check_owned_id(name_of(key)));
  EXPECT_TRUE(check_owned_id(name_of({"x_y", k_size, {}, {}, {}})));
  model::Offer offer;
  offer.pool = pool_id(k_turin, key);
  EXPECT_TRUE(check_owned_id(offer_id(offer, std::string(24, 's')).text));
}

TEST(Naming, TellsKeysApartThatReadAlike) {
  const std::string plain = name_of({"a", k_size, {}, {{"k", "v"}}, {}});
  EXPECT_NE(name_of({"a", k_size, {}, {{"l", "v"}}, {}}), plain);
  model::Resources fewer_pods = k_size;
  fewer_pods.pods = 100;
  EXPECT_NE(name_of({"a", fewer_pods, {}, {{"k", "v"}}, {}}), plain);
  EXPECT_NE(name_of({"a", k_size, {}, {}, {{"t", "x", model::TaintEffect::no_schedule}}}),
            name_of({"a", k_size, {}, {}, {{"t", "x", model::TaintEffect::no_execute}}}));
}

TEST(Naming, GivesAnOfferAnotherIdWhenWhatIsImmutableChanges) {
  model::Offer offer;
  offer.pool = PoolId("turin/amd64-8cpu-32gi-1f0c9d2e");
  offer.shape = {2000, k_gib, 10, 0, {}, {}};
  const OfferId before = offer_id(offer, "small");
  EXPECT_THAT(before.text, MatchesRegex("turin/amd64-8cpu-32gi-small-[0-9a-f]{8}"));
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
