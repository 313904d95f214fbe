#include "model/documents.h"

#include <gtest/gtest.h>

#include "model/fields.h"
#include "support/nouns.h"

namespace spillway::model {
namespace {

constexpr const char* k_offer =
    "version: 1\n"                                                  // 1
    "noun: offer\n"                                                 // 2
    "id: edge-1/small\n"                                            // 3
    "pool: edge-1/standard\n"                                       // 4
    "shape:\n"                                                      // 5
    "  cpu: 1.5\n"                                                  // 6
    "  memory: 4Gi\n"                                               // 7
    "  gpus: {nvidia-a100: 1}\n"                                    // 8
    "price:\n"                                                      // 9
    "  currency: EUR\n"                                             // 10
    "  unit_hour: 0.05\n"                                           // 11
    "labels: {zone: a}\n"                                           // 12
    "taints:\n"                                                     // 13
    "  - {key: gpu, effect: NoSchedule}\n"                          // 14
    "place: {latitude: 45.070312, longitude: -7.5, country: NO}\n"  // 15
    "visibility: {clusters: [edge-3, edge-2]}\n"                    // 16
    "terms: {lease: 1h30m}\n";                                      // 17

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// The error of k_offer after one change.
std::string bent(std::string_view from, std::string_view to) {
  const auto offer = offer_from_yaml(replaced(k_offer, from, to), "offer.yaml");
  return offer ? "accepted" : offer.error().message();
}

TEST(OfferDocument, IsReadFromYaml) {
  const auto offer = offer_from_yaml(k_offer);
  ASSERT_TRUE(offer) << offer.error().message();
  EXPECT_EQ(offer->id.text, "edge-1/small");
  EXPECT_EQ(offer->shape.cpu_millis, 1500);
  EXPECT_EQ(offer->shape.memory_bytes, 4 * test::k_gib);
  EXPECT_EQ(offer->shape.gpus, (Counts{{"nvidia-a100", 1}}));
  EXPECT_EQ(offer->price.unit_hour, 50'000);
  EXPECT_EQ(offer->place.latitude_microdegrees, 45'070'312);
  EXPECT_EQ(offer->place.longitude_microdegrees, -7'500'000);
  EXPECT_EQ(offer->place.country, "NO");
  EXPECT_EQ(offer->visibility.clusters, (std::vector{ClusterId("edge-2"), ClusterId("edge-3")}));
  EXPECT_EQ(offer->terms.lease, minutes(90));
  EXPECT_EQ(offer->terms.notice, Terms{}.notice);
}

TEST(OfferDocument, IsWrittenCompactlyWithoutDefaults) {
  EXPECT_EQ(to_json(test::plain_offer()),
            R"({"version":1,"id":"edge-1/small","pool":"edge-1/standard",)"
            R"("shape":{"cpu":"2","memory":"4Gi","pods":20},)"
            R"("price":{"currency":"EUR","unit_hour":"0.05","cpu_hour":"0.01"},)"
            R"("labels":{"arch":"amd64","zone":"a"},)"
            R"("place":{"latitude":0,"longitude":0},"visibility":"everyone"})");
}

TEST(ContractDocument, IsWrittenCompactlyWithoutDefaults) {
  EXPECT_EQ(to_json(test::plain_contract()),
            R"({"version":1,"id":"01kg9p6jnt003g000000000008","buyer":"edge-2",)"
            R"("provider":"edge-1","pool":"edge-1/standard","offer":"edge-1/small",)"
            R"("state":"active","shape":{"cpu":"2","memory":"4Gi","pods":20},)"
            R"("price":{"currency":"EUR","unit_hour":"0.05","cpu_hour":"0.01"},"rate":"0.07",)"
            R"("units":[{"number":0,"reserved":"0.14"},{"number":1,"live":false,)"
            R"("ended":"2026-01-31T09:30:00.250Z","charged":"0.07"}],)"
            R"("created":"2026-01-31T09:30:00.250Z","started":"2026-01-31T09:30:00.250Z",)"
            R"("deadline":"2026-01-31T10:30:00.250Z"})");
}

TEST(ContractDocument, OfTenThousandUnitsIsReadBack) {
  Contract contract = test::plain_contract();
  contract.units.clear();
  for (int32_t i = 0; i < 10'000; ++i) {
    contract.units.push_back({i, i == 0, std::nullopt, k_max_charge, 0});
    if (i == 0) continue;
    contract.units.back().ended = test::k_some_day;
    contract.units.back().charged = k_max_charge;
  }
  const auto back = contract_from_json(to_json(contract));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, contract);
}

TEST(Document, NamesAnUnknownFieldAndWhatWasMeant) {
  EXPECT_EQ(bent("memory:", "memroy:"),
            "offer.yaml line 7: shape.memroy: unknown field; did you mean memory?");
  EXPECT_EQ(bent("pool:", "poool:"), "offer.yaml line 4: poool: unknown field; did you mean pool?");
  EXPECT_EQ(bent("effect:", "colour:"),
            "offer.yaml line 14: taints[0].colour: unknown field; known are key, value, effect");
  EXPECT_EQ(bent("visibility: {clusters:", "visibility: {cluster:"),
            "offer.yaml line 16: visibility.cluster: unknown field; did you mean clusters?");
}

TEST(Document, NamesAMissingField) {
  EXPECT_EQ(bent("  currency: EUR\n", ""),
            "offer.yaml line 9: price.currency: it is missing; add it");
  EXPECT_EQ(bent("pool: edge-1/standard\n", ""), "offer.yaml line 1: pool: it is missing; add it");
}

TEST(Document, MustSayItsVersion) {
  EXPECT_EQ(bent("version: 1\n", ""),
            "offer.yaml line 1: it does not say its version; add version: 1");
  EXPECT_EQ(bent("version: 1", "version: 2"),
            "offer.yaml line 1: version: version 2 is not known here; this release reads version "
            "1; a newer one may read it");
  EXPECT_EQ(
      bent("version: 1", "version: 0"),
      "offer.yaml line 1: version: version 0 is not known here; this release reads version 1");
  EXPECT_EQ(bent("version: 1", "version: '1'"),
            "offer.yaml line 1: version: \"1\" where a whole number is expected");
}

TEST(Document, MustBeOfTheNounThatIsExpected) {
  EXPECT_EQ(bent("noun: offer", "noun: pool"),
            "offer.yaml line 2: noun: \"pool\" where an offer is expected");
  EXPECT_EQ(noun_in_yaml(k_offer).value(), "offer");
  EXPECT_FALSE(noun_in_yaml("version: 1\n"));
}

TEST(Document, RefusesOtherTypes) {
  EXPECT_EQ(bent("id: edge-1/small", "id: 12"),
            "offer.yaml line 3: id: 12 where text is expected; put it in quotation marks");
  EXPECT_EQ(bent("labels: {zone: a}", "labels: {zone: true}"),
            "offer.yaml line 12: labels.zone: true where text is expected; put it in quotation "
            "marks");
  EXPECT_EQ(bent("labels: {zone: a}", "labels: [zone]"),
            "offer.yaml line 12: labels: a list where an object is expected");
  EXPECT_EQ(bent("cpu: 1.5", "cpu:"),
            "offer.yaml line 6: shape.cpu: nothing where an amount is expected; write it as 2 or "
            "500m");
  EXPECT_EQ(bent("taints:\n  - {key: gpu, effect: NoSchedule}", "taints: {}"),
            "offer.yaml line 13: taints: an object where a list is expected");
  EXPECT_EQ(bent("price:\n  currency: EUR\n  unit_hour: 0.05", "price: 0.05"),
            "offer.yaml line 9: price: \"0.05\" where an object is expected");
}

TEST(Document, RefusesBadQuantities) {
  EXPECT_EQ(bent("memory: 4Gi", "memory: 4GB"),
            "offer.yaml line 7: shape.memory: \"4GB\" ends in \"GB\", which is no suffix; use one "
            "of n u m k M G T P E Ki Mi Gi Ti Pi Ei, or none");
  EXPECT_EQ(bent("cpu: 1.5", "cpu: 1.0005"),
            "offer.yaml line 6: shape.cpu: \"1.0005\" is no whole number of thousandths; the "
            "nearest that is one is 1001m");
  EXPECT_EQ(bent("cpu: 1.5", "cpu: -2"),
            "offer.yaml line 6: shape.cpu: -2 is negative; use 0 to 1125899906842");
  EXPECT_EQ(bent("memory: 4Gi", "memory: 2Pi"),
            "offer.yaml line 7: shape.memory: 2Pi is out of range; use 0 to 1Pi");
  EXPECT_EQ(bent("nvidia-a100: 1", "nvidia-a100: 0.5"),
            "offer.yaml line 8: shape.gpus.nvidia-a100: \"0.5\" is no whole number; the nearest "
            "that is one is 1");
}

TEST(Document, RefusesBadMoney) {
  EXPECT_EQ(
      bent("unit_hour: 0.05", "unit_hour: 0.0000005"),
      "offer.yaml line 11: price.unit_hour: \"0.0000005\" has more than six decimals; write a "
      "decimal with at most six decimals, such as 1.25");
  EXPECT_EQ(bent("unit_hour: 0.05", "unit_hour: -1"),
            "offer.yaml line 11: price.unit_hour: -1 is negative; use 0 to 1000000");
  EXPECT_EQ(bent("currency: EUR", "currency: Euro"),
            "offer.yaml line 10: price.currency: \"Euro\" is no currency code; write three capital "
            "letters, such as EUR");
  EXPECT_EQ(bent("currency: EUR", "currency: XCR"), "accepted");
  EXPECT_EQ(bent("unit_hour: 0.05", "unit_hour: 1e3"),
            "offer.yaml line 11: price.unit_hour: \"1e3\" is no decimal number; write a decimal "
            "with at most six decimals, such as 1.25");
}

TEST(Document, RefusesBadWordsTimesAndPlaces) {
  EXPECT_EQ(bent("effect: NoSchedule", "effect: NoSchedul"),
            "offer.yaml line 14: taints[0].effect: \"NoSchedul\" is not known here; did you mean "
            "NoSchedule?");
  EXPECT_EQ(bent("effect: NoSchedule", "effect: never"),
            "offer.yaml line 14: taints[0].effect: \"never\" is not known here; use one of "
            "NoSchedule, PreferNoSchedule, NoExecute");
  EXPECT_EQ(
      bent("lease: 1h30m", "lease: 90"),
      "offer.yaml line 17: terms.lease: 90 where text is expected; put it in quotation marks");
  EXPECT_EQ(bent("lease: 1h30m", "lease: 5s"),
            "offer.yaml line 17: terms.lease: 5s is out of range; use 10s to 365d");
  EXPECT_EQ(bent("terms:", "until: yesterday\nterms:"),
            "offer.yaml line 17: until: \"yesterday\" is no RFC 3339 time; write it as "
            "2026-01-31T09:30:00Z");
  EXPECT_EQ(bent("latitude: 45.070312", "latitude: 95"),
            "offer.yaml line 15: place.latitude: 95 degrees is out of range; use -90 to 90");
  EXPECT_EQ(bent("latitude: 45.070312", "latitude: 4507031200"),
            "offer.yaml line 15: place.latitude: \"4507031200\" degrees is out of range; use -180 "
            "to 180");
  EXPECT_EQ(
      bent("visibility: {clusters: [edge-3, edge-2]}", "visibility: evryone"),
      "offer.yaml line 16: visibility: \"evryone\" is not known here; did you mean everyone?");
  EXPECT_EQ(
      bent("[edge-3, edge-2]", "[edge-3, edge-3]"),
      "offer.yaml line 16: visibility.clusters[1]: \"edge-3\" is out of order or there twice; "
      "sort them, each once");
}

TEST(Document, MapsValidationToTheLine) {
  EXPECT_EQ(bent("pool: edge-1/standard", "pool: edge-2/standard"),
            "offer.yaml line 4: pool: \"edge-2/standard\" is not \"edge-1\"'s; sell from a pool of "
            "the cluster that the offer's id names");
}

TEST(Document, PointsIntoJsonByColumnToo) {
  const auto offer = offer_from_json(
      replaced(to_json(test::plain_offer()), "\"memory\":\"4Gi\"", "\"memory\":\"4Gb\""));
  ASSERT_FALSE(offer);
  EXPECT_EQ(offer.error().thing, "offer line 1 column 78: shape.memory");
}

TEST(Document, ShowsHostileKeysSafely) {
  const auto pool = pool_from_json("{\"version\":1,\"\\u0000\\n" + std::string(500, 'x') + "\":1}");
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error().message(),
            "pool line 1 column 14: \"\\x00\\x0a" + std::string(58, 'x') +
                "…\": unknown field; known are id, node, capacity, version, noun");
}

TEST(Document, SharesAreInPercent) {
  const std::string text = "version: 1\nshape: {cpu: 1}\ncurrency: EUR\nworth: {money: 62.5%}\n";
  EXPECT_EQ(intent_from_yaml(text)->worth.money_permille, 625);
  const auto bare = intent_from_yaml(replaced(text, "62.5%", "62.5"), "intent.yaml");
  EXPECT_EQ(bare.error().message(),
            "intent.yaml line 4: worth.money: \"62.5\" where a share is expected; write it as "
            "62.5%");
  EXPECT_FALSE(intent_from_yaml(replaced(text, "62.5%", "62.55%")));
  EXPECT_FALSE(intent_from_yaml(replaced(text, "62.5%", "-1%")));
}

// A record of another room, as codec.h promises it can be described.
enum class Colour { red, green };
constexpr std::array<Word<Colour>, 2> words_of(Colour) {
  return {{{Colour::red, "red"}, {Colour::green, "green"}}};
}

struct Row {
  PoolId pool;
  std::map<OfferId, int64_t> sold;
  std::vector<Colour> colours;
  Fingerprint body;
  uint64_t sequence = 0;
  int64_t spent = 0;
  std::optional<Contract> contract;
  bool operator==(const Row&) const = default;
};

template <class Fields>
void fields(Fields& f, Row& row) {
  f.required("pool", row.pool);
  f.with_default("sold", row.sold);
  f.with_default("colours", row.colours);
  if (f.version() >= 2) f.required("body", row.body);
  f.with_default("sequence", row.sequence);
  f.with_default("spent", row.spent, as::amount);
  f.optional("contract", row.contract);
}

TEST(Codec, ServesRecordsOfOtherRooms) {
  Row row;
  row.pool = PoolId("a/b");
  row.sold = {{OfferId("a/x"), 3}, {OfferId("a/y"), -4}};
  row.colours = {Colour::green, Colour::red};
  row.body = {1, UINT64_MAX};
  row.sequence = UINT64_MAX;
  row.spent = 1'500'000;
  row.contract = test::plain_contract();
  const std::string text = write_json(row, 2);
  const auto back = read_json<Row>(text, "row", 2);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, row);
  row.contract.reset();
  EXPECT_EQ(write_json(row, 2),
            R"({"version":2,"pool":"a/b","sold":{"a/x":3,"a/y":-4},"colours":["green","red"],)"
            R"("body":"0000000000000001ffffffffffffffff","sequence":"18446744073709551615",)"
            R"("spent":"1.5"})");
}

TEST(Codec, ReadsOlderVersionsByTheirOwnFields) {
  EXPECT_TRUE(read_json<Row>(R"({"version":1,"pool":"a/b"})", "row", 2));
  EXPECT_EQ(read_json<Row>(R"({"version":1,"pool":"a/b","body":""})", "row", 2).error().reason,
            "unknown field");
  EXPECT_EQ(read_json<Row>(R"({"version":2,"pool":"a/b"})", "row", 2).error().message(),
            "row line 1 column 1: body: it is missing; add it");
  EXPECT_EQ(read_json<Row>(R"({"version":3,"pool":"a/b"})", "row", 2).error().message(),
            "row line 1 column 2: version: version 3 is not known here; this release reads version "
            "1 to 2; a newer one may read it");
  EXPECT_EQ(read_json<Row>(R"({"version":1,"noun":"row","pool":"a/b"})", "row").error().thing,
            "row line 1 column 14: noun");
}

}  // namespace
}  // namespace spillway::model
