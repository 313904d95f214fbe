// The whole command line as one tree, for the program, its completion and its tests.
#pragma once

#include "cli/word.h"

namespace spillway::cli {

void add_verbs(Word spillway);

}  // namespace spillway::cli
