// What a buyer's control plane may write: slices that are recorded, and its namespace map; and what
// its account may, before there is one.
#include "fabric/liqo/guard.h"
#include "fabric/liqo/guard_rules.h"

namespace spillway::fabric::liqo {
namespace {

constexpr GuardVariable k_labels{"labels", "object.metadata.?labels.orValue({})"};
constexpr GuardVariable k_buyer{"buyer", "request.userInfo.username"};
constexpr GuardVariable k_tenant{
    "buyer", "namespaceObject.metadata.?labels[?'liqo.io/remote-cluster-id'].orValue('')"};
constexpr GuardVariable k_prefix{
    "prefix", "'sw' + string(size(variables.buyer)) + '-' + variables.buyer + '-'"};
constexpr GuardVariable k_names{"names", "object.?spec.?desiredMapping.orValue({})"};

constexpr GuardRule k_own_space{
    "R2: a buyer writes in its own tenant namespace only",
    "namespaceObject.metadata.?labels[?'liqo.io/remote-cluster-id'].orValue('') =="
    " variables.buyer"};
// An object without them would look like one of the provider's own, and be copied to the buyer.
constexpr GuardRule k_replica{
    "R2: a buyer's object has the labels of a copy, all of them and no others of Liqo's",
    "variables.labels[?'liqo.io/replicated'].orValue('') == 'true' &&"
    " variables.labels[?'liqo.io/replication'].orValue('') == 'false' &&"
    " variables.labels[?'liqo.io/originID'].orValue('') == variables.buyer &&"
    " variables.labels[?'liqo.io/remote-cluster-id'].orValue('') == variables.buyer &&"
    " variables.labels.all(key, !key.contains('liqo.io/') || key in ['liqo.io/replicated',"
    " 'liqo.io/replication', 'liqo.io/originID', 'liqo.io/remote-cluster-id',"
    " 'liqo.io/remoteID'])"};

GuardPolicy never() {
  return {
      .name = "spillway-never",
      .kinds = {{"authentication.liqo.io",
                 {"resourceslices/status", "renews", "renews/status", "tenants", "tenants/status"}},
                {"offloading.liqo.io", {"namespacemaps/status"}}},
      .variables = {},
      .rules = {
          {"R1, R2: buyers write neither a status nor what certificates are made of", "false"}}};
}

// Apart from the record: who has none is refused before anything else is asked, and that must not
// be the cluster's own agent, which buys in the same namespaces that others' slices come to. So
// only copies are asked for the record, and here it is seen to that buyers make nothing but copies.
GuardPolicy copies() {
  return {.name = "spillway-copies",
          .kinds = {{"authentication.liqo.io", {"resourceslices"}}},
          .variables = {k_buyer, k_labels},
          .rules = {
              {"R3: a buyer's slice does not change", "request.operation == 'CREATE'"},
              k_own_space,
              k_replica,
              {"R3: a buyer's slice has neither finalizers nor owners",
               "object.metadata.?finalizers.orValue([]).size() == 0 &&"
               " object.metadata.?ownerReferences.orValue([]).size() == 0"},
              {"R3: spec.class must be spillway", "object.spec.?class.orValue('') == 'spillway'"},
              {"R3: spec.consumerClusterID must be the buyer",
               "object.spec.?consumerClusterID.orValue('') == variables.buyer"},
          }};
}

GuardPolicy slices() {
  return {.name = "spillway-slices",
          .kinds = {{"authentication.liqo.io", {"resourceslices"}}},
          .with_record = true,
          .variables = {},
          .rules = {
              {"R1: no contract has recorded a unit of this name with this certificate request",
               "object.spec.?csr.orValue('') != '' &&"
               " params.?data[?object.metadata.name].orValue('') == object.spec.csr"},
          }};
}

GuardPolicy namespace_maps() {
  return {
      .name = "spillway-namespace-maps",
      .kinds = {{"offloading.liqo.io", {"namespacemaps"}}},
      .variables = {k_buyer, k_labels, k_prefix, k_names},
      .rules = {k_own_space,
                k_replica,
                {"R3: a buyer changes neither finalizers nor owners",
                 "object.metadata.?finalizers.orValue([]) =="
                 " (request.operation == 'CREATE' ? [] :"
                 " oldObject.metadata.?finalizers.orValue([])) &&"
                 " object.metadata.?ownerReferences.orValue([]).size() == 0"},
                // Each has sixteen namespaces. Liqo has one for each provider, called as that is;
                // the provider's agent writes down which that is here.
                {"R4: a buyer has one map of namespaces, called as the provider",
                 "object.metadata.name == namespaceObject.metadata.?annotations"
                 "[?'spillway.dev/provider'].orValue('')"},
                {"R4: a guest namespace is called sw<length of the buyer's id>-<its id>-…",
                 "variables.names.all(name, variables.names[name].startsWith(variables.prefix)"
                 " && size(variables.names[name]) > size(variables.prefix))"},
                {"R4: a buyer has 16 guest namespaces at most", "size(variables.names) <= 16"}}};
}

// Its Role names the Lease already (fabric/fence.h); this is about what else a renewal could carry.
GuardPolicy leases() {
  return {.name = "spillway-fence",
          .kinds = {{"coordination.k8s.io", {"leases"}}},
          .webhook_label = k_guard_label,
          .variables = {k_buyer},
          .rules = {
              k_own_space,
              {"R2: a buyer writes no Lease but spillway-buyer, and renews it",
               "request.operation == 'UPDATE' && object.metadata.name == 'spillway-buyer'"},
              {"R3: of its Lease a buyer changes nothing but who renewed it, when, and how often"
               " it had to begin anew",
               "object.metadata.?labels.orValue({}) == oldObject.metadata.?labels.orValue({}) &&"
               " object.metadata.?annotations.orValue({}) =="
               " oldObject.metadata.?annotations.orValue({}) &&"
               " object.metadata.?finalizers.orValue([]) =="
               " oldObject.metadata.?finalizers.orValue([]) &&"
               " object.metadata.?ownerReferences.orValue([]).size() == 0 &&"
               " object.spec.?holderIdentity.orValue('') == variables.buyer"},
          }};
}

// Its Role lets it make Tenants (fabric/account.h); this is which. Of the account nothing is
// believed but its name: whose namespace it is, and which request was heard and checked, the
// provider's agent has written on the namespace.
GuardPolicy accounts() {
  return {
      .name = "spillway-handshake",
      .guarded = Guarded::by_accounts,
      .kinds = {{"authentication.liqo.io", {"tenants", "tenants/status"}}},
      .variables = {k_tenant, k_labels},
      .rules = {
          {"R1: an account makes a Tenant, and changes none", "request.operation == 'CREATE'"},
          {"R2: an account writes in its own tenant namespace only",
           "request.userInfo.username =="
           " 'system:serviceaccount:' + namespaceObject.metadata.name + ':spillway-handshake' &&"
           " variables.buyer != '' &&"
           " namespaceObject.metadata.name == 'liqo-tenant-' + variables.buyer"},
          {"R1: no contract has recorded this certificate request of a control plane",
           "object.spec.?csr.orValue('') != '' &&"
           " namespaceObject.metadata.?annotations[?'spillway.dev/control-plane-request']"
           ".orValue('') == object.spec.csr"},
          {"R1: a Tenant is the buyer's own, by name and by cluster id",
           "object.metadata.name == variables.buyer &&"
           " object.spec.?clusterID.orValue('') == variables.buyer"},
          {"R1: a Tenant comes by Liqo's handshake, without a proxy, and is active",
           "object.spec.?authzPolicy.orValue('KeysExchange') == 'KeysExchange' &&"
           " object.spec.?tenantCondition.orValue('Active') == 'Active' &&"
           " object.spec.?proxyURL.orValue('') == ''"},
          {"R3: a Tenant has neither finalizers nor owners, and no label but whose it is",
           "object.metadata.?finalizers.orValue([]).size() == 0 &&"
           " object.metadata.?ownerReferences.orValue([]).size() == 0 &&"
           " size(variables.labels) == 1 &&"
           " variables.labels[?'liqo.io/remote-cluster-id'].orValue('') == variables.buyer"},
      }};
}

}  // namespace

std::vector<GuardPolicy> control_plane_policies() {
  return {never(), copies(), slices(), namespace_maps(), leases(), accounts()};
}

}  // namespace spillway::fabric::liqo
