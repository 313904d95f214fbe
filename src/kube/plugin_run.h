// PluginRun: one run of an exec plugin, while the loop goes on.
//
// The plugin leads a process group of its own, and the whole group ends with the run: what a plugin
// has started in turn must not pile up beside an agent that runs for months. What it prints to its
// standard output is a secret and shown to nobody; of what it complains about the end is kept.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/poll.h"

namespace spillway::kube {

struct ExecPlugin {
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // beside our own
  std::string version = "client.authentication.k8s.io/v1";
  std::string hint = {};  // how to install it, for the error
  Duration patience = seconds(60);
};

class PluginRun {
 public:
  static constexpr size_t k_most_output = size_t{1} << 20;
  static constexpr size_t k_most_complaints = size_t{4} << 10;

  // `on_end`: it has ended, closed its output, or printed more than we take; what it started in
  // turn is not waited for. May destroy the run.
  static Result<std::unique_ptr<PluginRun>> start(net::Poll& poll, const ExecPlugin& plugin,
                                                  std::function<void()> on_end);
  ~PluginRun();
  PluginRun(const PluginRun&) = delete;
  PluginRun& operator=(const PluginRun&) = delete;

  const std::string& output() const { return output_; }
  const std::string& complaints() const { return complaints_; }

 private:
  PluginRun(net::Poll& poll, std::function<void()> on_end)
      : poll_(poll), on_end_(std::move(on_end)) {}
  void watch();
  void on_output();
  void on_exit();
  bool read_complaint();  // whether there may be more
  void finish();
  void close(int& descriptor);

  net::Poll& poll_;
  std::function<void()> on_end_;
  std::string output_;
  std::string complaints_;  // the end of them
  int output_fd_ = -1;
  int complaint_fd_ = -1;
  int exit_fd_ = -1;  // readable when the leader has ended
  int leader_ = -1;   // its process, and the name of its group
};

// An error of this plugin; by default the next step is to run it by hand.
tl::unexpected<Error> plugin_failed(const ExecPlugin& plugin, std::string reason,
                                    std::string next = {});

}  // namespace spillway::kube
