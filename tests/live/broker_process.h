// The shipping program as a process of its own: to be measured, and to be killed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace spillway::test {

// Where `spillway` was built: SPILLWAY_BINARY_DIR, else beside the running program.
std::string spillway_program();
// Its output and errors go to these descriptors; it ends with the one that started it.
pid_t run_program(std::vector<std::string>& words, int out, int err);

// Any program; killed when this goes. What it prints goes nowhere.
class ChildProcess {
 public:
  explicit ChildProcess(std::vector<std::string> words);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

class BrokerProcess {
 public:
  // The folder is set up already (cli::set_up_broker).
  explicit BrokerProcess(std::string data, std::vector<std::string> settings = {});
  ~BrokerProcess();
  BrokerProcess(const BrokerProcess&) = delete;
  BrokerProcess& operator=(const BrokerProcess&) = delete;

  void start();     // and waits until it says that it is ready; the same port again after a stop
  void kill();      // as kill -9
  int terminate();  // SIGTERM; its exit code
  pid_t pid() const { return pid_; }
  uint16_t port() const { return port_; }
  double cpu_seconds() const;
  int64_t rss_kib() const;

 private:
  std::string data_;
  std::vector<std::string> settings_;
  pid_t pid_ = -1;
  uint16_t port_ = 0;
};

int64_t rss_kib_of(pid_t pid);
int64_t peak_rss_kib_of(pid_t pid);
double cpu_seconds_of(pid_t pid);

}  // namespace spillway::test
