// The objects of a network between two clusters, each in the other's tenant namespace and by its
// name, in the order in which they come (as `liqoctl network connect` makes them):
//
//   both: Configuration, the other's ranges; Liqo answers with what they are called here
//   one: GatewayServer, to which Liqo adds where it is reached and its keys
//   the other: GatewayClient, of that place; and its keys
//   both: PublicKey, the other gateway's; the gateways then make a Connection
//
// Networks and IPs are a cluster's own, in Liqo's namespace: which ranges it has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

// Of a cluster: where its pods are, and what else it lends addresses of.
struct Ranges {
  std::vector<std::string> pods;
  std::vector<std::string> external;
  bool operator==(const Ranges&) const = default;
};

struct Configuration {
  static constexpr const Kind& k_kind = k_configurations;
  Meta meta;
  Ranges peer;        // by its own word
  Ranges peer_here;   // status: under which ranges it is reached from here
  Conditions states;  // status; Liqo before 1.2 has none
  bool operator==(const Configuration&) const = default;

  bool is_settled() const;  // Liqo has found room for all of it
};
Configuration new_configuration(std::string_view peer, Ranges ranges);
model::Node configuration_patch(Ranges ranges);
Result<Configuration> read_configuration(const model::Node& object);
model::Node to_object(const Configuration& configuration);

// Where a gateway is reached.
struct Endpoint {
  std::vector<std::string> addresses;
  int64_t port = 0;
  std::string protocol;  // "UDP"
  bool operator==(const Endpoint&) const = default;
};

struct Reference {
  std::string kind;
  std::string api_version;
  std::string space;
  std::string name;
  bool operator==(const Reference&) const = default;
};

struct GatewayServer {
  static constexpr const Kind& k_kind = k_gateway_servers;
  Meta meta;
  Reference run_by;  // template
  int64_t mtu = 0;
  int64_t port = 0;
  std::string service_type;          // "LoadBalancer", "NodePort", "ClusterIP"
  std::optional<Endpoint> endpoint;  // status
  Reference keys;                    // status: a Secret
  bool operator==(const GatewayServer&) const = default;
};
struct Serving {
  std::string service_type = "LoadBalancer";
  int64_t port = 51840;
  bool operator==(const Serving&) const = default;
};
GatewayServer new_gateway_server(std::string_view peer, const Serving& serving);
Result<GatewayServer> read_gateway_server(const model::Node& object);
model::Node to_object(const GatewayServer& server);

struct GatewayClient {
  static constexpr const Kind& k_kind = k_gateway_clients;
  Meta meta;
  Reference run_by;
  int64_t mtu = 0;
  Endpoint endpoint;  // of the server
  Reference keys;     // status: a Secret
  bool operator==(const GatewayClient&) const = default;
};
GatewayClient new_gateway_client(std::string_view peer, const Endpoint& endpoint);
model::Node endpoint_patch(Endpoint endpoint);
Result<GatewayClient> read_gateway_client(const model::Node& object);
model::Node to_object(const GatewayClient& client);

// Of the other side's gateway.
struct PublicKey {
  static constexpr const Kind& k_kind = k_public_keys;
  Meta meta;
  std::string key;  // bytes
  bool operator==(const PublicKey&) const = default;
};
// It goes with the gateway that uses it.
PublicKey new_public_key(std::string_view peer, std::string_view key, Owner gateway);
Result<PublicKey> read_public_key(const model::Node& object);
model::Node to_object(const PublicKey& key);

// The public one of the Secret that a gateway's status names; of the private one nothing is kept.
struct GatewayKeys {
  static constexpr const Kind& k_kind = k_secrets;
  Meta meta;
  std::string public_key;  // bytes
  bool operator==(const GatewayKeys&) const = default;
};
Result<GatewayKeys> read_gateway_keys(const model::Node& object);

struct Connection {
  static constexpr const Kind& k_kind = k_connections;
  Meta meta;
  std::string type;   // "Server", "Client"
  std::string value;  // status: "Connected", "Connecting", "Error"
  bool operator==(const Connection&) const = default;

  bool is_up() const { return value == "Connected"; }
};
Result<Connection> read_connection(const model::Node& object);
model::Node to_object(const Connection& connection);

// One range of this cluster's own; empty until Liqo has settled it.
struct Network {
  static constexpr const Kind& k_kind = k_networks;
  Meta meta;
  std::string range;  // status
  bool operator==(const Network&) const = default;

  bool is_of_pods() const { return meta.label(k_network_type_label) == "pod-cidr"; }
  bool is_external() const { return meta.label(k_network_type_label) == "external-cidr"; }
};
Result<Network> read_network(const model::Node& object);
model::Node to_object(const Network& network);

// An address that others reach something by: that of the API server's proxy is in the external
// range.
struct Address {
  static constexpr const Kind& k_kind = k_addresses;
  Meta meta;
  std::string address;  // status
  bool operator==(const Address&) const = default;
};
Result<Address> read_address(const model::Node& object);
model::Node to_object(const Address& address);

}  // namespace spillway::fabric::liqo
