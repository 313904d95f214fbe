#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include <malloc.h>

#include "cli/command_line.h"

namespace {

int run(int argc, char** argv) {
  spillway::cli::Program program(
      "Spillway: when a cluster is full, work spills over to the best cluster that will "
      "have it.");
  program.version("spillway " SPILLWAY_VERSION);
  add_verbs(program.word());
  return program.read(argc, argv)();
}

// Exceptions stop here. Ours are Errors and told by the verbs; what is left comes from libraries,
// as when memory or the disk behind the output is full.
int run_safely(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spillway: %s\n", error.what());
  } catch (...) {
    std::fputs("spillway: it ended for an unknown reason\n", stderr);
  }
  return 1;
}

// What was printed may still be in memory: only now is it known whether it got out.
bool flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  const std::string reason = errno == 0 ? "a write failed" : std::strerror(errno);
  std::fprintf(stderr, "spillway: the output is incomplete: %s\n", reason.c_str());
  return false;
}

// Large texts come and go: a state as JSON, a list. From the heap they would leave holes that are
// never given back, a twelfth of an agent with hundreds of units. The C library would begin to do
// so by itself with the first that goes.
void keep_large_texts_off_the_heap() {
  constexpr int k_large = 64 << 10;
  mallopt(M_MMAP_THRESHOLD, k_large);
  mallopt(M_TRIM_THRESHOLD, 2 * k_large);
}

}  // namespace

int main(int argc, char** argv) {
  keep_large_texts_off_the_heap();
  const int code = run_safely(argc, argv);
  if (flush_output()) return code;
  return code == 0 ? 1 : code;
}
