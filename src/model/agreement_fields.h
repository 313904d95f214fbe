// How cards, agreements, their events and messages are written (model/codec.h). In what is signed
// nothing has a default but what is nothing: zero of a resource, an empty list, no part of a
// fabric.
#pragma once

#include <array>

#include "model/agreement.h"
#include "model/card.h"
#include "model/contract_event.h"
#include "model/fields.h"
#include "model/message.h"

namespace spillway::model {

constexpr std::array<Word<Trust>, 2> words_of(Trust) {
  return {{{Trust::given, "given"}, {Trust::first_use, "first-use"}}};
}
constexpr std::array<Word<EarlyEnd>, 2> words_of(EarlyEnd) {
  return {{{EarlyEnd::minimum_term, "minimum-term"}, {EarlyEnd::time_used, "time-used"}}};
}
constexpr std::array<Word<ContractEventKind>, 8> words_of(ContractEventKind) {
  return {{{ContractEventKind::accepted, "accepted"},
           {ContractEventKind::extension, "extension"},
           {ContractEventKind::renewal, "renewal"},
           {ContractEventKind::release, "release"},
           {ContractEventKind::notice, "notice"},
           {ContractEventKind::drained, "drained"},
           {ContractEventKind::usage, "usage"},
           {ContractEventKind::purchase, "purchase"}}};
}

constexpr std::array<Word<Direction>, 2> words_of(Direction) {
  return {{{Direction::to_provider, "to-provider"}, {Direction::to_buyer, "to-buyer"}}};
}

template <class Fields>
void fields(Fields& f, Card& c) {
  f.required("federation", c.federation);
  f.required("cluster", c.cluster);
  f.required("number", c.number);
  f.required("key", c.key);
  f.required("sealing", c.sealing);
  f.with_default("liqo", c.liqo);
}

template <class Fields>
void fields(Fields& f, Signatory& s) {
  f.required("cluster", s.cluster);
  f.required("key", s.key);
  f.required("sealing", s.sealing);
  f.required("card", s.card);
}

template <class Fields>
void fields(Fields& f, AgreedTerms& t) {
  f.required("lease", t.lease);
  f.required("notice", t.notice);
  f.required("drain", t.drain);
  f.required("grace", t.grace);
  f.required("fence", t.fence);
  f.required("early_end_by_buyer", t.by_buyer);
  f.required("early_end_by_provider", t.by_provider);
}

template <class Fields>
void fields(Fields& f, LiqoPart& l) {
  f.required("buyer", l.buyer);
  f.required("provider", l.provider);
  f.required("buyer_key", l.buyer_key);
  f.required("control_plane_request", l.control_plane_request);
  f.required("unit_requests", l.unit_requests);
}

template <class Fields>
void fields(Fields& f, Fabric& b) {
  f.optional("liqo", b.liqo);
}

template <class Fields>
void fields(Fields& f, Agreement& a) {
  f.required("federation", a.federation);
  f.required("hold", a.hold);
  f.required("buyer", a.buyer);
  f.required("provider", a.provider);
  f.required("trust", a.trust);
  f.required("pool", a.pool);
  f.required("offer", a.offer);
  f.required("shape", a.shape);
  f.required("price", a.price);
  f.required("rate", a.rate, as::amount);
  f.required("terms", a.terms);
  f.required("units", a.units);
  f.with_default("spare", a.spare, false);
  f.required("sign_by", a.sign_by);
  f.required("fabric", a.fabric);
}

template <class Fields>
void fields(Fields& f, MeteredUse& u) {
  f.required("unit", u.unit);
  f.required("use", u.use);
}

template <class Fields>
void fields(Fields& f, ContractEvent& e) {
  f.required("agreement", e.agreement);
  f.required("hold", e.hold);
  f.required("by", e.by);
  f.required("key", e.key);
  f.required("number", e.number);
  f.required("kind", e.kind);
  f.required("at", e.at);
  f.optional("until", e.until);
  f.with_default("units", e.units);
  f.optional("trust", e.trust);
  f.with_default("used", e.used);
}

template <class Fields>
void fields(Fields& f, Message& m) {
  f.required("agreement", m.agreement);
  f.required("direction", m.direction);
  f.required("step", m.step);
  f.required("sequence", m.sequence);
  f.required("body", m.body);
}

}  // namespace spillway::model
