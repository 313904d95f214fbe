// How the rows of the book are written (model/codec.h); what must hold of them is in
// record_codec.cpp, the only one to include this.
#pragma once

#include <array>

#include "market/message_fields.h"
#include "market/record_codec.h"
#include "model/agreement_fields.h"

namespace spillway::market {

constexpr std::array<model::Word<EventKind>, k_event_kinds> words_of(EventKind) {
  std::array<model::Word<EventKind>, k_event_kinds> words{};
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = {static_cast<EventKind>(i), k_event_words[i]};
  }
  return words;
}

template <class Fields>
void fields(Fields& f, PoolRecord& r) {
  f.required("pool", r.pool);
  f.required("provider", r.provider);
  f.required("sequence", r.sequence);
  f.with_default("withdrawn", r.withdrawn);
  f.required("lease_until", r.lease_until);
  f.optional("heard", r.heard);
  f.required("epoch", r.epoch);
  f.with_default("report", r.report);
  f.with_default("committed", r.committed);
  f.with_default("unaccounted", r.unaccounted);
  f.optional("oversold_since", r.oversold_since);
  f.optional("reclaim_at", r.reclaim_at);
}

template <class Fields>
void fields(Fields& f, OfferRecord& r) {
  f.required("offer", r.offer);
  f.required("provider", r.provider);
  f.required("sequence", r.sequence);
  f.with_default("withdrawn", r.withdrawn);
}

template <class Fields>
void fields(Fields& f, Purse& p) {
  f.required("currency", p.currency);
  f.with_default("reserved", p.reserved, model::as::amount);
  f.with_default("spent", p.spent, model::as::amount);
}

template <class Fields>
void fields(Fields& f, AccountRecord& r) {
  f.required("cluster", r.cluster);
  f.with_default("units", r.units);
  f.with_default("spares", r.spares);
  f.with_default("open_holds", r.open_holds);
  f.with_default("used", r.used);
  f.with_default("purses", r.purses);
  f.optional("spent_from", r.spent_from);
}

template <class Fields>
void fields(Fields& f, RequestRecord& r) {
  f.required("buyer", r.buyer);
  f.required("key", r.key);
  f.required("body", r.body);
  f.required("grants", r.grants);
  f.required("forget_at", r.forget_at);
}

template <class Fields>
void fields(Fields& f, EpochRecord& r) {
  f.required("epoch", r.epoch);
  f.required("lost", r.lost);
}

template <class Fields>
void fields(Fields& f, HeartRecord& r) {
  f.required("beat", r.beat);
}

template <class Fields>
void fields(Fields& f, TokenRecord& r) {
  f.required("id", r.id);
  f.required("name", r.name);
  f.required("roles", r.roles);
  f.with_default("labels", r.labels);
  f.required("made", r.made);
  f.required("expires", r.expires);
  f.with_default("key", r.key);
  f.with_default("certificate", r.certificate);
  f.with_default("not_after", r.not_after);
  f.required("forget_at", r.forget_at);
}

template <class Fields>
void fields(Fields& f, CardRecord& r) {
  f.required("card", r.card);
  f.required("document", r.document);
}

template <class Fields>
void fields(Fields& f, LiqoRecord& r) {
  f.required("id", r.id);
  f.required("cluster", r.cluster);
}

template <class Fields>
void fields(Fields& f, KeptEvent& e) {
  f.required("by", e.by);
  f.required("number", e.number);
  f.required("kind", e.kind);
  f.required("document", e.document);
  f.with_default("units", e.units);
}

template <class Fields>
void fields(Fields& f, AgreementRecord& r) {
  f.required("contract", r.contract);
  f.required("buyer", r.buyer);
  f.required("provider", r.provider);
  f.required("buyer_key", r.buyer_key);
  f.required("provider_key", r.provider_key);
  f.required("id", r.id);
  f.required("document", r.document);
  f.with_default("complete", r.complete);
  f.required("sign_by", r.sign_by);
  f.with_default("events", r.events);
}

template <class Fields>
void fields(Fields& f, Posted& p) {
  f.required("sequence", p.sequence);
  f.required("content", p.content);
  f.required("bytes", p.bytes);
  f.required("expires", p.expires);
  f.with_default("waiting", p.waiting, true);
}

template <class Fields>
void fields(Fields& f, MailboxRecord& r) {
  f.required("contract", r.contract);
  f.required("direction", r.direction);
  f.required("posted", r.posted);
  f.required("forget_at", r.forget_at);
}

template <class Fields>
void fields(Fields& f, MessageRecord& r) {
  f.required("contract", r.contract);
  f.required("direction", r.direction);
  f.required("sequence", r.sequence);
  f.required("step", r.step);
  f.required("envelope", r.envelope);
  f.required("expires", r.expires);
}

template <class Fields>
void fields(Fields& f, Event& e) {
  f.required("sequence", e.sequence);
  f.required("at", e.at);
  f.required("kind", e.kind);
  f.required("subject", e.subject);
  f.with_default("pool", e.pool);
  f.with_default("provider", e.provider);
  f.with_default("buyer", e.buyer);
  f.with_default("detail", e.detail);
  f.with_default("by", e.by);
  f.with_default("request", e.request);
}

}  // namespace spillway::market
