// How the talk is written (model/codec.h); also for whoever keeps what was heard.
#pragma once

#include "fabric/talk.h"
#include "model/codec.h"

namespace spillway::fabric {

template <class F>
void fields(F& f, NonceTalk& t) {
  f.required("nonce", t.nonce);
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

}  // namespace spillway::fabric
