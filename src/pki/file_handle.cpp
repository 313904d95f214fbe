#include "pki/file_handle.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <sys/file.h>

namespace spillway::pki {

tl::unexpected<Error> fail_errno(const std::string& path, const char* doing, int error) {
  Code code = Code::unavailable;
  const char* next = "check the disk and try again";
  if (error == ENOENT || error == ENOTDIR) {
    code = Code::not_found;
    next = "check its name, and that the folder it is in exists";
  } else if (error == EACCES || error == EPERM || error == EROFS) {
    code = Code::denied;
    next = "check who owns it and its folder, and who you are";
  } else if (error == EEXIST) {
    code = Code::conflict;
    next = "choose another name, or move away what is there";
  } else if (error == ENOSPC || error == EDQUOT) {
    next = "make room on the disk";
  }
  return fail(code, path, std::string(doing) + ": " + std::generic_category().message(error), next);
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<FileHandle> lock_folder(const std::string& path) {
  FileHandle folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return fail_errno(path, "it cannot be opened", errno);
  while (::flock(folder.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return fail_errno(path, "it cannot be locked", errno);
  }
  return folder;
}

}  // namespace spillway::pki
