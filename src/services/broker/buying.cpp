// Queries and holds, and what a buyer does with its contracts.
#include "services/broker/body.h"
#include "services/broker/handlers.h"
#include "services/wire/convert.h"

namespace spillway::services {
namespace {

ContractId contract_of(const Call& call) { return ContractId(call.parameters[0]); }

void tell_contract(Desk& desk, const std::shared_ptr<Call>& call, market::Command command) {
  submit(desk, call, std::move(command), [&desk, call](const market::Answer& told) {
    answer(desk, *call, 200, wire::ContractAnswer{*told.contract});
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
  if (!no_body(desk, *call)) return;
  tell_contract(desk, call, market::Confirm{call->cluster(), contract_of(*call)});
}

void handle_extend(Desk& desk, const std::shared_ptr<Call>& call) {
  const auto body = read_body<wire::ExtendRequest>(desk, *call, "extension");
  if (!body) return;
  tell_contract(desk, call, market::Extend{call->cluster(), contract_of(*call), body->ttl});
}

void handle_renew(Desk& desk, const std::shared_ptr<Call>& call) {
  if (!no_body(desk, *call)) return;
  tell_contract(desk, call, market::Renew{call->cluster(), contract_of(*call)});
}

void handle_release(Desk& desk, const std::shared_ptr<Call>& call) {
  std::optional<wire::ReleaseRequest> body = wire::ReleaseRequest{};
  if (!call->request.body.empty()) {
    body = read_body<wire::ReleaseRequest>(desk, *call, "release");
  }
  if (!body) return;
  tell_contract(desk, call,
                market::Release{call->cluster(), contract_of(*call), std::move(body->units)});
}

}  // namespace spillway::services
