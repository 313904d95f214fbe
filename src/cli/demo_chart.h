// The two runs side by side, as they stand: bars for a terminal, a line for anything else.
#pragma once

#include <array>
#include <string>

#include "cli/demo_run.h"
#include "cli/demo_spend.h"

namespace spillway::cli {

// What a terminal can show.
struct Look {
  bool blocks = true;  // else letters: its character set has no blocks
  bool colour = true;
};
// By the environment: LC_ALL, LC_CTYPE, LANG; NO_COLOR, TERM.
Look look_of_environment();

struct RunSeen {
  std::string name;      // cost-aware
  std::string expander;  // that it chooses by
  RunView view;
  Spend spend;
  std::map<ContractId, Instant> begun;  // when each contract became active

  std::string title() const { return name + " (" + expander + ")"; }
};

struct Seen {
  Duration at;
  std::vector<OnSale> on_sale;
  std::array<RunSeen, 2> runs;
};

inline constexpr size_t k_chart_width = 80;
inline constexpr size_t k_chart_lines = 15;  // besides the nodes'
// Lines of less than that many columns, always as many: so many of them are for the virtual nodes
// of the second run, of which it needs seven as a rule.
std::vector<std::string> chart(const Seen& seen, const Look& look, size_t node_lines);

// For files and pipes: two lines of titles, then one for each time.
std::string plain_titles(const Seen& seen);
std::string plain_line(const Seen& seen);

std::string clock_text(Duration since_begun);  // 07:05
std::string usd(int64_t micros);               // two decimals

}  // namespace spillway::cli
