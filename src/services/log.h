// Structured logs: one JSON object a line on standard error, for people with jq and for machines.
// Secrets are never given to it: callers name fields, and no field holds a body, a token or a key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"

namespace spillway::services {

enum class Level { debug, info, warning, error };
Level level_from(std::string_view text);  // info when it is none of the words
std::string_view to_text(Level level);

struct Field {
  std::string_view name;
  std::string value;
};

class Log {
 public:
  virtual ~Log() = default;
  virtual bool takes(Level level) const = 0;
  virtual void write(Level level, std::string_view what, std::initializer_list<Field> fields) = 0;
};

// To a file descriptor, and never waiting for it: what reads it may have stopped, and a log that
// cannot be written must not stop the market. Lines that find no room are left out and counted; the
// next one that does is preceded by their number.
class LineLog : public Log {
 public:
  LineLog(int fd, Level least, std::string service)
      : fd_(fd), least_(least), service_(std::move(service)) {}
  bool takes(Level level) const override { return level >= least_; }
  void write(Level level, std::string_view what, std::initializer_list<Field> fields) override;
  uint64_t left_out() const { return left_out_; }  // since the start

 private:
  std::string line_of(Level level, std::string_view what,
                      std::initializer_list<Field> fields) const;
  bool put(const std::string& line);  // false: it was left out
  bool put_rest();

  int fd_;
  Level least_;
  std::string service_;
  std::string rest_;  // of a line that a socket took only a part of
  uint64_t left_out_ = 0;
  uint64_t told_ = 0;  // of those
};

class NoLog : public Log {
 public:
  bool takes(Level) const override { return false; }
  void write(Level, std::string_view, std::initializer_list<Field>) override {}
};

}  // namespace spillway::services
