#include "services/broker/own_contracts.h"

#include <gtest/gtest.h>

namespace spillway::services {
namespace {

std::vector<host::Row> rows(const std::vector<std::string>& ids) {
  std::vector<host::Row> found;
  for (const std::string& id : ids) found.push_back({{market::Kind::contract, id}, 1, {}});
  return found;
}

std::string merged(const std::vector<std::string>& bought, const std::vector<std::string>& sold,
                   int32_t limit) {
  const OwnContracts own = merge_own(rows(bought), rows(sold), limit);
  std::string text;
  for (const host::Row& row : own.rows) text += row.key.id + " ";
  return text + (own.more ? "…" : ".");
}

TEST(OwnContracts, ComeInOrderOfIdFromBothSides) {
  EXPECT_EQ(merged({"b", "d"}, {"a", "c", "e"}, 10), "a b c d e .");
  EXPECT_EQ(merged({}, {"a"}, 10), "a .");
  EXPECT_EQ(merged({}, {}, 10), ".");
}

// A page must not go beyond what the fuller side was asked for: the next would leave some out.
TEST(OwnContracts, AreCutAtThePageAndSaySo) {
  EXPECT_EQ(merged({"x", "y"}, {"a", "b"}, 2), "a b …");
  EXPECT_EQ(merged({"a"}, {"b", "c"}, 2), "a b …");
  EXPECT_EQ(merged({"a", "b"}, {}, 2), "a b …");
  EXPECT_EQ(merged({"a"}, {"b"}, 3), "a b .");
}

TEST(OwnContracts, AreAskedForByBuyerAndByProviderFromTheSameIdOn) {
  const auto scans = scans_of_own("edge", {"after-this", 7});
  ASSERT_EQ(scans.size(), 2u);
  EXPECT_EQ(scans[0].by, host::Scan::By::owner);
  EXPECT_EQ(scans[1].by, host::Scan::By::provider);
  for (const host::Scan& scan : scans) {
    EXPECT_EQ(scan.name, "edge");
    EXPECT_EQ(scan.after, "after-this");
    EXPECT_EQ(scan.limit, 7);
  }
}

}  // namespace
}  // namespace spillway::services
