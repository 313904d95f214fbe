#include "services/fabric/dial.h"

#include "net/client.h"
#include "services/fabric/pulses.h"

namespace spillway::agent {

Result<std::unique_ptr<net::Channel>> dial_provider(net::Poll& poll, const kube::Access& access) {
  const Duration longest = PulseOptions{}.answer;
  net::ClientOptions options;
  options.host = access.server.host;
  options.port = access.server.port;
  options.server_name = access.server_name;
  options.authorities_pem = access.authorities_pem;
  options.identity = access.identity;
  options.connect = longest;
  options.answer = longest;
  options.connections = 1;
  options.max_body = size_t{64} << 10;
  auto client = net::Client::create(poll, std::move(options));
  if (!client) return tl::unexpected(std::move(client).error());
  return std::unique_ptr<net::Channel>(std::move(*client));
}

}  // namespace spillway::agent
