// What can be proven of a contract: who signed it, by which keys, how these came to be believed,
// what was done under it, and whether the broker's row says anything that nobody signed. Nobody is
// pinned by it; what was verified, of a key that is pinned, is kept: so who runs no agent has a
// copy of its own, too.
#pragma once

#include <string>
#include <vector>

#include "cli/when.h"
#include "services/agent/folder_papers.h"
#include "services/agent/signatory.h"
#include "services/wire/bodies.h"

namespace spillway::cli {

struct ProofSide {
  std::string cluster;
  std::string key;    // fingerprint
  std::string trust;  // "our own", "given", "first-use", "not pinned", "another key is pinned"
};

struct ProofEvent {
  std::string by;
  int64_t number = 0;
  std::string kind;
  Instant at;
  std::string says;
};
// As they were signed: each side's by number, both sides' by time. Clocks go back, numbers do not.
void put_in_order(std::vector<ProofEvent>& events);

struct Proof {
  std::string contract;
  std::string agreement;  // empty: nobody has signed
  ProofSide buyer;
  ProofSide provider;
  bool complete = false;
  std::string copy;  // of our own
  std::vector<ProofEvent> events;
  std::string wrong;  // empty: everything is proven
};

// An answer of the broker that does not verify is an error.
Result<Proof> prove(const wire::AgreementAnswer& told, const ContractId& asked,
                    const agent::Signatory& self, agent::FolderPapers& papers, Instant now);

std::string json_of(const Proof& proof);
std::string proof_text(const Proof& proof, const Clock& clock);

}  // namespace spillway::cli
