// What LossyVfs is made of, for its own two files: the contents of its files, with what is on the
// platter and what was written since; the locks on them; and the disk that they lie on.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "support/lossy_vfs.h"

namespace spillway::test {
namespace lossy {

using Lock = std::lock_guard<std::mutex>;
using Bytes = std::vector<char>;

inline constexpr size_t k_sector = 512;

struct Write {
  size_t offset = 0;
  Bytes data;
  std::optional<size_t> truncate_to;  // then it is no write
  bool interrupted = false;           // by the cut: it may have reached the platter or not
};

// Does to `bytes` what the write asked for.
void replay(Bytes& bytes, const Write& write);

// The locks of SQLite's rollback mode; WAL takes SHARED once and the others in shared memory.
struct FileLocks {
  int shared = 0;
  const void* reserved = nullptr;
  const void* pending = nullptr;
  const void* exclusive = nullptr;
};

struct SharedMemory {
  std::vector<std::unique_ptr<char[]>> regions;
  std::array<int, SQLITE_SHM_NLOCK> readers{};
  std::array<const void*, SQLITE_SHM_NLOCK> writer{};
};

struct Content {
  Bytes now;
  Bytes platter;
  std::vector<Write> unsynced;
  bool name_is_durable = false;
  FileLocks locks;
  SharedMemory memory;
};

struct Handle {
  LossyVfs::State* disk;
  std::shared_ptr<Content> content;
  std::string name;
  bool delete_on_close = false;
  int lock = SQLITE_LOCK_NONE;
  uint32_t shared_slots = 0;
  uint32_t exclusive_slots = 0;
};

struct File {
  sqlite3_file base;  // first, as SQLite wants it
  Handle* handle;
};

// What SQLite can do with an open File (lossy_file.cpp).
extern const sqlite3_io_methods k_methods;

}  // namespace lossy

struct LossyVfs::State {
  std::string name;
  sqlite3_vfs vfs{};
  sqlite3_vfs* system = nullptr;
  mutable std::mutex mutex;
  std::map<std::string, std::shared_ptr<lossy::Content>> files;
  std::map<std::string, std::shared_ptr<lossy::Content>> removed;  // and not synced since
  int64_t operations = 0;
  std::optional<int64_t> cut_at;
  bool cut_at_sync = false;
  bool cut = false;
  bool lies = false;
  bool read_only = false;
  std::optional<int64_t> limit;
  int open_files = 0;

  // Counts an operation; false: the power is gone.
  bool operate(bool is_sync = false) {
    ++operations;
    if (cut_at && operations >= *cut_at && (is_sync || !cut_at_sync)) cut = true;
    return !cut;
  }
  int64_t bytes() const {
    int64_t sum = 0;
    for (const auto& [path, content] : files) sum += static_cast<int64_t>(content->now.size());
    return sum;
  }
};

}  // namespace spillway::test
