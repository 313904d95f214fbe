// Secrets on their way in: from a file, from standard input, from a person at a terminal. Never
// from an argument where there is another way: arguments can be read by everyone on the machine.
#pragma once

#include <string>

#include "base/result.h"
#include "pki/secret.h"

namespace spillway::cli {

// The first line of the file; "-" is standard input. No part of it is ever in an error.
Result<pki::Secret> read_secret_line(const std::string& path, std::string_view what);

// From `file`, or, when that is empty, asked for at the terminal without echo; twice if `repeat`.
Result<pki::Secret> read_passphrase(const std::string& file, bool repeat);

}  // namespace spillway::cli
