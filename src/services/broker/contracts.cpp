// Contracts as their parties and the overseers see them, and the snapshot to begin from.
#include "services/broker/contract_access.h"
#include "services/broker/handlers.h"
#include "services/broker/listing.h"
#include "services/broker/own_contracts.h"
#include "services/broker/snapshot.h"

namespace spillway::services {
namespace {

// Bought and sold: two lists that become one page.
void list_own(Desk& desk, const std::shared_ptr<Call>& call) {
  PageAsked asked;
  if (!page_asked(desk, *call, asked)) return;
  host::Load own{{}, scans_of_own(call->caller.name, asked)};
  load(desk, call, std::move(own), [&desk, call, asked](const host::Snapshot& snapshot) {
    const auto found = merge_own(snapshot.found[0], snapshot.found[1], asked.limit);
    wire::ContractPage page;
    for (const host::Row& row : found.rows) {
      if (const auto* contract = held<model::Contract>(row)) page.contracts.push_back(*contract);
    }
    if (found.more && !found.rows.empty()) page.next = found.rows.back().key.id;
    answer(desk, *call, 200, page);
  });
}

}  // namespace

void handle_list_contracts(Desk& desk, const std::shared_ptr<Call>& call) {
  if (call->scope == Scope::own) return list_own(desk, call);
  list_rows<model::Contract>(desk, call, market::Kind::contract, &wire::ContractPage::contracts);
}

void handle_get_contract(Desk& desk, const std::shared_ptr<Call>& call) {
  const market::Key key = market::key_of(ContractId(call->parameters[0]));
  load(desk, call, {{key}, {}}, [&desk, call](const host::Snapshot& snapshot) {
    const host::Row& row = snapshot.rows[0];
    const auto* contract = held<model::Contract>(row);
    if (contract == nullptr || !may_see(*call, *contract))
      return refuse(desk, *call, missing("contract", row.key.id));
    answer_tagged(desk, *call, wire::answer_of(*contract), row.version);
  });
}

void handle_snapshot(Desk& desk, const std::shared_ptr<Call>& call) {
  take_snapshot(desk, call, [&desk, call](const wire::SnapshotAnswer& snapshot) {
    answer(desk, *call, 200, snapshot);
  });
}

}  // namespace spillway::services
