// A client for whatever a URL names.
#pragma once

#include <memory>
#include <string>

#include "net/client.h"

namespace spillway::services {

inline Result<std::unique_ptr<net::Client>> connect_to(net::Poll& poll, const std::string& broker,
                                                       net::ClientOptions options) {
  const auto url = net::parse_url(broker);
  if (!url) return tl::unexpected(url.error());
  options.host = url->host;
  options.port = url->port;
  return net::Client::create(poll, std::move(options));
}

}  // namespace spillway::services
