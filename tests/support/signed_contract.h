// Two parties with keys, and what they sign on a contract: for tests of documents that are signed,
// and of those that are not as they should be.
#pragma once

#include <string>

#include "base/check.h"
#include "model/agreement.h"
#include "model/card.h"
#include "model/contract_event.h"
#include "pki/ed25519.h"
#include "pki/envelope.h"
#include "pki/signed_documents.h"
#include "support/sample_records.h"

namespace spillway::test {

// The same for the same name, in every run.
struct SigningParty {
  explicit SigningParty(ClusterId name)
      : cluster(std::move(name)),
        key(*pki::signing_key_from_seed((cluster.text + std::string(32, '.')).substr(0, 32))),
        sealing(*pki::SealingKey::from_bytes(
            pki::Secret((cluster.text + std::string(32, '-')).substr(0, 32)))) {}

  model::Card card(const std::string& federation = "alps") const {
    return {.federation = federation,
            .cluster = cluster,
            .number = 1,
            .key = *pki::signing_key_text(key.public_key()),
            .sealing = to_text(sealing.public_key()),
            .liqo = {}};
  }
  model::Signatory signatory() const {
    const model::Card shown = card();
    return {cluster, shown.key, shown.sealing, shown.number};
  }

  ClusterId cluster;
  pki::Key key;
  pki::SealingKey sealing;
};

struct SignedContract {
  explicit SignedContract(model::Contract of = sample_contract(1))
      : contract(std::move(of)), buyer(contract.buyer), provider(contract.provider) {
    agreement = agreement_on(contract, "alps");
    agreement.buyer = buyer.signatory();
    agreement.provider = provider.signatory();
  }

  std::string half() const { return *pki::sign(agreement, buyer.key); }
  std::string whole() const { return *pki::countersign(half(), provider.key); }
  model::ContractEvent renewal(int64_t number) const {
    model::ContractEvent event;
    event.agreement = pki::verify_agreement(half(), pki::Signers::buyer)->id;
    event.hold = contract.id;
    event.by = buyer.cluster;
    event.key = agreement.buyer.key;
    event.number = number;
    event.kind = model::ContractEventKind::renewal;
    event.at = contract.created;
    event.until = contract.created + hours(1);
    return event;
  }

  model::Contract contract;
  SigningParty buyer;
  SigningParty provider;
  model::Agreement agreement;
};

}  // namespace spillway::test
