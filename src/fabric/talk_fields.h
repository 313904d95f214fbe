// How the talk is written (model/codec.h); also for whoever keeps what was heard.
#pragma once

#include "fabric/talk.h"
#include "model/codec.h"

namespace spillway::fabric {

template <class F>
void fields(F& f, NonceTalk& t) {
  f.required("nonce", t.nonce);
  f.with_default("kubeconfig", t.hands_out, false);
}

template <class F>
void fields(F& f, Proof& p) {
  f.required("nonce", p.nonce);
  f.required("signature", p.signature);
  f.required("public_key", p.public_key);
  f.required("request", p.request);
}

template <class F>
void fields(F& f, RequestTalk& t) {
  f.optional("proof", t.proof);
  f.with_default("units", t.units);
}

template <class F>
void fields(F& f, IdentityTalk& t) {
  f.required("authority", t.access.authority);
  f.required("certificate", t.access.certificate);
  f.required("api_server", t.access.api_server);
  f.with_default("proxy", t.access.proxy);
  f.required("space", t.space);
  f.with_default("units", t.units);
}

template <class F>
void fields(F& f, KubeconfigTalk& t) {
  f.required("kubeconfig", t.kubeconfig);
  f.required("expires", t.expires);
}

template <class F>
void fields(F& f, NetworkWord& w) {
  f.required("pods", w.ranges.pods);
  f.required("external", w.ranges.external);
  f.with_default("can_serve", w.can_serve, true);
  f.with_default("addresses", w.addresses);
  f.with_default("port", w.port);
  f.with_default("key", w.key);
  f.with_default("proxy", w.proxy);
  f.with_default("in_band", w.in_band);
}

template <class F>
void fields(F& f, NetworkTalk& t) {
  f.required("own", t.own);
  f.optional("heard", t.heard);
  f.with_default("asking", t.is_asking, false);
}

}  // namespace spillway::fabric
