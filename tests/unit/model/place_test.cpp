#include "model/place.h"

#include <gtest/gtest.h>

namespace spillway::model {
namespace {

Place at(double latitude, double longitude) {
  Place place;
  place.latitude_microdegrees = static_cast<int32_t>(latitude * 1e6);
  place.longitude_microdegrees = static_cast<int32_t>(longitude * 1e6);
  return place;
}

TEST(Place, MeasuresKnownDistances) {
  EXPECT_EQ(great_circle_metres(at(45.07, 7.69), at(45.07, 7.69)), 0);
  EXPECT_NEAR(static_cast<double>(great_circle_metres(at(0, 0), at(0, 180))), 20'015'115, 10);
  EXPECT_NEAR(static_cast<double>(great_circle_metres(at(90, 0), at(-90, 77))), 20'015'115, 10);
  // Turin to Naples.
  EXPECT_NEAR(static_cast<double>(great_circle_metres(at(45.0703, 7.6869), at(40.8518, 14.2681))),
              711'000, 3'000);
  // Across the date line the short way.
  EXPECT_NEAR(static_cast<double>(great_circle_metres(at(0, 179.5), at(0, -179.5))), 111'195, 10);
  EXPECT_EQ(great_circle_metres(at(1, 2), at(3, 4)), great_circle_metres(at(3, 4), at(1, 2)));
}

TEST(Place, RefusesWhatIsNotOnTheGlobe) {
  EXPECT_EQ(validate(at(90.000001, 0)).error().message(),
            "latitude: 90.000001 degrees is out of range; use -90 to 90");
  EXPECT_FALSE(validate(at(0, -180.000001)));
  Place place;
  place.country = "ita";
  EXPECT_FALSE(validate(place));
  place.country = "IT";
  EXPECT_TRUE(validate(place));
  place.city = "Torino\n";
  EXPECT_FALSE(validate(place));
  place.city = std::string(129, 'x');
  EXPECT_FALSE(validate(place));
}

TEST(Network, RefusesNegativeNumbers) {
  EXPECT_FALSE(validate(Network{-1, 0, false, {}}));
  EXPECT_FALSE(validate(Network{0, -1, false, {}}));
  EXPECT_TRUE(validate(Network{1000, 10'000, true, {}}));
}

TEST(Network, HasAnAddressWithAPortForProbes) {
  for (const char* good : {"", "192.0.2.7:443", "[2001:db8::7]:443"}) {
    EXPECT_TRUE(validate(Network{0, 0, false, good})) << good;
  }
  for (const char* bad :
       {"example.com:443", "192.0.2.7", ":443", "192.0.2.7:", "192.0.2.7:123456"}) {
    EXPECT_FALSE(validate(Network{0, 0, false, bad})) << bad;
  }
}

}  // namespace
}  // namespace spillway::model
