#include "pki/private_file.h"

#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shell_text.h"
#include "pki/file_handle.h"

namespace spillway::pki {
namespace {

constexpr mode_t k_others = 077;

Status check_closed_to_others(const std::string& path, mode_t mode, const char* chmod) {
  if ((mode & k_others) == 0) return {};
  return fail(Code::denied, path, "users other than its owner may use it",
              std::string(chmod) + " " + shell_quoted(path));
}

Status ask(const WriteProbe& probe, WriteStep step) { return probe ? probe(step) : Status(); }

// The file to write to, locked. A writer before us may have renamed the file that we opened and
// waited for: then it is no longer the one of that name.
Result<FileHandle> open_draft(const std::string& draft) {
  while (true) {
    FileHandle file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.is_open()) return fail_errno(draft, "it cannot be made", errno);
    if (::flock(file.get(), LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      return fail_errno(draft, "it cannot be locked", errno);
    }
    struct stat opened {};
    struct stat named {};
    if (::fstat(file.get(), &opened) != 0) {
      return fail_errno(draft, "it cannot be looked at", errno);
    }
    if (::lstat(draft.c_str(), &named) != 0 || named.st_ino != opened.st_ino ||
        named.st_dev != opened.st_dev) {
      continue;
    }
    if (::fchmod(file.get(), 0600) != 0 || ::ftruncate(file.get(), 0) != 0) {
      return fail_errno(draft, "it cannot be emptied", errno);
    }
    return file;
  }
}

Status write_all(const FileHandle& file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno(path, "it cannot be written", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status fill_and_rename(const FileHandle& file, const std::string& draft, const std::string& path,
                       std::string_view bytes, Existing existing, const WriteProbe& probe) {
  SPILLWAY_TRY(ask(probe, WriteStep::write));
  SPILLWAY_TRY(write_all(file, path, bytes));
  SPILLWAY_TRY(ask(probe, WriteStep::sync_file));
  if (::fsync(file.get()) != 0) return fail_errno(path, "it cannot be synced", errno);
  SPILLWAY_TRY(ask(probe, WriteStep::rename));
  const unsigned int flags = existing == Existing::refuse ? RENAME_NOREPLACE : 0;
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(), flags) != 0) {
    return fail_errno(path, "it cannot be put in place", errno);
  }
  return {};
}

Status sync_folder(const std::string& folder) {
  const FileHandle handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle.is_open() || ::fsync(handle.get()) != 0) {
    return fail(Code::unavailable, folder, "it cannot be synced",
                "check the disk; what was written is there, but may not survive a power cut");
  }
  return {};
}

}  // namespace

Status write_private(const std::string& path, std::string_view bytes, Existing existing,
                     const WriteProbe& probe) {
  const std::string draft = path + ".new";
  SPILLWAY_TRY(ask(probe, WriteStep::open));
  const Result<FileHandle> file = open_draft(draft);
  if (!file) return tl::unexpected(file.error());
  if (Status filled = fill_and_rename(*file, draft, path, bytes, existing, probe); !filled) {
    ::unlink(draft.c_str());  // still ours: we hold its lock
    return filled;
  }
  SPILLWAY_TRY(ask(probe, WriteStep::sync_folder));
  return sync_folder(folder_of(path));
}

Result<Secret> read_private(const std::string& path, Readers readers, size_t most_bytes) {
  // O_NONBLOCK: opening a pipe would wait for a writer.
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return fail_errno(path, "it cannot be opened", errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return fail_errno(path, "it cannot be looked at", errno);
  if (!S_ISREG(facts.st_mode)) {
    return fail(Code::invalid, path, "it is no regular file", "name a file");
  }
  if (readers == Readers::owner_only) {
    SPILLWAY_TRY(check_closed_to_others(path, facts.st_mode, "chmod 600"));
  }
  if (std::cmp_greater(facts.st_size, most_bytes)) {
    return fail(Code::invalid, path, fmt::format("it is larger than {} MiB", most_bytes >> 20),
                "name the right file");
  }
  Secret bytes = Secret::of_size(static_cast<size_t>(facts.st_size));
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(path, "it cannot be read", errno);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.shorten(have);
  return bytes;
}

Status make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno != EEXIST) return fail_errno(path, "it cannot be made", errno);
    return check_private_folder(path);
  }
  return sync_folder(folder_of(path));
}

Status check_private_folder(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return fail_errno(path, "it cannot be looked at", errno);
  if (!S_ISDIR(facts.st_mode)) {
    return fail(Code::invalid, path, "it is no folder", "name a folder");
  }
  return check_closed_to_others(path, facts.st_mode, "chmod 700");
}

}  // namespace spillway::pki
