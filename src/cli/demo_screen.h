// Screen: where the two runs are watched. Drawn over again on a terminal that has room for it; else
// a line for every few minutes of the run.
#pragma once

#include "cli/demo_chart.h"

namespace spillway::cli {

class Screen {
 public:
  Screen();

  void show(const Seen& seen);
  void close();  // what is said next comes right below

 private:
  void draw_over(const Seen& seen);
  void add_line(const Seen& seen);

  Look look_;
  bool is_terminal_ = false;
  size_t node_lines_ = 0;
  size_t drawn_ = 0;  // lines, above the cursor
  size_t empty_ = 0;  // of them, the last ones
  Duration next_;
};

}  // namespace spillway::cli
