// A file descriptor that closes itself, and errors of system calls as our errors.
#pragma once

#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/result.h"

namespace spillway::pki {

class FileHandle {
 public:
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileHandle& operator=(FileHandle&&) = delete;
  ~FileHandle() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// "<doing> failed: <errno's text>", with a code and a next step that fit errno.
tl::unexpected<Error> fail_errno(const std::string& path, const char* doing, int error);

std::string folder_of(const std::string& path);

// Opens the folder and waits until no other holder is left; ends with the handle.
Result<FileHandle> lock_folder(const std::string& path);

}  // namespace spillway::pki
