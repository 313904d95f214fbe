#include "cli/table.h"

#include <gtest/gtest.h>

namespace spillway::cli {
namespace {

Table sample() {
  Table table({{"NAME"}, {"FREE", Align::right}, {"WHY"}});
  table.add({"turin/small", "12", "cheap"});
  table.add({"zürich/x", "", "because it is near, and green"});
  return table;
}

TEST(Table, AlignsWhatItShows) {
  EXPECT_EQ(sample().text(),
            "NAME         FREE  WHY\n"
            "turin/small    12  cheap\n"
            "zürich/x        -  because it is near, and green\n");
}

TEST(Table, CutsOnlyTheLastColumn) {
  EXPECT_EQ(sample().text(33),
            "NAME         FREE  WHY\n"
            "turin/small    12  cheap\n"
            "zürich/x        -  because it is…\n");
  EXPECT_EQ(sample().text(5), sample().text(31));  // never below a dozen
}

TEST(Table, PlainHasTabsAndNoTitles) {
  EXPECT_EQ(sample().plain(),
            "turin/small\t12\tcheap\nzürich/x\t-\tbecause it is near, and green\n");
}

TEST(Table, CellsAreSafe) {
  Table table({{"A"}, {"B"}});
  table.add({"x\ty", "\x1b[31m"});
  EXPECT_EQ(table.plain(), "x\\x09y\t\\x1b[31m\n");
}

TEST(Facts, AlignValuesAndLeaveOutEmptyOnes) {
  Facts facts;
  facts.add("name", "a");
  facts.add("federation", "lab\n");
  facts.add("nothing", "");
  EXPECT_EQ(facts.text(), "name        a\nfederation  lab\\x0a\n");
}

}  // namespace
}  // namespace spillway::cli
