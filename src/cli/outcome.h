// How a verb ends: exit codes, and errors as people read them.
#pragma once

#include <string_view>

#include "base/result.h"

namespace spillway::cli {

inline constexpr int k_ok = 0;
inline constexpr int k_failed = 1;       // refused, or not done
inline constexpr int k_usage = 2;        // wrongly called
inline constexpr int k_unreachable = 3;  // the broker: nothing is known to have happened

// "spillway token: thing: reason; next step", safe to show.
void tell(std::string_view verb, const Error& error);

int failed(std::string_view verb, const Error& error);          // 1
int wrongly_called(std::string_view verb, const Error& error);  // 2
int refused(std::string_view verb, const Error& error);         // by a broker: 1 or 3

}  // namespace spillway::cli
