// Runs a fuzz target over a stored corpus as a plain test: every file below the folder that is
// given, in order of name, after the empty input. The name is printed first, so that the last line
// before a crash tells which file did it. A missing or empty folder fails: such a test would test
// nothing. So does a corpus that does not reach what its target says that it must (reached.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Only some targets have it.
extern "C" __attribute__((weak)) const char* spillway_unreached();

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file(error)) files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool run(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  // A buffer of the exact size, so that the address sanitizer sees one byte too far.
  const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return false;
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s <folder with inputs>\n", argv[0]);
    return 2;
  }
  const std::vector<fs::path> files = files_below(argv[1]);
  if (files.empty()) {
    std::fprintf(stderr, "%s: no inputs there\n", argv[1]);
    return 1;
  }
  const std::uint8_t nothing = 0;
  LLVMFuzzerTestOneInput(&nothing, 0);
  for (const fs::path& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());
    if (!run(file)) {
      std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
      return 1;
    }
  }
  const char* unreached = spillway_unreached != nullptr ? spillway_unreached() : nullptr;
  if (unreached != nullptr) {
    std::fprintf(stderr, "%s: no file there is a whole %s\n", argv[1], unreached);
    return 1;
  }
  std::fprintf(stderr, "%zu inputs\n", files.size());
  return 0;
}
