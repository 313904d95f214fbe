#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace spillway {

void broken_invariant(std::string_view what, const char* file, int line) {
  std::fprintf(stderr, "spillway: broken invariant: %.*s (%s:%d)\n", static_cast<int>(what.size()),
               what.data(), file, line);
  std::abort();
}

}  // namespace spillway
