// Contracts as their parties and the overseers see them, and the snapshot to begin from.
#include "services/broker/body.h"
#include "services/broker/handlers.h"
#include "services/broker/holdings.h"
#include "services/broker/snapshot.h"
#include "services/wire/convert.h"

namespace spillway::services {
namespace {

bool is_party(const model::Contract& contract, const std::string& name) {
  return contract.buyer.text == name || contract.provider.text == name;
}

// The first of them, in the order of ids.
void tell_page(Desk& desk, Call& call, const std::map<std::string, host::Row>& rows, bool more,
               int32_t limit) {
  wire::ContractPage page;
  for (const auto& [id, row] : rows) {
    if (std::cmp_equal(page.contracts.size(), limit)) {
      more = true;
      break;
    }
    if (const auto* contract = held<model::Contract>(row)) page.contracts.push_back(*contract);
    page.next = id;
  }
  if (!more) page.next.clear();
  answer(desk, call, 200, page);
}

}  // namespace

void handle_list_contracts(Desk& desk, const std::shared_ptr<Call>& call) {
  PageAsked asked;
  if (!page_asked(desk, *call, asked)) return;
  if (call->scope == Scope::own) {
    return load_holdings(desk, call, asked, [&desk, call, asked](const Holdings& holdings) {
      tell_page(desk, *call, holdings.contracts, holdings.more_contracts, asked.limit);
    });
  }
  host::Scan scan;
  scan.kind = market::Kind::contract;
  scan.by = host::Scan::By::all;
  scan.after = asked.after;
  scan.limit = asked.limit;
  load(desk, call, {{}, {scan}}, [&desk, call, asked](const host::Snapshot& snapshot) {
    std::map<std::string, host::Row> rows;
    for (const host::Row& row : snapshot.found[0]) rows.emplace(row.key.id, row);
    tell_page(desk, *call, rows, std::cmp_equal(rows.size(), asked.limit), asked.limit);
  });
}

void handle_get_contract(Desk& desk, const std::shared_ptr<Call>& call) {
  const market::Key key = market::key_of(ContractId(call->parameters[0]));
  load(desk, call, {{key}, {}}, [&desk, call](const host::Snapshot& snapshot) {
    const host::Row& row = snapshot.rows[0];
    const auto* contract = held<model::Contract>(row);
    const bool visible = contract != nullptr &&
                         (call->scope == Scope::all || is_party(*contract, call->caller.name));
    if (!visible) return refuse(desk, *call, missing("contract", row.key.id));
    answer_tagged(desk, *call, wire::ContractAnswer{*contract}, row.version);
  });
}

void handle_snapshot(Desk& desk, const std::shared_ptr<Call>& call) {
  take_snapshot(desk, call, [&desk, call](const wire::SnapshotAnswer& snapshot) {
    answer(desk, *call, 200, snapshot);
  });
}

}  // namespace spillway::services
