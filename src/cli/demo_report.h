// What the demo says at its end: what the runs came to beside what is always on, what was decided
// when and why, and what became of what was bought.
#pragma once

#include <string>

#include "cli/demo_chart.h"

namespace spillway::cli {

std::string result_table(const Seen& seen, const Spend& always);
// A line for each virtual node that there was, in the order in which they were bought.
std::string units_text(const RunSeen& run, FastTime time);
// A line for each decision; those that are longer go on below.
std::string decisions_text(const RunSeen& run);
// What `spillway explain` tells of a group, without what was decided about it earlier.
std::string explanation_text(std::string_view told, const Look& look);

}  // namespace spillway::cli
