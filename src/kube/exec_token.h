// ExecToken: a token that a program of the operator's makes (client.authentication.k8s.io), as
// clouds hand them out. It runs when a token is needed and none is in date; the loop goes on
// meanwhile. What it prints is believed and never shown; what it says when it fails is part of the
// error.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/lifeline.h"
#include "kube/plugin_run.h"
#include "kube/token_source.h"

namespace spillway::kube {

struct ExecCredential {
  std::string token;
  Instant until = k_last_instant;
};
// What a plugin printed.
Result<ExecCredential> read_exec_credential(std::string_view text, const ExecPlugin& plugin);

class ExecToken final : public TokenSource {
 public:
  static constexpr Duration k_early = seconds(60);  // a token is not used in its last minute

  ExecToken(net::Poll& poll, ExecPlugin plugin) : poll_(poll), plugin_(std::move(plugin)) {}

  void get(Then then) override;
  void forget() override { known_ = {}; }

 private:
  void on_end();
  void on_late();
  void finish(Result<ExecCredential> made);
  static Result<ExecCredential> with_last_words(Result<ExecCredential> made, const PluginRun& run);

  net::Poll& poll_;
  ExecPlugin plugin_;
  ExecCredential known_;
  std::vector<Then> waiting_;
  std::unique_ptr<PluginRun> run_;  // while it is under way
  uint64_t runs_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::kube
