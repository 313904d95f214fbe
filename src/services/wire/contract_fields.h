// How the bodies about contracts are written (model/codec.h).
#pragma once

#include "market/message_fields.h"
#include "model/agreement_fields.h"
#include "model/fields.h"
#include "services/wire/contract_bodies.h"

namespace spillway::wire {

template <class F>
void fields(F& f, ConfirmRequest& b) {
  f.with_default("document", b.document);
}
template <class F>
void fields(F& f, CountersignRequest& b) {
  f.required("document", b.document);
  f.with_default("accepted", b.accepted);
}
template <class F>
void fields(F& f, SignedRequest& b) {
  f.with_default("event", b.event);
}
template <class F>
void fields(F& f, ExtendRequest& b) {
  f.required("ttl", b.ttl);
  f.with_default("event", b.event);
}
template <class F>
void fields(F& f, ReleaseRequest& b) {
  f.with_default("units", b.units);
  f.with_default("event", b.event);
}
template <class F>
void fields(F& f, BuyRequest& b) {
  f.required("units", b.units);
  f.with_default("event", b.event);
}
template <class F>
void fields(F& f, MessageRequest& b) {
  f.required("sequence", b.sequence);
  f.required("step", b.step);
  f.required("envelope", b.envelope);
  f.with_default("ttl", b.ttl, MessageRequest{}.ttl);
}
template <class F>
void fields(F& f, MessageRow& b) {
  f.required("sequence", b.sequence);
  f.required("step", b.step);
  f.required("envelope", b.envelope);
  f.required("expires", b.expires);
}
template <class F>
void fields(F& f, MessagePage& b) {
  f.required("messages", b.messages);
  f.with_default("more", b.more);
}
template <class F>
void fields(F& f, TakenRequest& b) {
  f.required("through", b.through);
}
template <class F>
void fields(F& f, CardBody& b) {
  f.required("document", b.document);
}
template <class F>
void fields(F& f, AgreementAnswer& b) {
  f.required("contract", b.contract);
  f.with_default("document", b.document);
  f.with_default("complete", b.complete);
  f.with_default("events", b.events);
  f.with_default("buyer_card", b.buyer_card);
  f.with_default("provider_card", b.provider_card);
}
template <class F>
void fields(F& f, UsageRequest& b) {
  f.required("used", b.used);
  f.with_default("event", b.event);
}
template <class F>
void fields(F& f, ContractAnswer& b) {
  f.required("contract", b.contract);
  f.optional("paid_anyway_until", b.paid_anyway_until);
  f.optional("ends_no_later_than", b.ends_no_later_than);
}
template <class F>
void fields(F& f, InvoiceAnswer& b) {
  f.required("cluster", b.cluster);
  f.required("from", b.from);
  f.optional("until", b.until);
  f.required("as_of", b.as_of);
  f.required("lines", b.lines);
  f.required("totals", b.totals);
  f.with_default("next", b.next);
}
template <class F>
void fields(F& f, ContractPage& b) {
  f.required("contracts", b.contracts);
  f.with_default("next", b.next);
}

}  // namespace spillway::wire
