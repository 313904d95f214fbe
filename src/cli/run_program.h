// Another program, run to its end while the user watches.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace spillway::cli {

struct Ran {
  bool is_good = false;    // it exited with 0
  std::string output;      // all of its standard output
  std::string last_words;  // the last line of its standard error, if it failed right after it
};

// The first word is its path. What it says on its standard error is shown as it comes, except for
// last_words: whoever asked for the program puts these into an error. Ctrl-C is left to the
// program, which may have to clean up.
Result<Ran> run_program(std::vector<std::string> words);

}  // namespace spillway::cli
