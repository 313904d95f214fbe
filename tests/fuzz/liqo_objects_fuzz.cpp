// Hostile objects of Liqo: each reader takes them or says why not, and what it takes comes back the
// same from what would be written.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "fabric/liqo/cluster_objects.h"
#include "fabric/liqo/foreign_cluster.h"
#include "fabric/liqo/guests.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/namespaces.h"
#include "fabric/liqo/network_objects.h"
#include "fabric/liqo/slice.h"
#include "fabric/liqo/virtual_node.h"
#include "fabric/liqo/vk_options.h"
#include "fabric/mending.h"
#include "fabric/network.h"
#include "model/tree.h"
#include "reached.h"

namespace spillway::fabric::liqo {
namespace {

template <class T>
void check_refusal(const Result<T>& read) {
  if (!read) SPILLWAY_CHECK(is_printable(read.error().message()), "an error repeats the input");
}

template <class T>
Result<T> check(Result<T> (*read)(const model::Node&), const model::Node& object) {
  Result<T> first = read(object);
  check_refusal(first);
  if (!first) return first;
  const Result<T> again = read(to_object(*first));
  SPILLWAY_CHECK(again.has_value() && *again == *first, "what was written reads as another thing");
  return first;
}

// What has to be ended is seen, whatever it has: all of it, or with the reason why not.
template <class T>
void check_seen(T (*see)(const model::Node&, std::span<const std::string_view>),
                Result<T> (*read)(const model::Node&), const model::Node& object) {
  static constexpr std::string_view k_word = "liqo.io/replicated";
  const T seen = see(object, {&k_word, 1});
  const Result<T> whole = read(object);
  SPILLWAY_CHECK(seen.unreadable.empty() == whole.has_value(), "seen otherwise than read");
  if (whole) SPILLWAY_CHECK(seen == *whole, "what can be read is seen otherwise");
  SPILLWAY_CHECK(is_printable(seen.unreadable), "a reason repeats the input");
  const auto label = model::text_at(object, {"metadata", "labels", k_word});
  if (!whole && label == "true") SPILLWAY_CHECK(seen.meta.label(k_word) == label, "a word is lost");
}

// A patch must make of the object what was decided, whatever the object had.
void check_patches(const model::Node& object) {
  const Result<Slice> slice = read_slice(object);
  if (!slice) return;
  (void)check_replica(*slice, "buyer", "seller");
  Grant grant;
  grant.amounts = {{"cpu", 1500}, {"pods", 0}};
  grant.storage = {{"fast", true}};
  model::Node patched = object;
  model::merge(patched, grant_patch(*slice, grant, Instant{1'800'000'000'000}));
  const Result<Slice> granted = read_slice(patched);
  SPILLWAY_CHECK(granted.has_value() && granted->grant == grant, "a grant of something else");
  SPILLWAY_CHECK(granted->is_accepted(k_resources_condition), "a grant that is none");
}

// What is put right is right, whatever somebody has made of it.
template <class T>
void check_mended(void (*mend)(const T&, const T&, Plan&), Result<T> (*read)(const model::Node&),
                  T wanted, model::Node object) {
  const Result<T> seen = read(object);
  if (!seen) return;
  wanted.meta.name = seen->meta.name;
  wanted.meta.space = seen->meta.space;
  Plan plan;
  mend(wanted, *seen, plan);
  if (plan.deeds.empty()) return;
  for (const Trouble& one : plan.troubles) {
    SPILLWAY_CHECK(is_printable(one.reason), "a trouble repeats the input");
  }
  model::merge(object, std::get<Merge>(plan.deeds.front()).patch);
  const Result<T> again = read(object);
  SPILLWAY_CHECK(again.has_value(), "what was put right cannot be read");
  Plan next;
  mend(wanted, *again, next);
  SPILLWAY_CHECK(next.deeds.empty(), "what was put right is not right");
}

void check_mending(const model::Node& object) {
  check_mended(&mend_slice, &read_slice,
               new_slice({"unit", "rome", "milan", "request", {{"cpu", 2000}, {"pods", 7}}}, true),
               object);
  check_mended(&mend_virtual_node, &read_virtual_node,
               new_virtual_node({"unit",
                                 "milan",
                                 {},
                                 {{"disk", "ssd"}},
                                 {{"note", "ours"}},
                                 {{"spot", "true", model::TaintEffect::no_schedule}}}),
               object);
}

// Secrets that Liqo makes, of which little is read.
bool has_remnant(const model::Node& object, const Kind& kind) {
  const Result<Meta> read = read_remnant(object, kind);
  check_refusal(read);
  return read && !read->finalizers.empty() && model::text_at(object, {"kind"}) == kind.kind;
}

bool is_private_key(const model::Node& object) {
  const Result<std::string> read = private_key_in(object);
  check_refusal(read);
  return read && read->starts_with("-----BEGIN");
}

bool is_gateway_keys(const model::Node& object) {
  const Result<GatewayKeys> read = read_gateway_keys(object);
  check_refusal(read);
  return read && !read->public_key.empty() && read->meta.labels.contains(k_gateway_label);
}

bool is_seen_slice(const model::Node& object, bool is_copy) {
  check_seen(see_slice, read_slice, object);
  check_patches(object);
  const auto slice = check(read_slice, object);
  if (!slice || (slice->meta.label(k_replicated_label) == "true") != is_copy) return false;
  return slice->access && !slice->grant.amounts.empty() && !slice->request.empty();
}

// Also what an agent would say of it: with a network, or to whoever looks at a unit.
bool is_network_object(const model::Node& object) {
  const auto configuration = check(read_configuration, object);
  const auto server = check(read_gateway_server, object);
  const auto client = check(read_gateway_client, object);
  const auto key = check(read_public_key, object);
  const auto connection = check(read_connection, object);
  NetworkWish wish{.self = "rome", .peer = "milan", .is_wanted = true, .is_selling = true};
  wish.contract = ContractId("01m7jvqwfj4xxt60c2xbz461h3");
  wish.ranges = {{"10.1.0.0/16"}, {"10.70.0.0/16"}};
  wish.is_in_band = true;
  NetworkSight sight;
  sight.has_space = true;
  const auto take = [](auto& slot, const auto& read) {
    if (read) slot = *read;
  };
  take(sight.configuration, configuration);
  take(sight.server, server);
  take(sight.client, client);
  take(sight.peer_key, key);
  take(sight.connection, connection);
  for (const bool is_buying : {false, true}) {
    wish.is_buying = is_buying;
    (void)plan_network(wish, sight, Instant{1'800'000'000'000});
    (void)in_band_url(wish, sight);
  }
  return configuration || server || client || key || connection;
}

// What makes a look whole is what only an object of that kind says.
template <class T, class Says>
bool takes(Result<T> (*read)(const model::Node&), const model::Node& object, Says says) {
  const auto taken = check(read, object);
  return taken && says(*taken);
}

using model::Node;
constexpr fuzz::Look k_looks[] = {
    {"nonce",
     [](const Node& o) {
       return takes(read_nonce, o, [](const Nonce& n) { return !n.nonce.empty(); });
     }},
    {"signed nonce",
     [](const Node& o) {
       return takes(read_signed_nonce, o,
                    [](const SignedNonce& n) { return n.signature.size() == 64; });
     }},
    {"Secret with a cluster's key", is_private_key},
    {"Secret with a gateway's key", is_gateway_keys},
    {"Secret that Liqo ends", [](const Node& o) { return has_remnant(o, k_secrets); }},
    {"Renew", [](const Node& o) { return has_remnant(o, k_renews); }},
    {"NamespaceMap that Liqo ends", [](const Node& o) { return has_remnant(o, k_namespace_maps); }},
    {"Tenant",
     [](const Node& o) {
       check_mended(&mend_tenant, &read_tenant, new_tenant("rome", {"key", "request", "signed"}),
                    o);
       return takes(read_tenant, o, [](const Tenant& t) {
         return t.answer && !t.answer->certificate.empty() && !t.request.empty();
       });
     }},
    {"Identity",
     [](const Node& o) {
       return takes(read_identity, o, [](const Identity& i) {
         return !i.access.certificate.empty() && !i.kubeconfig_secret.empty();
       });
     }},
    {"buyer's ResourceSlice", [](const Node& o) { return is_seen_slice(o, false); }},
    {"provider's ResourceSlice", [](const Node& o) { return is_seen_slice(o, true); }},
    {"VirtualNode",
     [](const Node& o) {
       check_seen(see_virtual_node, read_virtual_node, o);
       check_mending(o);
       return takes(read_virtual_node, o, [](const VirtualNode& n) {
         return !n.taints.empty() && !n.amounts.empty() && !n.conditions.empty();
       });
     }},
    {"VirtualNode whose virtual kubelet runs",
     [](const Node& o) {
       const auto read = reflection_of_node(o);
       return read && *read != Reflection{};
     }},
    {"Quota",
     [](const Node& o) {
       return takes(read_quota, o, [](const Quota& q) { return !q.amounts.empty(); });
     }},
    {"NamespaceOffloading",
     [](const Node& o) {
       return takes(read_namespace_offloading, o, [](const NamespaceOffloading& n) {
         return !n.selector.empty() && !n.remote_space.empty();
       });
     }},
    {"NamespaceMap",
     [](const Node& o) {
       return takes(read_namespace_map, o,
                    [](const NamespaceMap& m) { return !m.wanted.empty() && !m.there.empty(); });
     }},
    {"ForeignCluster",
     [](const Node& o) {
       return takes(read_foreign_cluster, o, [](const ForeignCluster& c) {
         return c.role != PeerRole::unknown && !c.conditions.empty();
       });
     }},
    {"tenant's Namespace",
     [](const Node& o) {
       return takes(read_space, o,
                    [](const Space& s) { return s.is_tenants() && !s.peer().empty(); });
     }},
    {"Configuration",
     [](const Node& o) {
       return is_network_object(o) && takes(read_configuration, o, [](const Configuration& c) {
                return c.is_settled() && !c.peer_here.pods.empty();
              });
     }},
    {"GatewayServer",
     [](const Node& o) {
       return takes(read_gateway_server, o, [](const GatewayServer& s) {
         return s.endpoint && !s.endpoint->addresses.empty() && !s.keys.name.empty();
       });
     }},
    {"GatewayClient",
     [](const Node& o) {
       return takes(read_gateway_client, o, [](const GatewayClient& c) {
         return !c.endpoint.addresses.empty() && !c.keys.name.empty();
       });
     }},
    {"PublicKey",
     [](const Node& o) {
       return takes(read_public_key, o, [](const PublicKey& k) { return !k.key.empty(); });
     }},
    {"Connection",
     [](const Node& o) {
       return takes(read_connection, o, [](const Connection& c) { return c.is_up(); });
     }},
    {"Network",
     [](const Node& o) {
       return takes(read_network, o,
                    [](const Network& n) { return n.is_of_pods() && !n.range.empty(); });
     }},
    {"IP",
     [](const Node& o) {
       return takes(read_address, o, [](const Address& a) {
         return a.meta.name == k_proxy_address && !a.address.empty();
       });
     }},
};
bool g_reached[std::size(k_looks)];

}  // namespace
}  // namespace spillway::fabric::liqo

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway::fabric::liqo;
  spillway::fuzz::look_at({reinterpret_cast<const char*>(data), size}, k_looks, g_reached);
  return 0;
}

extern "C" const char* spillway_unreached() {
  using namespace spillway::fabric::liqo;
  return spillway::fuzz::unreached(k_looks, g_reached);
}
