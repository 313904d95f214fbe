#include "cli/outcome.h"

#include <cstdio>

#include "cli/safe_text.h"

namespace spillway::cli {

void tell(std::string_view verb, const Error& error) {
  fmt::print(stderr, "spillway {}: {}\n", verb, safe(error.message()));
}

int failed(std::string_view verb, const Error& error) {
  tell(verb, error);
  return k_failed;
}

int wrongly_called(std::string_view verb, const Error& error) {
  tell(verb, error);
  return k_usage;
}

int refused(std::string_view verb, const Error& error) {
  tell(verb, error);
  return error.code == Code::unavailable ? k_unreachable : k_failed;
}

}  // namespace spillway::cli
