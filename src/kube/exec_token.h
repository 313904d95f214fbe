// ExecToken: a token that a program of the operator's makes (client.authentication.k8s.io), as
// clouds hand them out. It runs when a token is needed and none is in date; the loop goes on
// meanwhile. What it prints is believed; its errors go where ours go.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/lifeline.h"
#include "kube/token_source.h"
#include "net/poll.h"

namespace spillway::kube {

struct ExecPlugin {
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // beside our own
  std::string version = "client.authentication.k8s.io/v1";
  std::string hint = {};  // how to install it, for the error
};

struct ExecCredential {
  std::string token;
  Instant until = k_last_instant;
};
// What a plugin printed.
Result<ExecCredential> read_exec_credential(std::string_view text, const std::string& command);

class ExecToken final : public TokenSource {
 public:
  static constexpr Duration k_longest_run = seconds(60);
  static constexpr Duration k_early = seconds(60);  // a token is not used in its last minute

  ExecToken(net::Poll& poll, ExecPlugin plugin) : poll_(poll), plugin_(std::move(plugin)) {}
  ~ExecToken() override;
  ExecToken(const ExecToken&) = delete;
  ExecToken& operator=(const ExecToken&) = delete;

  void get(Then then) override;
  void forget() override { known_ = {}; }

 private:
  Status run();
  void on_output();
  void finish(Result<ExecCredential> made);
  void end_run();

  net::Poll& poll_;
  ExecPlugin plugin_;
  ExecCredential known_;
  std::vector<Then> waiting_;
  std::string output_;
  int output_fd_ = -1;
  int child_ = -1;
  uint64_t runs_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::kube
