// Two members that sign, and a contract between them as an honest broker shows it: edge-2 buys from
// edge-1.
#pragma once

#include <string>

#include "pki/signed_documents.h"
#include "services/agent/signatory.h"
#include "services/wire/bodies.h"
#include "support/nouns.h"

namespace spillway::agent {

inline Signatory signing_member(const std::string& cluster) {
  return *Signatory::of(pki::Key::generate_member(), "lab", ClusterId(cluster));
}

struct SignedTrade {
  Signatory buyer = signing_member("edge-2");
  Signatory provider = signing_member("edge-1");
  Signatory stranger = signing_member("mallory");

  // A hold on our plain offer, of so many units.
  static model::Contract held(Instant now, int32_t units = 2) {
    model::Contract contract = test::contract_of_units(make_contract_id(now, 11, 12), units);
    contract.state = model::ContractState::hold;
    contract.created = now;
    contract.started.reset();
    contract.deadline = now + minutes(2);
    return contract;
  }

  model::Agreement agreement(const model::Contract& contract) const {
    model::Agreement made = agreement_on(contract, "lab");
    made.buyer = {buyer.cluster(), buyer.key_text(), to_text(buyer.sealing().public_key()), 1};
    made.provider = {provider.cluster(), provider.key_text(),
                     to_text(provider.sealing().public_key()), 1};
    return made;
  }
  std::string card_of(const Signatory& member) const { return *member.sign(member.card(1, "")); }

  // Signed by the buyer, or by both.
  wire::AgreementAnswer half(model::Contract contract, const model::Agreement& made) const {
    wire::AgreementAnswer told;
    const auto document = pki::sign(made, buyer.key());
    told.document = document ? *document : std::string();
    contract.agreement = pki::verify_agreement(told.document, pki::Signers::buyer)->id;
    told.contract = contract;
    told.buyer_card = card_of(buyer);
    told.provider_card = card_of(provider);
    return told;
  }
  wire::AgreementAnswer half(const model::Contract& contract) const {
    return half(contract, agreement(contract));
  }
  wire::AgreementAnswer whole(const model::Contract& contract) const {
    wire::AgreementAnswer told = half(contract);
    told.document = *pki::countersign(told.document, provider.key());
    told.complete = true;
    told.contract.state = model::ContractState::active;
    told.contract.started = contract.created;
    told.contract.deadline = contract.created + contract.terms.lease;
    told.events = {
        deed(told, provider, 1,
             {.kind = model::ContractEventKind::accepted, .trust = model::Trust::first_use})};
    return told;
  }
  static std::string deed(const wire::AgreementAnswer& told, const Signatory& by, int64_t number,
                          const Deed& deed) {
    return *by.sign({told.contract.agreement, told.contract.id}, deed, number,
                    told.contract.created);
  }
};

}  // namespace spillway::agent
