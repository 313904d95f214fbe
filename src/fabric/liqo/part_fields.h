// The descriptions of what objects share. Only for the files that read and write objects.
#pragma once

#include "fabric/liqo/reader.h"
#include "fabric/liqo/writer.h"

namespace spillway::fabric::liqo {

template <class Fields>
void fields(Fields& f, Owner& o) {
  f.text("apiVersion", o.api_version);
  f.text("kind", o.kind);
  f.text("name", o.name);
  f.text("uid", o.uid);
  f.flag("controller", o.controller);
}

template <class Fields>
void fields(Fields& f, Meta& m) {
  f.needed("name");
  f.name("name", m.name);
  f.name("namespace", m.space);
  f.text("uid", m.uid);
  f.text("resourceVersion", m.version);
  f.text("deletionTimestamp", m.deleted);
  f.number("generation", m.generation);
  f.texts("labels", m.labels);
  f.texts("annotations", m.annotations);
  f.list("finalizers", m.finalizers);
  f.parts("ownerReferences", m.owners);
}

template <class Fields>
void fields(Fields& f, Condition& c) {
  f.needed("type");
  f.text("type", c.type);
  f.text("status", c.status);
  f.text("reason", c.reason);
  f.text("message", c.message);
  f.text("lastTransitionTime", c.since);
}

template <class Fields>
void fields(Fields& f, AuthParams& a) {
  f.bytes("ca", a.authority);
  f.bytes("signedCRT", a.certificate);
  f.text("apiServer", a.api_server);
  f.text("proxyURL", a.proxy);
}

inline constexpr Word<model::TaintEffect> k_taint_effects[] = {
    {model::TaintEffect::no_schedule, "NoSchedule"},
    {model::TaintEffect::prefer_no_schedule, "PreferNoSchedule"},
    {model::TaintEffect::no_execute, "NoExecute"}};

template <class Fields>
void fields(Fields& f, model::Taint& t) {
  f.needed("key");
  f.text("key", t.key);
  f.text("value", t.value);
  f.word("effect", t.effect, k_taint_effects);
}

}  // namespace spillway::fabric::liqo
