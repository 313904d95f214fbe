// Where the demo plays: a scratch folder, and the processes that work in it. All of them are this
// same program. Whatever ends the demo ends them too and takes the folder away, unless it was told
// to leave everything standing.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "base/result.h"

namespace spillway::cli {

inline constexpr const char* k_folder_prefix = "spillway-demo.";
inline constexpr const char* k_pids_file = "demo.pids";  // of a kept one: what it left running

class Stage {
 public:
  // Before any other thread is made: SIGINT, SIGTERM and SIGHUP are blocked from here on, and
  // whichever comes clears the stage and ends the program. kept: processes outlive this one.
  static Result<std::unique_ptr<Stage>> make(bool kept);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  std::string folder() const { return folder_.string(); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // `spillway words…` to its end; what it printed. What it logs goes to <name>.log.
  Result<std::string> run(const std::string& name, const std::vector<std::string>& words);
  // One that keeps running. What it logs goes to <name>.log, what it prints to <name>.out.
  Result<pid_t> start(const std::string& name, const std::vector<std::string>& words);
  Status check_runs(const std::string& name);

  void leave_standing() { standing_ = true; }

 private:
  Stage(std::filesystem::path folder, bool kept);
  Result<pid_t> spawn(const std::string& name, const std::vector<std::string>& words, int out,
                      int err);
  int reap(const std::string& name);
  Status write_pids();
  void watch_signals(const std::stop_token& stop);
  void clear();  // under the mutex

  std::filesystem::path folder_;
  bool kept_;
  bool standing_ = false;
  std::mutex mutex_;
  std::map<std::string, pid_t> running_;  // under the mutex
  std::jthread signals_;
};

// Ends what `spillway demo --keep` left in that folder, and takes the folder away.
Status stop_kept(const std::filesystem::path& given);

}  // namespace spillway::cli
