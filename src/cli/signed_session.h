// A session whose member signs what it asks for, where the contract is signed. Papers are those of
// the identity's folder, as the agent's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"
#include "services/agent/folder_papers.h"
#include "services/agent/signing.h"

namespace spillway::cli {

// On stderr: what was asked for goes on.
void tell_set_aside(const agent::SetAside& aside);

class SignedSession {
 public:
  using Told = Result<wire::ContractAnswer>;

  SignedSession(Session& session, const std::string& dir);

  void bind_fabric(const agent::Signing::FabricOf& fabric_of) {
    if (signing_) signing_->bind_fabric(fabric_of);
  }
  // Signs a hold, and waits for the provider's signature. Without one by then: an error that says
  // so; the hold goes on.
  Told confirm(const ContractId& id, const agent::Signing::Check& check,
               std::chrono::milliseconds patience);
  Told renew(const ContractId& id);
  Told extend(const ContractId& id, Duration ttl);
  Told buy(const ContractId& id, const std::vector<int32_t>& units);
  Told release(const ContractId& id, const std::vector<int32_t>& units);
  Told give_notice(const ContractId& id);
  Told drained(const ContractId& id);
  Told meter_usage(const ContractId& id, const std::vector<model::MeteredUse>& used);

 private:
  agent::Signing* signing() { return signing_ ? &*signing_ : nullptr; }
  Result<model::Contract> sign_once(const ContractId& id, const agent::Signing::Check& check);

  Session& session_;
  agent::FolderPapers papers_;
  std::optional<agent::Signing> signing_;  // none: its key cannot sign
};

}  // namespace spillway::cli
