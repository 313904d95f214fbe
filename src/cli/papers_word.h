// spillway contracts papers: our own copies of what was signed.
#pragma once

#include "cli/word.h"

namespace spillway::cli {

void add_papers(Word contracts);

}  // namespace spillway::cli
