// AgentState: what an agent must still know after it was killed. One value, one document.
//
// For each pool and offer it has the last message that was sent, with its sequence number, and
// whether the broker has taken it: the same content is sent again under the same number, another
// content under a higher one. `reports` is a number that no message has gone beyond: whoever starts
// from this state begins above it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "model/contract.h"
#include "services/agent/mailbox_state.h"
#include "services/agent/supply_file.h"
#include "services/fabric/fabric_state.h"

namespace spillway::agent {

struct PoolMemory {
  int64_t sequence = 0;
  std::optional<model::Pool> published;  // also once it is withdrawn: what was sold from it
  // At most this much of it stands at the broker, whatever became of the last messages.
  model::Resources stands;
  bool withdrawn = false;
  bool acknowledged = false;
  bool oversold = false;
  bool operator==(const PoolMemory&) const = default;
};

struct OfferMemory {
  int64_t sequence = 0;
  std::optional<model::Offer> published;
  bool withdrawn = false;
  bool acknowledged = false;
  bool operator==(const OfferMemory&) const = default;
};

struct AgentState {
  ClusterId cluster;
  int64_t last_event = -1;  // all up to it are heard and dealt with; -1: begin with a snapshot
  int64_t epoch = 0;        // as heard last
  int64_t reports = 0;
  Supply supply;  // the last good one
  std::map<PoolId, PoolMemory> pools;
  std::map<OfferId, OfferMemory> offers;
  std::map<ContractId, model::Contract> contracts;  // live ones, bought and sold, as last seen
  // Sold, and ended here while the broker was silent, when: it does not know yet.
  std::map<ContractId, Instant> ended_unheard = {};
  MailboxState mailbox = {};
  FabricState fabric = {};
  bool operator==(const AgentState&) const = default;
};

Status validate(const AgentState& state);
std::string to_json(const AgentState& state);
Result<AgentState> state_from_json(std::string_view text, std::string_view source = "agent state");

// Where the state is kept. A save replaces all of it or nothing.
class StateStore {
 public:
  virtual ~StateStore() = default;
  // Calls once it survives the loss of power, or failed; perhaps before it returns. The agent asks
  // for one at a time.
  virtual void save(const std::string& json, std::function<void(Status)> then) = 0;
  virtual Result<std::string> load() = 0;  // empty: there is none yet
};

}  // namespace spillway::agent
