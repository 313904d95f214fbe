#include "fabric/liqo/network_objects.h"

#include <algorithm>

#include "fabric/liqo/part_fields.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

constexpr int64_t k_mtu = 1340;  // Liqo's own
constexpr std::string_view k_settled_condition = "NetworkCIDRsConfigured";

Meta meta_of(std::string_view peer) {
  Meta made;
  made.name = peer;
  made.space = tenant_namespace_name(peer);
  made.labels = {{std::string(k_peer_label), std::string(peer)}};
  return made;
}

Reference template_of(std::string_view kind, std::string_view name) {
  return {std::string(kind), api_version(k_gateway_servers), std::string(k_namespace),
          std::string(name)};
}

bool is_all_there(const std::vector<std::string>& wanted, const std::vector<std::string>& found) {
  return wanted.size() == found.size() &&
         std::none_of(found.begin(), found.end(), [](const auto& one) { return one.empty(); });
}

}  // namespace

template <class Fields>
void fields(Fields& f, Ranges& r) {
  f.list("pod", r.pods);
  f.list("external", r.external);
}

template <class Fields>
void fields(Fields& f, Endpoint& e) {
  f.list("addresses", e.addresses);
  f.number("port", e.port);
  f.text("protocol", e.protocol);
}

template <class Fields>
void fields(Fields& f, Reference& r) {
  f.text("kind", r.kind);
  f.text("apiVersion", r.api_version);
  f.name("namespace", r.space);
  f.name("name", r.name);
}

template <class Fields>
void fields(Fields& f, Configuration& c) {
  f.part("metadata", c.meta);
  f.part("spec.remote.cidr", c.peer);
  f.part("status.remote.cidr", c.peer_here);
  f.parts("status.conditions", c.states);
}

template <class Fields>
void fields(Fields& f, GatewayServer& s) {
  f.part("metadata", s.meta);
  f.part("spec.serverTemplateRef", s.run_by);
  f.number("spec.mtu", s.mtu);
  f.number("spec.endpoint.port", s.port);
  f.text("spec.endpoint.serviceType", s.service_type);
  f.part("status.endpoint", s.endpoint);
  f.part("status.secretRef", s.keys);
}

template <class Fields>
void fields(Fields& f, GatewayClient& c) {
  f.part("metadata", c.meta);
  f.part("spec.clientTemplateRef", c.run_by);
  f.number("spec.mtu", c.mtu);
  f.part("spec.endpoint", c.endpoint);
  f.part("status.secretRef", c.keys);
}

template <class Fields>
void fields(Fields& f, PublicKey& k) {
  f.part("metadata", k.meta);
  f.bytes("spec.publicKey", k.key);
}

template <class Fields>
void fields(Fields& f, GatewayKeys& k) {
  f.part("metadata", k.meta);
  f.bytes("data.publicKey", k.public_key);
}

template <class Fields>
void fields(Fields& f, Connection& c) {
  f.part("metadata", c.meta);
  f.text("spec.type", c.type);
  f.text("status.value", c.value);
}

template <class Fields>
void fields(Fields& f, Network& n) {
  f.part("metadata", n.meta);
  f.text("status.cidr", n.range);
}

template <class Fields>
void fields(Fields& f, Address& a) {
  f.part("metadata", a.meta);
  f.text("status.ip", a.address);
}

// The lists stand beside those of the spec, one by one, and are filled bit by bit. Since 1.2 a
// condition says that they are complete; there it must.
bool Configuration::is_settled() const {
  const std::string_view said = status_of(states, k_settled_condition);
  return !peer.pods.empty() && is_all_there(peer.pods, peer_here.pods) &&
         is_all_there(peer.external, peer_here.external) && (said.empty() || said == "True");
}

Configuration new_configuration(std::string_view peer, Ranges ranges) {
  Configuration made;
  made.meta = meta_of(peer);
  made.peer = std::move(ranges);
  return made;
}

model::Node configuration_patch(Ranges ranges) {
  model::Node patch = model::object_node();
  Writer(model::ensure(patch, {"spec", "remote"})).part("cidr", ranges);
  return patch;
}

Result<Configuration> read_configuration(const model::Node& object) {
  return read_object<Configuration>(object);
}
model::Node to_object(const Configuration& configuration) { return write_object(configuration); }

GatewayServer new_gateway_server(std::string_view peer, const Serving& serving) {
  GatewayServer made;
  made.meta = meta_of(peer);
  made.run_by = template_of("WgGatewayServerTemplate", k_server_template);
  made.mtu = k_mtu;
  made.port = serving.port;
  made.service_type = serving.service_type;
  return made;
}

Result<GatewayServer> read_gateway_server(const model::Node& object) {
  return read_object<GatewayServer>(object);
}
model::Node to_object(const GatewayServer& server) { return write_object(server); }

GatewayClient new_gateway_client(std::string_view peer, const Endpoint& endpoint) {
  GatewayClient made;
  made.meta = meta_of(peer);
  made.run_by = template_of("WgGatewayClientTemplate", k_client_template);
  made.mtu = k_mtu;
  made.endpoint = endpoint;
  return made;
}

model::Node endpoint_patch(Endpoint endpoint) {
  model::Node patch = model::object_node();
  Writer(model::ensure(patch, {"spec"})).part("endpoint", endpoint);
  return patch;
}

Result<GatewayClient> read_gateway_client(const model::Node& object) {
  return read_object<GatewayClient>(object);
}
model::Node to_object(const GatewayClient& client) { return write_object(client); }

PublicKey new_public_key(std::string_view peer, std::string_view key, Owner gateway) {
  PublicKey made;
  made.meta = meta_of(peer);
  made.meta.labels.emplace(k_gateway_label, "true");
  made.meta.owners = {std::move(gateway)};
  made.key = key;
  return made;
}

Result<PublicKey> read_public_key(const model::Node& object) {
  return read_object<PublicKey>(object);
}
model::Node to_object(const PublicKey& key) { return write_object(key); }

Result<GatewayKeys> read_gateway_keys(const model::Node& object) {
  return read_object<GatewayKeys>(object);
}

Result<Connection> read_connection(const model::Node& object) {
  return read_object<Connection>(object);
}
model::Node to_object(const Connection& connection) { return write_object(connection); }

Result<Network> read_network(const model::Node& object) { return read_object<Network>(object); }
model::Node to_object(const Network& network) { return write_object(network); }

Result<Address> read_address(const model::Node& object) { return read_object<Address>(object); }
model::Node to_object(const Address& address) { return write_object(address); }

}  // namespace spillway::fabric::liqo
