// Reload: watches a file that people edit. A good edit is taken; a bad one, or none at all, is told
// once and the last good one stays. A file that is still being written is waited for: half of it
// may be a good supply with half of the offers.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "services/log.h"

namespace spillway::agent {

class Reload {
 public:
  static constexpr Duration k_look = seconds(1);
  static constexpr Duration k_quiet = milliseconds(200);  // unchanged for so long: written

  // An error of `take` is one of the file: nothing was taken.
  using Take = std::function<Status(const std::string& text)>;
  // `what` the file is called in logs: "supply".
  Reload(host::Loop& loop, services::Log& log, std::string what, std::string path, Take take);

  Result<std::string> read();                // now; what it finds is not handed on
  void start();                              // from what read() saw last
  void look_now();                           // on a signal: whoever sends it has written the file
  bool is_good() const { return is_good_; }  // the file as it was last seen was taken

 private:
  struct Stamp {  // of another content, most likely, when it differs
    int64_t seconds = 0;
    int64_t nanoseconds = 0;
    uint64_t inode = 0;
    int64_t size = -1;  // -1: there is none
    bool operator==(const Stamp&) const = default;
  };

  Stamp stamp() const;
  void look();
  void take();

  host::Loop& loop_;
  services::Log& log_;
  std::string what_;
  std::string path_;
  Take take_;
  Stamp taken_;
  bool is_good_ = true;
  host::Lifeline life_;
};

}  // namespace spillway::agent
