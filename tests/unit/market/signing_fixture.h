// Seller, buyer and rival with cards. The book sees documents that the door has verified: here they
// are only said to be.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "support/signed_market.h"

namespace spillway::market {

using namespace test;
using model::ContractEventKind;
using model::ContractState;

inline model::Card card_of(const ClusterId& cluster, int n) {
  return {.federation = "alps",
          .cluster = cluster,
          .number = 1,
          .key = sample_key_text(n),
          .sealing = sample_key_text(100 + n),
          .liqo = "liqo-" + cluster.text};
}

class Signing : public testing::Test {
 protected:
  void SetUp() override {
    book.open_market(3);
    for (const auto& [cluster, n] : {std::pair{k_seller, 1}, {k_buyer, 2}, {k_rival, 3}}) {
      join(cluster, n);
      book.run(PutCard{card_of(cluster, n), "{}", sample_key(n)}).value();
    }
  }

  void join(const ClusterId& cluster, int n, const std::string& when = {}) {
    const std::string token = "token-" + cluster.text + when;
    book.run(MakeToken{
                 token, cluster.text, {model::Role::provider, model::Role::consumer}, {}, hours(1)})
        .value();
    book.run(Join{token, sample_key(n), sample_certificate(n), book.now + hours(24)}).value();
  }

  SignedAgreement agreement_for(const ContractId& id) {
    return signed_agreement(book.contract(id));
  }

  SignedEvent event_for(const ContractId& id, ContractEventKind kind, int64_t number) {
    const bool by_provider = kind == ContractEventKind::accepted ||
                             kind == ContractEventKind::notice || kind == ContractEventKind::usage;
    SignedEvent event;
    event.event.agreement = sample_key(77);
    event.event.hold = id;
    event.event.by = by_provider ? k_seller : k_buyer;
    event.event.key = sample_key_text(by_provider ? 1 : 2);
    event.event.number = number;
    event.event.kind = kind;
    event.event.at = book.now;
    if (kind == ContractEventKind::renewal) event.event.until = book.now + hours(2);
    if (kind == ContractEventKind::accepted) event.event.trust = model::Trust::first_use;
    event.document = fmt::format("{} {}", to_text(kind), number);
    return event;
  }

  Countersign countersign_for(const ContractId& id) {
    SignedAgreement both = agreement_for(id);
    both.document = "whole";
    return {k_seller, id, std::move(both), event_for(id, ContractEventKind::accepted, 1)};
  }

  ContractId half_signed(int32_t units = 1) {
    const ContractId id = book.held(k_buyer, units);
    book.run(Confirm{k_buyer, id, agreement_for(id)}).value();
    return id;
  }
  ContractId signed_by_both(int32_t units = 1) {
    const ContractId id = half_signed(units);
    book.run(countersign_for(id)).value();
    return id;
  }
  const AgreementRecord& record(const ContractId& id) {
    return *book.get<AgreementRecord>(agreement_key(id));
  }

  TestBook book;
};

}  // namespace spillway::market
