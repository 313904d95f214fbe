#include "services/autoscaler/grpc_port.h"

#include <utility>

#include "kube/small_file.h"
#include "services/host_port.h"

namespace spillway::services {

Result<GrpcPort::Papers> GrpcPort::read() const {
  Papers papers;
  const auto take = [](const std::string& path, std::string& into) -> Status {
    auto text = kube::read_small_file(path);
    if (!text) return tl::unexpected(std::move(text).error());
    into = std::move(*text);
    return {};
  };
  SPILLWAY_TRY(take(options_.certificate, papers.identity.certificate_chain_pem));
  SPILLWAY_TRY(take(options_.key, papers.identity.key_pem));
  if (options_.trust == net::GrpcTrust::mutual) {
    SPILLWAY_TRY(take(options_.client_authorities, papers.authorities_pem));
  }
  return papers;
}

Status GrpcPort::listen(net::GrpcHandler& handler) {
  const auto local = parse_host_port(options_.listen, "listen");
  if (!local) return tl::unexpected(local.error());
  net::GrpcServerOptions options;
  options.address = local->host;
  options.port = local->port;
  options.trust = options_.trust;
  options.message_bytes = options_.message_bytes;
  const bool has_tls = options_.trust != net::GrpcTrust::none;
  if (has_tls) {
    auto papers = read();
    if (!papers) return tl::unexpected(std::move(papers).error());
    papers_ = std::move(*papers);
  }
  auto server =
      net::GrpcServer::listen(poll_, options, papers_.identity, papers_.authorities_pem, handler);
  if (!server) return tl::unexpected(std::move(server).error());
  server_ = std::move(*server);
  if (has_tls) look_later();
  return {};
}

void GrpcPort::look_later() {
  poll_.after(k_look, life_.guard([this] {
    look_now();
    look_later();
  }));
}

// Files that are being replaced do not go together for a moment: the next look finds the new ones.
void GrpcPort::look_now() {
  if (options_.trust == net::GrpcTrust::none) return;
  auto next = read();
  const bool is_same =
      next && next->identity.certificate_chain_pem == papers_.identity.certificate_chain_pem &&
      next->identity.key_pem == papers_.identity.key_pem &&
      next->authorities_pem == papers_.authorities_pem;
  if (is_same) return;
  Status taken = next ? server_->set_tls(next->identity, next->authorities_pem)
                      : Status(tl::unexpected(next.error()));
  if (!taken) {
    return log_.write(Level::error, "certificate not taken; the last good one holds",
                      {{"why", taken.error().message()}});
  }
  papers_ = std::move(*next);
  log_.write(Level::info, "certificate taken into use", {{"file", options_.certificate}});
}

}  // namespace spillway::services
