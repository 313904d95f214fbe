// Liqo's words, in one place: kinds, labels, annotations, and the names that its objects have
// (Liqo 1.2.0; 1.0 and 1.1 have the same). Nothing outside of fabric/liqo/ spells them.
#pragma once

#include <string>
#include <string_view>

namespace spillway::fabric::liqo {

struct Kind {
  std::string_view group;  // empty: the core group
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool is_namespaced = true;
};

inline constexpr std::string_view k_authentication = "authentication.liqo.io";
inline constexpr std::string_view k_offloading = "offloading.liqo.io";
inline constexpr std::string_view k_networking = "networking.liqo.io";
inline constexpr std::string_view k_ipam = "ipam.liqo.io";

inline constexpr Kind k_secrets{"", "v1", "secrets", "Secret"};
inline constexpr Kind k_config_maps{"", "v1", "configmaps", "ConfigMap"};
inline constexpr Kind k_services{"", "v1", "services", "Service"};
inline constexpr Kind k_endpoint_slices{"discovery.k8s.io", "v1", "endpointslices",
                                        "EndpointSlice"};
inline constexpr Kind k_ingresses{"networking.k8s.io", "v1", "ingresses", "Ingress"};
inline constexpr Kind k_pods{"", "v1", "pods", "Pod"};
inline constexpr Kind k_resource_quotas{"", "v1", "resourcequotas", "ResourceQuota"};
inline constexpr Kind k_limit_ranges{"", "v1", "limitranges", "LimitRange"};
inline constexpr Kind k_network_policies{"networking.k8s.io", "v1", "networkpolicies",
                                         "NetworkPolicy"};
inline constexpr Kind k_leases{"coordination.k8s.io", "v1", "leases", "Lease"};
inline constexpr Kind k_service_accounts{"", "v1", "serviceaccounts", "ServiceAccount"};
inline constexpr Kind k_roles{"rbac.authorization.k8s.io", "v1", "roles", "Role"};
inline constexpr Kind k_role_bindings{"rbac.authorization.k8s.io", "v1", "rolebindings",
                                      "RoleBinding"};
inline constexpr Kind k_namespaces{"", "v1", "namespaces", "Namespace", false};
inline constexpr Kind k_nodes{"", "v1", "nodes", "Node", false};
inline constexpr Kind k_tenants{k_authentication, "v1beta1", "tenants", "Tenant"};
inline constexpr Kind k_identities{k_authentication, "v1beta1", "identities", "Identity"};
// Liqo makes one of each control plane's identity: by it a provider could send new certificates.
inline constexpr Kind k_renews{k_authentication, "v1beta1", "renews", "Renew"};
// Kubernetes has a kind of the same name and plural: the group tells them apart.
inline constexpr Kind k_slices{k_authentication, "v1beta1", "resourceslices", "ResourceSlice"};
inline constexpr Kind k_virtual_nodes{k_offloading, "v1beta1", "virtualnodes", "VirtualNode"};
inline constexpr Kind k_quotas{k_offloading, "v1beta1", "quotas", "Quota"};
inline constexpr Kind k_namespace_offloadings{k_offloading, "v1beta1", "namespaceoffloadings",
                                              "NamespaceOffloading"};
inline constexpr Kind k_namespace_maps{k_offloading, "v1beta1", "namespacemaps", "NamespaceMap"};
inline constexpr Kind k_vk_templates{k_offloading, "v1beta1", "vkoptionstemplates",
                                     "VkOptionsTemplate"};
inline constexpr Kind k_shadow_pods{k_offloading, "v1beta1", "shadowpods", "ShadowPod"};
inline constexpr Kind k_shadow_slices{k_offloading, "v1beta1", "shadowendpointslices",
                                      "ShadowEndpointSlice"};
inline constexpr Kind k_foreign_clusters{"core.liqo.io", "v1beta1", "foreignclusters",
                                         "ForeignCluster", false};

// Of the network between two clusters (fabric/liqo/network_objects.h).
inline constexpr Kind k_configurations{k_networking, "v1beta1", "configurations", "Configuration"};
inline constexpr Kind k_gateway_servers{k_networking, "v1beta1", "gatewayservers", "GatewayServer"};
inline constexpr Kind k_gateway_clients{k_networking, "v1beta1", "gatewayclients", "GatewayClient"};
// The plural is Liqo's.
inline constexpr Kind k_public_keys{k_networking, "v1beta1", "publickeies", "PublicKey"};
inline constexpr Kind k_connections{k_networking, "v1beta1", "connections", "Connection"};
inline constexpr Kind k_networks{k_ipam, "v1alpha1", "networks", "Network"};
inline constexpr Kind k_addresses{k_ipam, "v1alpha1", "ips", "IP"};

std::string api_version(const Kind& kind);  // "v1", "core.liqo.io/v1beta1"

// Labels. The peer is the other cluster of the two, on either side.
inline constexpr std::string_view k_peer_label = "liqo.io/remote-cluster-id";
inline constexpr std::string_view k_tenant_namespace_label = "liqo.io/tenant-namespace";
inline constexpr std::string_view k_nonce_label = "liqo.io/nonce";
inline constexpr std::string_view k_signed_nonce_label = "liqo.io/signed-nonce";
inline constexpr std::string_view k_identity_type_label = "liqo.io/identity-type";
inline constexpr std::string_view k_slice_label = "liqo.io/resourceslice-name";
inline constexpr std::string_view k_creator_label = "liqo.io/creator-user";
inline constexpr std::string_view k_node_name_label = "offloading.liqo.io/nodename";
inline constexpr std::string_view k_guest_origin_label = "offloading.liqo.io/origin";
inline constexpr std::string_view k_node_type_label = "liqo.io/type";
inline constexpr std::string_view k_virtual_node_type = "virtual-node";
// What is to be copied to the peer says so; a copy says that it is one, and whose.
inline constexpr std::string_view k_replication_label = "liqo.io/replication";
inline constexpr std::string_view k_destination_label = "liqo.io/remoteID";
inline constexpr std::string_view k_replicated_label = "liqo.io/replicated";
inline constexpr std::string_view k_origin_label = "liqo.io/originID";
// Of gateways, their Secret and their PublicKey; of a cluster's own Networks: what they are for.
inline constexpr std::string_view k_gateway_label = "networking.liqo.io/gateway-resource";
inline constexpr std::string_view k_network_type_label = "ipam.liqo.io/network-type";

// Annotations.
inline constexpr std::string_view k_remote_namespace_annotation = "liqo.io/remote-tenant-namespace";
inline constexpr std::string_view k_create_virtual_node_annotation = "liqo.io/create-virtual-node";
inline constexpr std::string_view k_cordon_annotation = "liqo.io/cordon";
inline constexpr std::string_view k_unreachable_annotation =
    "liqo.io/foreign-cluster-permanently-unreachable";
// On objects of an offloaded namespace: whether they are copied to providers, by the list that the
// virtual kubelets there go by. "false" is as if it were not there.
inline constexpr std::string_view k_allow_annotation = "liqo.io/allow-reflection";
inline constexpr std::string_view k_skip_annotation = "liqo.io/skip-reflection";

// Of what is to be copied: it stays until the copy is gone.
inline constexpr std::string_view k_copy_finalizer = "crdreplicator.liqo.io/resource";
// Of the kubeconfig by which that is done: it stays until nothing is left to be copied.
inline constexpr std::string_view k_copier_finalizer = "crdreplicator.liqo.io/operator";

// The taint of every virtual node. We write it ourselves on a Node that a virtual kubelet adopts.
inline constexpr std::string_view k_taint = "virtual-node.liqo.io/not-allowed";

inline constexpr std::string_view k_namespace = "liqo";  // where Liqo itself lives
inline constexpr std::string_view k_keys_secret = "authentication-keys";
inline constexpr std::string_view k_nonce_secret = "liqo-nonce";
inline constexpr std::string_view k_signed_nonce_secret = "liqo-signed-nonce";
inline constexpr std::string_view k_certificate_secret = "liqo-remote-certificate";  // a tenant's
inline constexpr std::string_view k_offloading_name = "offloading";  // no other is allowed
inline constexpr std::string_view k_default_template = "virtual-kubelet-default";
inline constexpr std::string_view k_class = "spillway";  // of slices that we decide on
inline constexpr std::string_view k_control_plane_group = "liqo.io";
// In Liqo's namespace: how gateways are run, and where the proxy of the API server is.
inline constexpr std::string_view k_server_template = "wireguard-server";
inline constexpr std::string_view k_client_template = "wireguard-client";
inline constexpr std::string_view k_proxy_address = "api-server-proxy";
inline constexpr int64_t k_proxy_port = 8118;

std::string tenant_namespace_name(std::string_view peer);            // liqo-tenant-<peer>
std::string peer_of_tenant_namespace(std::string_view space);        // empty: it is no tenant's
std::string control_plane_identity_name(std::string_view provider);  // controlplane-<provider>
std::string kubeconfig_secret_name(std::string_view identity);       // kubeconfig-<identity>
std::string slice_identity_name(std::string_view slice);             // resourceslice-<slice>
std::string certificate_secret_name(std::string_view slice);  // liqo-remote-certificate-<slice>

// The user that a slice's certificate is for, and the name of its Quota: <slice>-<12 digits of the
// SHA-256 of the buyer's id>. The hash comes in as its 64 hexadecimal digits: pki/ makes it.
std::string unit_user(std::string_view slice, std::string_view buyer_sha256);

}  // namespace spillway::fabric::liqo
