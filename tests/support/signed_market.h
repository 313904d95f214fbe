// Contracts in a TestBook that their parties have signed, or so the book is told: it verifies
// nothing.
#pragma once

#include <string>

#include "support/sample_records.h"
#include "support/test_book.h"

namespace spillway::test {

// Seller, buyer and rival, each with an identity and a card; `units` on sale.
inline void open_signed_market(TestBook& book, int64_t units) {
  book.open_market(units);
  int n = 0;
  for (const ClusterId& cluster : {k_seller, k_buyer, k_rival}) {
    ++n;
    const std::string token = "token-" + cluster.text;
    book.run(market::MakeToken{
                 token, cluster.text, {model::Role::provider, model::Role::consumer}, {}, hours(1)})
        .value();
    book.run(market::Join{token, sample_key(n), sample_certificate(n), book.now + hours(24)})
        .value();
    const model::Card card{"alps", cluster, 1, sample_key_text(n), sample_key_text(100 + n), {}};
    book.run(market::PutCard{card, "{}", sample_key(n)}).value();
  }
}

inline market::SignedAgreement signed_agreement(const model::Contract& contract) {
  market::SignedAgreement agreement{sample_key(77), "half", agreement_on(contract, "alps")};
  agreement.agreement.provider.key = sample_key_text(1);
  agreement.agreement.provider.sealing = sample_key_text(101);
  agreement.agreement.buyer.key = sample_key_text(2);
  agreement.agreement.buyer.sealing = sample_key_text(102);
  return agreement;
}

// A hold of the buyer's that it has signed.
inline ContractId half_signed(TestBook& book) {
  const ContractId id = book.held(k_buyer, 1);
  book.run(market::Confirm{k_buyer, id, signed_agreement(book.contract(id))}).value();
  return id;
}

inline ContractId signed_by_both(TestBook& book) {
  const ContractId id = half_signed(book);
  market::SignedEvent accepted;
  accepted.document = "accepted";
  accepted.event.agreement = sample_key(77);
  accepted.event.hold = id;
  accepted.event.by = k_seller;
  accepted.event.key = sample_key_text(1);
  accepted.event.kind = model::ContractEventKind::accepted;
  accepted.event.at = book.now;
  accepted.event.trust = model::Trust::first_use;
  book.run(market::Countersign{k_seller, id, signed_agreement(book.contract(id)), accepted})
      .value();
  return id;
}

}  // namespace spillway::test
