// A folder that goes away with its test. On the real disk: syncing a tmpfs proves nothing.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"

namespace spillway::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* given = std::getenv("TMPDIR");
    std::string name = given == nullptr || *given == '\0' ? "/tmp" : given;
    name += "/spillway.XXXXXX";
    SPILLWAY_CHECK(mkdtemp(name.data()) != nullptr, "no temporary folder can be made");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace spillway::test
