// Queries and holds, and what a buyer does with its contracts.
#include <algorithm>

#include "market/metering.h"
#include "pki/signed_documents.h"
#include "services/broker/contract_access.h"
#include "services/broker/handlers.h"
#include "services/wire/convert.h"

namespace spillway::services {
namespace {

// As one part of a list; who holds more contracts than this sees the first of them.
constexpr int32_t k_own_looked_at = 1000;

void add_paid(wire::QueryAnswer& told, const model::Contract& contract,
              const model::Resources& wanted, Instant now) {
  const auto until = market::paid_anyway_until(contract);
  if (!until || *until <= now || !contract.shape.covers(wanted)) return;
  if (contract.price.currency != told.currency) return;
  const auto unit = std::find_if(
      contract.units.begin(), contract.units.end(),
      [&contract](const model::Unit& one) { return one.live && !contract.is_spare(one); });
  told.paid.push_back({contract.id, contract.offer, contract.provider, contract.bought_units(),
                       *until, market::marginal_rate(contract, *unit, now)});
}

// What the asker has already, beside what it could buy.
void answer_with_paid(Desk& desk, const std::shared_ptr<Call>& call, wire::QueryAnswer told,
                      const model::Resources& wanted) {
  const host::Scan own = scan_of(market::Kind::contract, host::Scan::By::owner, call->caller.name,
                                 {{}, k_own_looked_at});
  load(desk, call, {{}, {own}},
       [&desk, call, told = std::move(told), wanted](const host::Snapshot& snapshot) {
         wire::QueryAnswer whole = told;
         for (const host::Row& row : snapshot.found[0]) {
           const auto* contract = held<model::Contract>(row);
           if (contract != nullptr) add_paid(whole, *contract, wanted, snapshot.now);
         }
         answer(desk, *call, 200, whole);
       });
}

}  // namespace

void handle_query(Desk& desk, const std::shared_ptr<Call>& call) {
  const auto body = read_body<wire::QueryRequest>(desk, *call, "query");
  if (!body) return;
  const auto ranking =
      desk.feed.query(call->cluster(), body->intent, rank::Page{body->limit, body->cursor},
                      body->explain ? rank::Detail::verdicts : rank::Detail::candidates);
  if (!ranking) return refuse(desk, *call, ranking.error());
  if (body->paid) {
    return answer_with_paid(desk, call, wire::answer_of(*ranking), body->intent.shape);
  }
  answer(desk, *call, 200, wire::answer_of(*ranking));
}

void handle_hold(Desk& desk, const std::shared_ptr<Call>& call) {
  const std::string* key = net::find_header(call->request.headers, "Idempotency-Key");
  if (key == nullptr) {
    return reply(desk, *call,
                 problem(428, "key-missing",
                         {Code::invalid, "Idempotency-Key", "a hold needs one",
                          "send a new random key, and the same one with every retry"}));
  }
  auto body = read_body<wire::HoldRequest>(desk, *call, "hold");
  if (!body) return;
  market::Hold hold;
  hold.buyer = call->cluster();
  hold.key = *key;
  hold.ttl = body->ttl;
  hold.lines = std::move(body->lines);
  submit(desk, call, std::move(hold), [&desk, call](const market::Answer& told) {
    wire::HoldAnswer granted{told.grants, 0};
    if (!told.grants.empty()) {
      const Duration left = told.grants.front().hold_until - desk.loop.now();
      granted.ttl_seconds = std::max<int64_t>(0, left.ms / 1000);
    }
    answer(desk, *call, told.replayed ? 200 : 201, granted);
  });
}

void handle_confirm(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body_if_any<wire::ConfirmRequest>(desk, *call, "agreement");
  if (!body) return;
  market::Confirm confirm{call->cluster(), contract_of(*call)};
  if (!body->document.empty()) {
    auto agreement = pki::verify_agreement(std::move(body->document), pki::Signers::buyer);
    if (!agreement) return refuse(desk, *call, agreement.error());
    confirm.agreement = market::SignedAgreement{
        std::move(agreement->id), std::move(agreement->document), std::move(agreement->agreement)};
  }
  tell_contract(desk, call, std::move(confirm));
}

void handle_extend(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body<wire::ExtendRequest>(desk, *call, "extension");
  if (!body) return;
  market::Extend extend{call->cluster(), contract_of(*call), body->ttl};
  if (!take_event(desk, *call, std::move(body->event), extend.event)) return;
  tell_contract(desk, call, std::move(extend));
}

void handle_renew(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body_if_any<wire::SignedRequest>(desk, *call, "renewal");
  if (!body) return;
  market::Renew renew{call->cluster(), contract_of(*call)};
  if (!take_event(desk, *call, std::move(body->event), renew.event)) return;
  tell_contract(desk, call, std::move(renew));
}

void handle_buy(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body<wire::BuyRequest>(desk, *call, "purchase of spares");
  if (!body) return;
  market::Buy buy{call->cluster(), contract_of(*call), std::move(body->units)};
  if (!take_event(desk, *call, std::move(body->event), buy.event)) return;
  tell_contract(desk, call, std::move(buy));
}

void handle_release(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body_if_any<wire::ReleaseRequest>(desk, *call, "release");
  if (!body) return;
  market::Release release{call->cluster(), contract_of(*call), std::move(body->units)};
  if (!take_event(desk, *call, std::move(body->event), release.event)) return;
  tell_contract(desk, call, std::move(release));
}

void handle_drained(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body_if_any<wire::SignedRequest>(desk, *call, "end of a drain");
  if (!body) return;
  market::Drained drained{call->cluster(), contract_of(*call)};
  if (!take_event(desk, *call, std::move(body->event), drained.event)) return;
  tell_contract(desk, call, std::move(drained));
}

}  // namespace spillway::services
