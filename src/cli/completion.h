// Completion scripts, from the command line itself: a verb or an option that exists is completed.
#pragma once

#include <string>

#include "cli/word.h"

namespace spillway::cli {

std::string bash_completion(Word root);
std::string zsh_completion(Word root);
std::string fish_completion(Word root);

}  // namespace spillway::cli
