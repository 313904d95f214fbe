// A broken invariant ends the process, in release builds too: to go on would be to sell on a lie.
// Only for what cannot happen; whatever an outsider can cause is a Result (base/result.h).
#pragma once

#include <string_view>

namespace spillway {

[[noreturn]] void broken_invariant(std::string_view what, const char* file, int line);

}  // namespace spillway

#define SPILLWAY_CHECK(condition, what)                         \
  do {                                                          \
    if (!(condition)) [[unlikely]] {                            \
      ::spillway::broken_invariant((what), __FILE__, __LINE__); \
    }                                                           \
  } while (false)
