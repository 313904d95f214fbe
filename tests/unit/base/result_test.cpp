#include "base/result.h"

#include <set>

#include <gtest/gtest.h>

namespace spillway {
namespace {

TEST(ErrorTable, HasOneRowAndOneNameForEveryCode) {
  std::set<std::string_view> names;
  for (const CodeRow& row : error_table()) {
    EXPECT_EQ(&describe(row.code), &row);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GE(row.http, 400);
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(Code::internal) + 1);
}

TEST(Error, SaysThingReasonAndNextStep) {
  EXPECT_EQ((Error{Code::taken, "offer a/b", "none is free", "wait"}.message()),
            "offer a/b: none is free; wait");
  EXPECT_EQ((Error{Code::taken, "offer a/b", "none is free", ""}.message()),
            "offer a/b: none is free");
}

}  // namespace
}  // namespace spillway
