#include "support/lossy_vfs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include <sqlite3.h>

#include "base/check.h"

namespace spillway::tests {
namespace {

using Bytes = std::vector<char>;

constexpr size_t k_sector = 512;

struct Write {
  size_t offset = 0;
  Bytes data;
  std::optional<size_t> truncate_to;  // then it is no write
  bool interrupted = false;           // by the cut: it may have reached the platter or not
};

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

Handle& handle_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file)->handle; }

}  // namespace

struct LossyVfs::State {
  std::string name;
  sqlite3_vfs vfs{};
  sqlite3_vfs* system = nullptr;
  mutable std::mutex mutex;
  std::map<std::string, std::shared_ptr<Content>> files;
  std::map<std::string, std::shared_ptr<Content>> removed;  // and not synced since
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

namespace {

using Lock = std::lock_guard<std::mutex>;

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

const sqlite3_io_methods k_methods = {
    2,         close_file,   read_file,       write_file,  truncate_file,
    sync_file, file_size,    lock_file,       unlock_file, check_reserved,
    control,   sector_size,  characteristics, map_memory,  lock_memory,
    barrier,   unmap_memory, nullptr,         nullptr};

LossyVfs::State& disk_of(sqlite3_vfs* vfs) { return *static_cast<LossyVfs::State*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* out, int flags, int* out_flags) {
  LossyVfs::State& disk = disk_of(vfs);
  out->pMethods = nullptr;
  const Lock lock(disk.mutex);
  if (disk.cut) return SQLITE_CANTOPEN;
  const std::string path =
      name != nullptr ? std::string(name) : "temporary-" + std::to_string(disk.operations);
  auto found = disk.files.find(path);
  if (found == disk.files.end()) {
    if ((flags & SQLITE_OPEN_CREATE) == 0 || disk.read_only) return SQLITE_CANTOPEN;
    if (!disk.operate()) return SQLITE_CANTOPEN;
    found = disk.files.emplace(path, std::make_shared<Content>()).first;
  }
  ++disk.open_files;
  auto* file = reinterpret_cast<File*>(out);
  file->handle = new Handle{&disk, found->second, path};
  file->handle->delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  file->base.pMethods = &k_methods;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  LossyVfs::State& disk = disk_of(vfs);
  const Lock lock(disk.mutex);
  if (disk.cut || disk.read_only || !disk.operate()) return SQLITE_IOERR_DELETE;
  auto found = disk.files.find(name);
  if (found == disk.files.end()) return SQLITE_IOERR_DELETE_NOENT;
  if (sync_folder == 0 && found->second->name_is_durable) {
    disk.removed.insert_or_assign(name, found->second);
  }
  disk.files.erase(found);
  return SQLITE_OK;
}

int access_file(sqlite3_vfs* vfs, const char* name, int, int* answer) {
  LossyVfs::State& disk = disk_of(vfs);
  const Lock lock(disk.mutex);
  if (disk.cut) return SQLITE_IOERR_ACCESS;
  *answer = disk.files.contains(name) ? 1 : 0;
  return SQLITE_OK;
}

int full_name(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

int randomness(sqlite3_vfs* vfs, int size, char* out) {
  sqlite3_vfs* system = disk_of(vfs).system;
  return system->xRandomness(system, size, out);
}

int sleep_for(sqlite3_vfs* vfs, int microseconds) {
  sqlite3_vfs* system = disk_of(vfs).system;
  return system->xSleep(system, microseconds);
}

int current_time(sqlite3_vfs* vfs, double* out) {
  sqlite3_vfs* system = disk_of(vfs).system;
  return system->xCurrentTime(system, out);
}

int last_error(sqlite3_vfs*, int, char*) { return 0; }

// What of `writes` reached the platter before the power went.
void lose_some(Bytes& platter, std::vector<Write> writes, std::mt19937_64& random) {
  std::vector<Write> kept;
  switch (random() % 4) {
    case 0:
      break;  // none
    case 1:
      kept = std::move(writes);
      break;  // all
    case 2:   // the first few
      if (!writes.empty()) writes.resize(random() % writes.size());
      kept = std::move(writes);
      break;
    default:  // any
      for (Write& write : writes) {
        if (random() % 2 == 0) kept.push_back(std::move(write));
      }
  }
  if (!kept.empty() && random() % 2 == 0) {
    Bytes& last = kept.back().data;
    const size_t sectors = last.size() / k_sector;
    if (sectors > 0) last.resize(random() % (sectors + 1) * k_sector);
  }
  for (const Write& write : kept) replay(platter, write);
}

}  // namespace

LossyVfs::LossyVfs(const std::string& vfs_name) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.name = vfs_name;
  state.system = sqlite3_vfs_find(nullptr);
  state.vfs.iVersion = 1;
  state.vfs.szOsFile = sizeof(File);
  state.vfs.mxPathname = 512;
  state.vfs.zName = state.name.c_str();
  state.vfs.pAppData = &state;
  state.vfs.xOpen = open_file;
  state.vfs.xDelete = remove_file;
  state.vfs.xAccess = access_file;
  state.vfs.xFullPathname = full_name;
  state.vfs.xRandomness = randomness;
  state.vfs.xSleep = sleep_for;
  state.vfs.xCurrentTime = current_time;
  state.vfs.xGetLastError = last_error;
  SPILLWAY_CHECK(sqlite3_vfs_register(&state.vfs, 0) == SQLITE_OK, "the VFS cannot be registered");
}

LossyVfs::~LossyVfs() {
  SPILLWAY_CHECK(state_->open_files == 0, "a lossy disk goes while its files are open");
  sqlite3_vfs_unregister(&state_->vfs);
}

const std::string& LossyVfs::vfs() const { return state_->name; }

int64_t LossyVfs::operations() const {
  const Lock lock(state_->mutex);
  return state_->operations;
}

void LossyVfs::cut_now() {
  const Lock lock(state_->mutex);
  state_->cut = true;
}

void LossyVfs::cut_after(int64_t operations, bool at_sync) {
  const Lock lock(state_->mutex);
  state_->cut_at = state_->operations + operations;
  state_->cut_at_sync = at_sync;
}

bool LossyVfs::is_cut() const {
  const Lock lock(state_->mutex);
  return state_->cut;
}

void LossyVfs::restart(std::mt19937_64& random) {
  const Lock lock(state_->mutex);
  SPILLWAY_CHECK(state_->open_files == 0, "a lossy disk restarts while its files are open");
  for (auto& [name, content] : state_->removed) {
    if (random() % 2 == 0) state_->files.emplace(name, content);
  }
  state_->removed.clear();
  for (auto it = state_->files.begin(); it != state_->files.end();) {
    Content& content = *it->second;
    if (!content.name_is_durable && random() % 2 == 0) {
      it = state_->files.erase(it);
      continue;
    }
    lose_some(content.platter, std::move(content.unsynced), random);
    content.unsynced.clear();
    content.now = content.platter;
    content.name_is_durable = true;
    content.locks = FileLocks();
    content.memory = SharedMemory();
    ++it;
  }
  state_->cut_at.reset();
  state_->cut = false;
}

void LossyVfs::restart_process() {
  const Lock lock(state_->mutex);
  SPILLWAY_CHECK(state_->open_files == 0, "a process restarts while its files are open");
  for (auto& [name, content] : state_->files) {
    std::erase_if(content->unsynced, [](const Write& write) { return write.interrupted; });
    content->locks = FileLocks();
    content->memory = SharedMemory();
  }
  state_->cut_at.reset();
  state_->cut = false;
}

void LossyVfs::lie_about_syncs() {
  const Lock lock(state_->mutex);
  state_->lies = true;
}

void LossyVfs::limit_bytes(std::optional<int64_t> limit) {
  const Lock lock(state_->mutex);
  state_->limit = limit;
}

int64_t LossyVfs::bytes() const {
  const Lock lock(state_->mutex);
  return state_->bytes();
}

void LossyVfs::make_read_only(bool read_only) {
  const Lock lock(state_->mutex);
  state_->read_only = read_only;
}

}  // namespace spillway::tests
