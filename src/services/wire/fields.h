// How the bodies are written (model/codec.h). Costs more to include than bodies.h: .cpp files only.
#pragma once

#include "model/fields.h"
#include "services/wire/bodies.h"
#include "services/wire/contract_fields.h"

namespace spillway::wire {

template <class F>
void fields(F& f, JoinRequest& b) {
  f.required("token", b.token);
  f.required("request", b.request);
}
template <class F>
void fields(F& f, CertificateRequest& b) {
  f.required("request", b.request);
}
template <class F>
void fields(F&, Nothing&) {}
template <class F>
void fields(F& f, CertificateAnswer& b) {
  f.required("federation", b.federation);
  f.required("name", b.name);
  f.required("roles", b.roles);
  f.required("certificate", b.certificate);
  f.required("authorities", b.authorities);
  f.required("not_after", b.not_after);
  f.required("renew_at", b.renew_at);
}
template <class F>
void fields(F& f, TokenRequest& b) {
  f.required("name", b.name);
  f.required("roles", b.roles);
  f.with_default("labels", b.labels);
  f.with_default("ttl", b.ttl, TokenRequest{}.ttl);
}
template <class F>
void fields(F& f, TokenAnswer& b) {
  f.required("token", b.token);
  f.required("id", b.id);
  f.required("name", b.name);
  f.required("expires", b.expires);
}
template <class F>
void fields(F& f, TokenRow& b) {
  f.required("id", b.id);
  f.required("name", b.name);
  f.required("roles", b.roles);
  f.with_default("labels", b.labels);
  f.required("expires", b.expires);
  f.required("used", b.used);
}
template <class F>
void fields(F& f, TokenPage& b) {
  f.required("tokens", b.tokens);
  f.with_default("next", b.next);
}
template <class F>
void fields(F& f, WhoAmI& b) {
  f.required("federation", b.federation);
  f.required("name", b.name);
  f.required("roles", b.roles);
  f.required("not_after", b.not_after);
}
template <class F>
void fields(F& f, IdentityRow& b) {
  f.required("name", b.name);
  f.required("roles", b.roles);
  f.required("key", b.key);
  f.required("since", b.since);
  f.required("not_after", b.not_after);
  f.optional("revoked", b.revoked);
}
template <class F>
void fields(F& f, IdentityPage& b) {
  f.required("identities", b.identities);
  f.with_default("next", b.next);
}

template <class F>
void fields(F& f, PoolPut& b) {
  f.required("pool", b.pool);
  f.required("sequence", b.sequence);
  f.with_default("lease", b.lease, PoolPut{}.lease);
  f.with_default("carries", b.carries);
  f.with_default("epoch", b.epoch);
  f.with_default("report", b.report);
}
template <class F>
void fields(F& f, PoolPutAnswer& b) {
  f.required("epoch", b.epoch);
}
template <class F>
void fields(F& f, PoolRow& b) {
  f.required("pool", b.pool);
  f.required("provider", b.provider);
  f.required("sequence", b.sequence);
  f.with_default("withdrawn", b.withdrawn);
  f.required("lease_until", b.lease_until);
  f.required("epoch", b.epoch);
  f.required("report", b.report);
  f.required("committed", b.committed);
  f.with_default("unaccounted", b.unaccounted);
  f.optional("oversold_since", b.oversold_since);
}
template <class F>
void fields(F& f, PoolPage& b) {
  f.required("pools", b.pools);
  f.with_default("next", b.next);
}
template <class F>
void fields(F& f, OfferPut& b) {
  f.required("offer", b.offer);
  f.required("sequence", b.sequence);
}
template <class F>
void fields(F& f, OfferRow& b) {
  f.required("offer", b.offer);
  f.required("provider", b.provider);
  f.optional("sequence", b.sequence);
  f.with_default("withdrawn", b.withdrawn);
}
template <class F>
void fields(F& f, OfferPage& b) {
  f.required("offers", b.offers);
  f.with_default("next", b.next);
}

template <class F>
void fields(F& f, QueryRequest& b) {
  f.required("intent", b.intent);
  f.with_default("limit", b.limit, QueryRequest{}.limit);
  f.with_default("cursor", b.cursor);
  f.with_default("explain", b.explain);
  f.with_default("paid", b.paid);
}
template <class F>
void fields(F& f, PaidUnits& b) {
  f.required("contract", b.contract);
  f.required("offer", b.offer);
  f.required("provider", b.provider);
  f.required("units", b.units);
  f.required("until", b.until);
  f.required("marginal_rate", b.marginal_rate, model::as::amount);
}
template <class F>
void fields(F& f, Term& b) {
  f.required("name", b.name);
  f.required("amount", b.amount, model::as::amount);
  f.required("how", b.how);
  f.with_default("estimated", b.estimated);
}
template <class F>
void fields(F& f, Candidate& b) {
  f.required("offer", b.offer);
  f.required("provider", b.provider);
  f.required("pool", b.pool);
  f.required("free_units", b.free_units);
  f.required("rate", b.rate, model::as::amount);
  f.optional("distance_metres", b.distance_metres);
  f.optional("carbon", b.carbon);
  f.optional("heard", b.heard);
  f.required("score", b.score, model::as::amount);
  f.required("terms", b.terms);
}
template <class F>
void fields(F& f, RuledOut& b) {
  f.required("reason", b.reason);
  f.required("offers", b.offers);
}
template <class F>
void fields(F& f, Verdict& b) {
  f.required("offer", b.offer);
  f.with_default("ruled_out_by", b.ruled_out_by);
  f.required("score", b.score, model::as::amount);
  f.with_default("sentence", b.sentence);
}
template <class F>
void fields(F& f, QueryAnswer& b) {
  f.required("outcome", b.outcome);
  f.with_default("why", b.why);
  f.required("currency", b.currency);
  f.required("considered", b.considered);
  f.required("fitting", b.fitting);
  f.required("ruled_out", b.ruled_out);
  f.required("candidates", b.candidates);
  f.with_default("verdicts", b.verdicts);
  f.with_default("next", b.next);
  f.with_default("paid", b.paid);
}

template <class F>
void fields(F& f, HoldRequest& b) {
  f.required("lines", b.lines);
  f.with_default("ttl", b.ttl, HoldRequest{}.ttl);
}
template <class F>
void fields(F& f, HoldAnswer& b) {
  f.required("grants", b.grants);
  f.required("ttl_seconds", b.ttl_seconds);
}
template <class F>
void fields(F& f, EventBody& b) {
  f.required("sequence", b.sequence);
  f.required("at", b.at);
  f.required("kind", b.kind);
  f.required("subject", b.subject);
  f.with_default("pool", b.pool);
  f.with_default("provider", b.provider);
  f.with_default("buyer", b.buyer);
  f.with_default("detail", b.detail);
  f.with_default("by", b.by);
  f.with_default("request", b.request);
}
template <class F>
void fields(F& f, EventPage& b) {
  f.required("events", b.events);
  f.required("next", b.next);
  f.with_default("more", b.more);
}
template <class F>
void fields(F& f, SnapshotAnswer& b) {
  f.required("sequence", b.sequence);
  f.required("epoch", b.epoch);
  f.required("pools", b.pools);
  f.required("offers", b.offers);
  f.required("contracts", b.contracts);
  f.with_default("more", b.more);
}
template <class F>
void fields(F& f, ClusterPage& b) {
  f.required("clusters", b.clusters);
  f.with_default("next", b.next);
}
template <class F>
void fields(F& f, ClusterAnswer& b) {
  f.required("cluster", b.cluster);
  f.required("units", b.units);
  f.required("open_holds", b.open_holds);
}
template <class F>
void fields(F& f, Health& b) {
  f.required("status", b.status);
}
template <class F>
void fields(F& f, Problem& b) {
  f.required("type", b.type);
  f.required("title", b.title);
  f.required("status", b.status);
  f.required("detail", b.detail);
  f.required("thing", b.thing);
  f.required("reason", b.reason);
  f.with_default("next", b.next);
  f.optional("snapshot", b.snapshot);
}

}  // namespace spillway::wire
