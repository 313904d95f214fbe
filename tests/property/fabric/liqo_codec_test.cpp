// Whatever a struct holds, what is written of it is read as the same.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fabric/liqo/cluster_objects.h"
#include "fabric/liqo/foreign_cluster.h"
#include "fabric/liqo/guests.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/namespaces.h"
#include "fabric/liqo/network_objects.h"
#include "fabric/liqo/slice.h"
#include "fabric/liqo/virtual_node.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

std::string text_of(const char* alphabet, int low, int high) {
  const std::string letters(alphabet);
  const auto letter = rc::gen::map(rc::gen::inRange<size_t>(0, letters.size()),
                                   [letters](size_t i) { return letters[i]; });
  const auto size = *rc::gen::inRange<size_t>(static_cast<size_t>(low), static_cast<size_t>(high));
  return *rc::gen::container<std::string>(size, letter);
}

std::string any_name() { return text_of("abz09", 1, 20); }
std::string any_text() { return text_of("aZ9 -_/.:\"\\\n\t", 0, 30); }
std::string any_bytes() { return *rc::gen::arbitrary<std::string>(); }
bool any_flag() { return *rc::gen::arbitrary<bool>(); }

template <class Make>
auto any_list(Make make) {
  std::vector<decltype(make())> made(*rc::gen::inRange<size_t>(0, 4));
  for (auto& one : made) one = make();
  return made;
}

template <class Make>
auto any_map(Make make) {
  std::map<std::string, decltype(make()), std::less<>> made;
  for (size_t n = *rc::gen::inRange<size_t>(0, 4); n > 0; --n) made[any_name()] = make();
  return made;
}

Amounts any_amounts() {
  Amounts made;
  for (const char* name : {"cpu", "memory", "pods", "ephemeral-storage", "nvidia.com/gpu"}) {
    if (any_flag()) made[name] = *rc::gen::inRange<int64_t>(0, model::k_max_amount + 1);
  }
  return made;
}

Meta any_meta() {
  Meta meta;
  meta.name = any_name();
  meta.space = any_name();
  meta.uid = any_text();
  meta.version = any_text();
  meta.deleted = any_text();
  meta.generation = *rc::gen::inRange<int64_t>(0, 1000);
  meta.labels = any_map(any_text);
  meta.annotations = any_map(any_text);
  meta.finalizers = any_list(any_text);
  meta.owners = any_list([] {
    return Owner{any_text(), any_text(), any_name(), any_text(), any_flag()};
  });
  return meta;
}

Conditions any_conditions() {
  return any_list([] {
    return Condition{any_name(), any_text(), any_text(), any_text(), any_text()};
  });
}

AuthParams any_access() { return {any_bytes(), any_bytes(), any_text(), any_text()}; }

std::vector<OfferedClass> any_classes() {
  return any_list([] { return OfferedClass{any_name(), any_flag()}; });
}

Grant any_grant() {
  return {any_amounts(), any_map(any_text), any_map(any_text),
          any_classes(), any_classes(),     any_classes()};
}

model::Taint any_taint() {
  return {any_name(), any_text(),
          *rc::gen::element(model::TaintEffect::no_schedule, model::TaintEffect::prefer_no_schedule,
                            model::TaintEffect::no_execute)};
}

Slice any_slice() {
  Slice slice;
  slice.meta = any_meta();
  slice.buyer = any_name();
  slice.provider = any_name();
  slice.class_name = any_text();
  slice.request = any_bytes();
  slice.wanted = any_amounts();
  slice.conditions = any_conditions();
  if (any_flag()) slice.access = any_access();
  slice.grant = any_grant();
  return slice;
}

// Through text too, as it goes over the wire.
template <class T>
void returns(const T& value, Result<T> (*read)(const model::Node&)) {
  const auto parsed = model::parse_json(model::to_json(to_object(value)), "object");
  RC_ASSERT(parsed.has_value());
  const Result<T> again = read(*parsed);
  if (!again) RC_FAIL(again.error().message());
  RC_ASSERT(*again == value);
}

RC_GTEST_PROP(LiqoCodec, NoncesReturn, ()) {
  returns(Nonce{any_meta(), any_bytes()}, read_nonce);
  returns(SignedNonce{any_meta(), any_bytes(), any_bytes()}, read_signed_nonce);
}

RC_GTEST_PROP(LiqoCodec, TenantsReturn, ()) {
  Tenant tenant;
  tenant.meta = any_meta();
  tenant.buyer = any_name();
  tenant.policy =
      *rc::gen::element(TenantPolicy::keys_exchange, TenantPolicy::tolerate_no_handshake);
  tenant.condition = *rc::gen::element(TenantCondition::active, TenantCondition::cordoned,
                                       TenantCondition::drained);
  tenant.public_key = any_bytes();
  tenant.request = any_bytes();
  tenant.signature = any_bytes();
  tenant.proxy = any_text();
  tenant.space = any_name();
  if (any_flag()) tenant.answer = any_access();
  returns(tenant, read_tenant);
}

RC_GTEST_PROP(LiqoCodec, IdentitiesReturn, ()) {
  returns(Identity{any_meta(), any_name(),
                   *rc::gen::element(IdentityType::control_plane, IdentityType::slice),
                   any_access(), any_name(), any_name()},
          read_identity);
}

RC_GTEST_PROP(LiqoCodec, SlicesReturn, ()) { returns(any_slice(), read_slice); }

RC_GTEST_PROP(LiqoCodec, AGrantIsWhatASliceHasAfterIt, ()) {
  const Slice before = any_slice();
  const Grant grant = any_grant();
  model::Node object = to_object(before);
  model::merge(object, grant_patch(before, grant, Instant{1'800'000'000'000}));
  const Slice after = read_slice(object).value();
  RC_ASSERT(after.grant == grant);
  RC_ASSERT(after.is_accepted(k_resources_condition));
  Slice rest = after;
  rest.grant = before.grant;
  rest.conditions = before.conditions;
  RC_ASSERT(rest == before);
}

RC_GTEST_PROP(LiqoCodec, VirtualNodesReturn, ()) {
  VirtualNode node;
  node.meta = any_meta();
  node.provider = any_name();
  node.create_node = any_flag();
  node.disable_network_check = any_flag();
  node.kubeconfig_secret = any_name();
  node.template_name = any_name();
  node.template_space = any_name();
  node.labels = any_map(any_text);
  node.annotations = any_map(any_text);
  node.taints = any_list(any_taint);
  node.amounts = any_amounts();
  node.node_selector = any_map(any_text);
  node.conditions = any_conditions();
  returns(node, read_virtual_node);
}

RC_GTEST_PROP(LiqoCodec, NamespacesOfPeersReturn, ()) { returns(Space{any_meta()}, read_space); }

RC_GTEST_PROP(LiqoCodec, QuotasReturn, ()) {
  returns(
      Quota{any_meta(), any_name(), any_amounts(),
            *rc::gen::element(Enforcement::none, Enforcement::soft, Enforcement::hard), any_flag()},
      read_quota);
}

RC_GTEST_PROP(LiqoCodec, NamespacesReturn, ()) {
  NamespaceOffloading offloading;
  offloading.meta = any_meta();
  offloading.mapping =
      *rc::gen::element(Mapping::default_name, Mapping::same_name, Mapping::selected_name);
  offloading.remote_name = any_name();
  offloading.placement =
      *rc::gen::element(Placement::local_and_remote, Placement::local, Placement::remote);
  offloading.selector = any_list([] {
    return SelectorTerm{any_list([] {
      return Requirement{any_name(), any_text(), any_list(any_text)};
    })};
  });
  offloading.phase = any_text();
  offloading.remote_space = any_name();
  offloading.observed_generation = *rc::gen::inRange<int64_t>(0, 1000);
  returns(offloading, read_namespace_offloading);
  returns(NamespaceMap{any_meta(), any_map(any_text), any_map([] {
                         return MappedNamespace{any_name(), any_text()};
                       })},
          read_namespace_map);
}

Ranges any_ranges() { return {any_list(any_text), any_list(any_text)}; }
Endpoint any_endpoint() {
  return {any_list(any_text), *rc::gen::inRange<int64_t>(0, 70'000), any_text()};
}
Reference any_reference() { return {any_text(), any_text(), any_name(), any_name()}; }

RC_GTEST_PROP(LiqoCodec, NetworksReturn, ()) {
  returns(Configuration{any_meta(), any_ranges(), any_ranges(), any_conditions()},
          read_configuration);
  GatewayServer server;
  server.meta = any_meta();
  server.run_by = any_reference();
  server.mtu = *rc::gen::inRange<int64_t>(0, 9000);
  server.port = *rc::gen::inRange<int64_t>(0, 70'000);
  server.service_type = any_text();
  if (any_flag()) server.endpoint = any_endpoint();
  server.keys = any_reference();
  returns(server, read_gateway_server);
  returns(GatewayClient{any_meta(), any_reference(), *rc::gen::inRange<int64_t>(0, 9000),
                        any_endpoint(), any_reference()},
          read_gateway_client);
  returns(PublicKey{any_meta(), any_bytes()}, read_public_key);
  returns(Connection{any_meta(), any_text(), any_text()}, read_connection);
  returns(Network{any_meta(), any_text()}, read_network);
  returns(Address{any_meta(), any_text()}, read_address);
}

RC_GTEST_PROP(LiqoCodec, ForeignClustersReturn, ()) {
  const auto any_module = [] { return Module{any_flag(), any_conditions()}; };
  returns(ForeignCluster{any_meta(), any_name(),
                         *rc::gen::element(PeerRole::unknown, PeerRole::consumer,
                                           PeerRole::provider, PeerRole::both),
                         any_text(), any_name(), any_name(), any_conditions(), any_module(),
                         any_module(), any_module()},
          read_foreign_cluster);
}

}  // namespace
}  // namespace spillway::fabric::liqo
