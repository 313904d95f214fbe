// LossyVfs: files in memory that forget, when the power goes, what was not synced.
//
// It is an SQLite VFS of its own name. For every file it keeps what is on the platter and the
// writes since the last sync. The power goes at a chosen operation: that one and all later ones
// fail. Then restart() leaves what a real disk might: of the writes that were not synced none, all,
// the first few, or any of them in any combination, the last of them perhaps torn at a sector's
// boundary.
//
// What it believes of the disk, as SQLite does: a sector is written whole or not at all and writes
// do not damage their neighbours (powersafe overwrite); a file's name is durable with the first
// sync of the file; a removal becomes durable with any later sync.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace spillway::test {

class LossyVfs {
 public:
  explicit LossyVfs(const std::string& vfs_name);  // registers it
  ~LossyVfs();                                     // every file must be closed
  LossyVfs(const LossyVfs&) = delete;
  LossyVfs& operator=(const LossyVfs&) = delete;

  const std::string& vfs() const;

  // Writes, syncs, truncations, creations and removals so far.
  int64_t operations() const;
  // The power goes at the n-th operation from now, or at the first sync from there on.
  void cut_after(int64_t operations, bool at_sync);
  void cut_now();
  bool is_cut() const;
  // Power again. Every file must be closed.
  void restart(std::mt19937_64& random);
  // Not the power went but the process was killed: the system keeps what was not synced, and goes
  // on to believe that it will be some day. Every file must be closed.
  void restart_process();

  // From now on syncs answer ok and do nothing, as cheap disks do.
  void lie_about_syncs();
  // No file may grow beyond what all of them together may have; SQLITE_FULL else.
  void limit_bytes(std::optional<int64_t> limit);
  int64_t bytes() const;
  // Everything that would change a file fails as on a read-only mount.
  void make_read_only(bool read_only);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace spillway::test
