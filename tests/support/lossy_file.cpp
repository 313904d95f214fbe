#include "support/lossy_file.h"

#include <algorithm>
#include <cstring>

namespace spillway::test::lossy {
namespace {

Handle& handle_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file)->handle; }

int close_file(sqlite3_file* file) {
  Handle& handle = handle_of(file);
  {
    const Lock lock(handle.disk->mutex);
    --handle.disk->open_files;
    if (handle.delete_on_close) handle.disk->files.erase(handle.name);
  }
  delete &handle;
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* out, int amount, sqlite3_int64 offset) {
  Handle& handle = handle_of(file);
  const Lock lock(handle.disk->mutex);
  if (handle.disk->cut) return SQLITE_IOERR_READ;
  const Bytes& bytes = handle.content->now;
  const auto from = static_cast<size_t>(offset);
  const auto wanted = static_cast<size_t>(amount);
  const size_t there = from < bytes.size() ? std::min(wanted, bytes.size() - from) : 0;
  if (there > 0) std::memcpy(out, bytes.data() + from, there);
  if (there == wanted) return SQLITE_OK;
  std::memset(static_cast<char*>(out) + there, 0, wanted - there);
  return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, const void* data, int amount, sqlite3_int64 offset) {
  Handle& handle = handle_of(file);
  LossyVfs::State& disk = *handle.disk;
  const Lock lock(disk.mutex);
  if (disk.cut) return SQLITE_IOERR_WRITE;
  if (disk.read_only) return SQLITE_READONLY;
  Content& content = *handle.content;
  const auto* from = static_cast<const char*>(data);
  Write write{static_cast<size_t>(offset), Bytes(from, from + amount), std::nullopt};
  const auto grown = static_cast<int64_t>(write.offset + write.data.size()) -
                     static_cast<int64_t>(content.now.size());
  if (disk.limit && grown > 0 && disk.bytes() + grown > *disk.limit) return SQLITE_FULL;
  // The one that the power interrupts may reach the platter, or a part of it.
  const bool lives = disk.operate();
  if (lives) replay(content.now, write);
  write.interrupted = !lives;
  content.unsynced.push_back(std::move(write));
  return lives ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  Handle& handle = handle_of(file);
  LossyVfs::State& disk = *handle.disk;
  const Lock lock(disk.mutex);
  if (disk.cut) return SQLITE_IOERR_TRUNCATE;
  if (disk.read_only) return SQLITE_READONLY;
  Write write{0, {}, static_cast<size_t>(size)};
  const bool lives = disk.operate();
  if (lives) replay(handle.content->now, write);
  write.interrupted = !lives;
  handle.content->unsynced.push_back(write);
  return lives ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

int sync_file(sqlite3_file* file, int) {
  Handle& handle = handle_of(file);
  LossyVfs::State& disk = *handle.disk;
  const Lock lock(disk.mutex);
  if (disk.cut || !disk.operate(true)) return SQLITE_IOERR_FSYNC;
  if (disk.lies) return SQLITE_OK;
  Content& content = *handle.content;
  for (const Write& write : content.unsynced) replay(content.platter, write);
  content.unsynced.clear();
  content.name_is_durable = true;
  disk.removed.clear();
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  Handle& handle = handle_of(file);
  const Lock lock(handle.disk->mutex);
  if (handle.disk->cut) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>(handle.content->now.size());
  return SQLITE_OK;
}

bool held_by_other(const void* holder, const Handle& handle) {
  return holder != nullptr && holder != &handle;
}

int lock_file(sqlite3_file* file, int level) {
  Handle& handle = handle_of(file);
  const Lock lock(handle.disk->mutex);
  FileLocks& locks = handle.content->locks;
  if (handle.lock >= level) return SQLITE_OK;
  if (level == SQLITE_LOCK_SHARED) {
    if (locks.pending != nullptr || locks.exclusive != nullptr) return SQLITE_BUSY;
    ++locks.shared;
  } else if (level == SQLITE_LOCK_RESERVED) {
    if (held_by_other(locks.reserved, handle)) return SQLITE_BUSY;
    locks.reserved = &handle;
  } else {
    if (held_by_other(locks.pending, handle) || held_by_other(locks.reserved, handle)) {
      return SQLITE_BUSY;
    }
    locks.pending = &handle;
    handle.lock = std::max(handle.lock, SQLITE_LOCK_PENDING);
    if (locks.shared > 1) return SQLITE_BUSY;
    locks.exclusive = &handle;
  }
  handle.lock = level;
  return SQLITE_OK;
}

int unlock_file(sqlite3_file* file, int level) {
  Handle& handle = handle_of(file);
  const Lock lock(handle.disk->mutex);
  FileLocks& locks = handle.content->locks;
  if (handle.lock <= level) return SQLITE_OK;
  for (const void** holder : {&locks.reserved, &locks.pending, &locks.exclusive}) {
    if (*holder == &handle) *holder = nullptr;
  }
  if (level == SQLITE_LOCK_NONE) --locks.shared;
  handle.lock = level;
  return SQLITE_OK;
}

int check_reserved(sqlite3_file* file, int* answer) {
  Handle& handle = handle_of(file);
  const Lock lock(handle.disk->mutex);
  *answer = handle.content->locks.reserved != nullptr ? 1 : 0;
  return SQLITE_OK;
}

int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return k_sector; }
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int map_memory(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  Handle& handle = handle_of(file);
  const Lock lock(handle.disk->mutex);
  *out = nullptr;
  if (handle.disk->cut) return SQLITE_IOERR_SHMMAP;
  auto& regions = handle.content->memory.regions;
  const auto index = static_cast<size_t>(region);
  if (index >= regions.size() && extend == 0) return SQLITE_OK;
  while (index >= regions.size()) {
    regions.push_back(std::make_unique<char[]>(static_cast<size_t>(size)));
  }
  *out = regions[index].get();
  return SQLITE_OK;
}

int lock_memory(sqlite3_file* file, int offset, int count, int flags) {
  Handle& handle = handle_of(file);
  const Lock lock(handle.disk->mutex);
  SharedMemory& memory = handle.content->memory;
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  const bool wants = (flags & SQLITE_SHM_LOCK) != 0;
  for (int i = offset; wants && i < offset + count; ++i) {
    const auto slot = static_cast<size_t>(i);
    const int mine = (handle.shared_slots >> i) & 1U;
    if (held_by_other(memory.writer[slot], handle)) return SQLITE_BUSY;
    if (exclusive && memory.readers[slot] > mine) return SQLITE_BUSY;
  }
  for (int i = offset; i < offset + count; ++i) {
    const auto slot = static_cast<size_t>(i);
    uint32_t& mine = exclusive ? handle.exclusive_slots : handle.shared_slots;
    const uint32_t bit = uint32_t{1} << i;
    const bool had = (mine & bit) != 0;
    if (wants == had) continue;
    mine ^= bit;
    if (exclusive) {
      memory.writer[slot] = wants ? &handle : nullptr;
    } else {
      memory.readers[slot] += wants ? 1 : -1;
    }
  }
  return SQLITE_OK;
}

void barrier(sqlite3_file* file) { const Lock lock(handle_of(file).disk->mutex); }

int unmap_memory(sqlite3_file* file, int remove) {
  Handle& handle = handle_of(file);
  const Lock lock(handle.disk->mutex);
  if (remove != 0) handle.content->memory = SharedMemory();
  return SQLITE_OK;
}

}  // namespace

void replay(Bytes& bytes, const Write& write) {
  if (write.truncate_to) {
    bytes.resize(std::min(bytes.size(), *write.truncate_to));
    return;
  }
  const size_t end = write.offset + write.data.size();
  if (bytes.size() < end) bytes.resize(end);
  std::copy(write.data.begin(), write.data.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(write.offset));
}

const sqlite3_io_methods k_methods = {
    2,         close_file,   read_file,       write_file,  truncate_file,
    sync_file, file_size,    lock_file,       unlock_file, check_reserved,
    control,   sector_size,  characteristics, map_memory,  lock_memory,
    barrier,   unmap_memory, nullptr,         nullptr};

}  // namespace spillway::test::lossy
