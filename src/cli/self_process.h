// Another process of this same program.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"

namespace spillway::cli {

enum class Outlives { parent, nothing };  // nothing: it is killed when its parent ends

// `spillway words…` in a session of its own, so that Ctrl-C does not reach it, without input, and
// with these descriptors for what it prints. One that outlives nothing is killed when the *thread*
// ends that started it: start it from one that stays.
Result<pid_t> start_self(const std::vector<std::string>& words, int out, int err,
                         Outlives outlives);

}  // namespace spillway::cli
