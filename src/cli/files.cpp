#include "cli/files.h"

#include <filesystem>
#include <fstream>

namespace spillway::cli {
namespace {

// Beyond this nobody wrote it by hand; the parsers' own limits are smaller.
constexpr size_t k_max_file = size_t{16} << 20;

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at cannot be opened either
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) {
    return fail(Code::invalid, path, "it is a directory", "name a file in it");
  }
  // Opening a pipe waits for a writer, perhaps for ever, and a device may never end.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return fail(Code::invalid, path, "it is a pipe or a device", "name a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(Code::not_found, path, "it cannot be opened", "check its name and permissions");
  }
  std::string text(k_max_file, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) return fail(Code::unavailable, path, "it cannot be read", "check the disk");
  return text;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace spillway::cli
