// Setting: what all parts of a cluster's Liqo have in common: the cluster's objects, who the
// cluster is in Liqo, and by whose authority it lets tenants in.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "embedded/access.h"
#include "embedded/liqo/options.h"
#include "embedded/objects.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "host/loop.h"
#include "pki/authority.h"
#include "pki/key.h"

namespace spillway::embedded::liqo {

namespace codec = fabric::liqo;

inline constexpr std::string_view k_managed_label = "liqo.io/managed";
// On slices that were there when their tenant was cordoned.
inline constexpr std::string_view k_cordon_tenant_annotation = "liqo.io/cordon-tenant";
// On namespaces: their pods may go to virtual nodes.
inline constexpr std::string_view k_scheduling_label = "liqo.io/scheduling-enabled";

struct Setting {
  Objects& objects;
  host::Loop& loop;
  Access& access;
  LiqoOptions options;
  pki::Authority authority;
  pki::Key own_key;  // of the cluster in Liqo
  std::string hash;  // SHA-256 of its id

  const std::string& id() const { return options.id; }
  Instant now() const { return objects.clock.now(); }
  const Kind& kind(const codec::Kind& named) const {
    return objects.registry.built_in(named.plural, named.group);
  }
  ObjectPtr find(const codec::Kind& named, const Key& key) const {
    return objects.table.find(kind(named), key);
  }
  // As they are now: who goes through them may change them.
  std::vector<ObjectPtr> all(const codec::Kind& named, std::string_view space = {}) const;
  void change(const codec::Kind& named, const Key& key,
              const std::function<void(model::Node&)>& how) const {
    objects.change(kind(named), key, how);
  }
  void create(const codec::Kind& named, model::Node document) const {
    (void)objects.create(kind(named), std::move(document));
  }
  void remove(const codec::Kind& named, const Key& key) const {
    (void)objects.remove(kind(named), key);
  }
  // Signed by this cluster, for a user of that name, who is known from now on.
  Result<codec::AuthParams> let_in(const pki::PublicKey& key, const pki::Subject& subject) const;
};

// A namespace of a peer: liqo.io/remote-cluster-id of it; empty: it is none.
std::string peer_of_space(const Setting& setting, const std::string& space);

std::string_view label_of(const Object& object, std::string_view key);  // else empty

// With labels, and an owner whose end is its own.
model::Node new_document(const Key& key, const codec::Texts& labels, const Object* owner);
model::Node auth_params_node(const codec::AuthParams& params);

}  // namespace spillway::embedded::liqo
