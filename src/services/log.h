// Structured logs: one JSON object a line on standard error, for people with jq and for machines.
// Secrets are never given to it: callers name fields, and no field holds a body, a token or a key.
#pragma once

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

// To a file descriptor, a line with one write(2).
class LineLog : public Log {
 public:
  LineLog(int fd, Level least, std::string service)
      : fd_(fd), least_(least), service_(std::move(service)) {}
  bool takes(Level level) const override { return level >= least_; }
  void write(Level level, std::string_view what, std::initializer_list<Field> fields) override;

 private:
  int fd_;
  Level least_;
  std::string service_;
};

class NoLog : public Log {
 public:
  bool takes(Level) const override { return false; }
  void write(Level, std::string_view, std::initializer_list<Field>) override {}
};

}  // namespace spillway::services
