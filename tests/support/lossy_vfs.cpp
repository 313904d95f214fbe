#include "support/lossy_vfs.h"

#include "base/check.h"
#include "support/lossy_file.h"

namespace spillway::test {
namespace {

using namespace lossy;

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

}  // namespace spillway::test
