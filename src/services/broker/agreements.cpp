// What the parties of a contract sign: cards, agreements, and what is done under them. Signatures
// are verified here, so that the book never holds one that is wrong; the parties verify them all
// the same, for they do not trust us.
#include "pki/signed_documents.h"
#include "services/broker/body.h"
#include "services/broker/contract_access.h"
#include "services/broker/handlers.h"

namespace spillway::services {
namespace {

// The card of a row, as it was signed; empty: there is none.
std::string document_in(const host::Row& row) {
  const auto* card = held<market::CardRecord>(row);
  return card == nullptr ? std::string() : card->document;
}

wire::AgreementAnswer answer_with(const model::Contract& contract, const host::Snapshot& rows) {
  wire::AgreementAnswer told;
  told.contract = contract;
  told.buyer_card = document_in(rows.rows[2]);
  told.provider_card = document_in(rows.rows[3]);
  const auto* agreement = held<market::AgreementRecord>(rows.rows[1]);
  if (agreement == nullptr) return told;
  told.document = agreement->document;
  told.complete = agreement->complete;
  for (const market::KeptEvent& event : agreement->events) told.events.push_back(event.document);
  return told;
}

// Whose the cards are is known once the contract is: it never changes its parties.
void load_agreement(Desk& desk, const std::shared_ptr<Call>& call,
                    const model::Contract& contract) {
  load(desk, call,
       {{market::key_of(contract.id), market::agreement_key(contract.id),
         market::card_key(contract.buyer), market::card_key(contract.provider)},
        {}},
       [&desk, call](const host::Snapshot& snapshot) {
         const auto* now = held<model::Contract>(snapshot.rows[0]);
         if (now == nullptr) return refuse(desk, *call, missing("contract", call->parameters[0]));
         answer(desk, *call, 200, answer_with(*now, snapshot));
       });
}

}  // namespace

bool take_event(Desk& desk, Call& call, std::string document,
                std::optional<market::SignedEvent>& event) {
  if (document.empty()) return true;
  auto verified = pki::verify_event(std::move(document));
  if (!verified) {
    refuse(desk, call, verified.error());
    return false;
  }
  event = market::SignedEvent{std::move(verified->document), std::move(verified->event)};
  return true;
}

void handle_get_card(Desk& desk, const std::shared_ptr<Call>& call) {
  const market::Key key = market::card_key(ClusterId(call->parameters[0]));
  load(desk, call, {{key}, {}}, [&desk, call](const host::Snapshot& snapshot) {
    const host::Row& row = snapshot.rows[0];
    if (held<market::CardRecord>(row) == nullptr) {
      return refuse(desk, *call, missing("card", row.key.id));
    }
    answer_tagged(desk, *call, wire::CardBody{document_in(row)}, row.version);
  });
}

void handle_put_card(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body<wire::CardBody>(desk, *call, "card");
  if (!body) return;
  auto card = pki::verify_card(std::move(body->document));
  if (!card) return refuse(desk, *call, card.error());
  if (card->card.cluster != call->cluster() || card->card.federation != desk.issuer.federation()) {
    return refuse(
        desk, *call,
        {Code::invalid, "card of " + card->card.cluster.text,
         fmt::format("it is not one of {} in {}", call->caller.name, desk.issuer.federation()),
         "sign one for your own cluster in this federation"});
  }
  submit(desk, call,
         market::PutCard{std::move(card->card), std::move(card->document),
                         std::move(card->fingerprint)},
         done(desk, call));
}

void handle_get_agreement(Desk& desk, const std::shared_ptr<Call>& call) {
  const market::Key key = market::key_of(ContractId(call->parameters[0]));
  load(desk, call, {{key}, {}}, [&desk, call](const host::Snapshot& snapshot) {
    const auto* contract = held<model::Contract>(snapshot.rows[0]);
    if (contract == nullptr || !may_see(*call, *contract)) {
      return refuse(desk, *call, missing("contract", snapshot.rows[0].key.id));
    }
    load_agreement(desk, call, *contract);
  });
}

void handle_countersign(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body<wire::CountersignRequest>(desk, *call, "agreement");
  if (!body) return;
  auto agreement = pki::verify_agreement(std::move(body->document), pki::Signers::both);
  if (!agreement) return refuse(desk, *call, agreement.error());
  std::optional<market::SignedEvent> accepted;
  if (!take_event(desk, *call, std::move(body->accepted), accepted)) return;
  tell_contract(desk, call,
                market::Countersign{call->cluster(),
                                    contract_of(*call),
                                    {std::move(agreement->id), std::move(agreement->document),
                                     std::move(agreement->agreement)},
                                    std::move(accepted)});
}

}  // namespace spillway::services
