#include "services/agent/agent_state.h"

#include "base/text.h"
#include "model/validation.h"
#include "services/agent/mailbox_fields.h"
#include "services/fabric/fabric_fields.h"
#include "supply/supply_fields.h"

namespace spillway::agent {

template <class F>
void fields(F& f, PoolMemory& memory) {
  f.required("sequence", memory.sequence);
  f.optional("published", memory.published);
  f.with_default("stands", memory.stands);
  f.with_default("withdrawn", memory.withdrawn);
  f.with_default("acknowledged", memory.acknowledged);
  f.with_default("oversold", memory.oversold);
}

template <class F>
void fields(F& f, OfferMemory& memory) {
  f.required("sequence", memory.sequence);
  f.optional("published", memory.published);
  f.with_default("withdrawn", memory.withdrawn);
  f.with_default("acknowledged", memory.acknowledged);
}

template <class F>
void fields(F& f, AgentState& state) {
  f.required("cluster", state.cluster);
  f.required("last_event", state.last_event);
  f.required("epoch", state.epoch);
  f.required("reports", state.reports);
  f.required("supply", state.supply);
  f.required("pools", state.pools);
  f.required("offers", state.offers);
  f.required("contracts", state.contracts);
  f.with_default("ended_unheard", state.ended_unheard);
  f.with_default("mailbox", state.mailbox);
  f.with_default("fabric", state.fabric);
}

Status validate(const AgentState& state) {
  SPILLWAY_TRY(model::at("cluster", check_cluster_id(state.cluster.text)));
  SPILLWAY_TRY(model::check_range("last_event", state.last_event, -1, INT64_MAX));
  SPILLWAY_TRY(model::check_range("reports", state.reports, 0, INT64_MAX / 2));
  SPILLWAY_TRY(model::under("supply", validate(state.supply)));
  for (const auto& [id, memory] : state.pools) {
    if (!memory.published || memory.published->id == id) continue;
    return model::refuse("pools", in_quotes(id.text) + " is kept under another's name");
  }
  for (const auto& [id, memory] : state.offers) {
    if (!memory.published || memory.published->id == id) continue;
    return model::refuse("offers", in_quotes(id.text) + " is kept under another's name");
  }
  for (const auto& [id, contract] : state.contracts) {
    if (contract.id != id) {
      return model::refuse("contracts", in_quotes(id.text) + " is kept under another's name");
    }
    SPILLWAY_TRY(model::under("contracts", model::under(id.text, validate(contract))));
  }
  for (const auto& [id, when] : state.ended_unheard) {
    SPILLWAY_TRY(model::at("ended_unheard", check_contract_id(id.text)));
    SPILLWAY_TRY(model::check_time("ended_unheard", when));
  }
  SPILLWAY_TRY(model::under("mailbox", validate(state.mailbox)));
  return model::under("fabric", validate(state.fabric));
}

std::string to_json(const AgentState& state) { return model::write_json(state); }

Result<AgentState> state_from_json(std::string_view text, std::string_view source) {
  constexpr size_t k_max_bytes = size_t{256} << 20;
  return model::read_json<AgentState>(text,
                                      model::Heading{.what = source, .max_bytes = k_max_bytes});
}

}  // namespace spillway::agent
