// The whole command line as one tree, for the program, its completion and its tests.
#pragma once

#include "cli/verbs.h"

namespace spillway::cli {

// Adds every verb. Parsing leaves in `chosen` what is to be run; it must outlive the parsing.
void add_verbs(CLI::App& app, Run& chosen);

}  // namespace spillway::cli
