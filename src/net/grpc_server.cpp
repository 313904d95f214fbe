#include "net/grpc_server.h"

#include <algorithm>
#include <vector>

#include "net/grpc_connection.h"
#include "net/listener.h"

namespace spillway::net {

class GrpcServer::Core final : public GrpcHost, public std::enable_shared_from_this<Core> {
 public:
  using GrpcHost::GrpcHost;
  ~Core() override = default;

  Status listen() {
    auto made = Listener::open(
        poll, options.address, options.port, [this](Arrival arrival) { take(std::move(arrival)); },
        [this] { counts.turned_away += 1; });
    if (!made) return tl::unexpected(std::move(made).error());
    listener_ = std::move(*made);
    return {};
  }

  Status set_tls(const TlsIdentity& identity, const std::string& authorities_pem) {
    if (options.trust == GrpcTrust::none) return {};
    auto made = options.trust == GrpcTrust::mutual ? server_context(identity, authorities_pem)
                                                   : anonymous_server_context(identity);
    if (!made) return tl::unexpected(std::move(made).error());
    speak_http2(made->get());
    tls_ = std::move(*made);
    return {};
  }

  void close_all() {
    listener_.reset();
    // Each takes itself out of the list.
    const auto all = connections_;
    for (const auto& connection : all) connection->close("the server ends");
  }

  void gone(GrpcConnection& connection) override {
    std::erase_if(connections_, [&](const auto& one) { return one.get() == &connection; });
    counts.connections = connections_.size();
  }

  uint16_t port() const { return listener_->port(); }

 private:
  // Who has never called makes room for who comes: else a few that only sit there lock all others
  // out. Nobody who means to call waits with it.
  void make_room() {
    const auto idle = std::find_if(connections_.begin(), connections_.end(),
                                   [](const auto& one) { return !one->has_called(); });
    if (idle == connections_.end()) return;
    const auto first = *idle;  // it takes itself out of the list
    first->close("it has not called, and others wait");
  }

  void take(Arrival arrival) {
    if (connections_.size() >= options.connections) make_room();
    if (connections_.size() >= options.connections) {
      counts.turned_away += 1;
      const Link closed_at_once(arrival.fd);
      return;
    }
    const auto made = std::make_shared<GrpcConnection>(*this, arrival.fd,
                                                       with_port(arrival.address, arrival.port));
    connections_.push_back(made);
    counts.accepted += 1;
    counts.connections = connections_.size();
    made->begin(tls_);
  }

  TlsContext tls_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::shared_ptr<GrpcConnection>> connections_;
};

GrpcServer::GrpcServer(std::shared_ptr<Core> core) : core_(std::move(core)) {}
GrpcServer::~GrpcServer() { core_->close_all(); }

Result<std::unique_ptr<GrpcServer>> GrpcServer::listen(Poll& poll, GrpcServerOptions options,
                                                       const TlsIdentity& identity,
                                                       const std::string& authorities_pem,
                                                       GrpcHandler& handler) {
  auto core = std::make_shared<Core>(poll, handler, std::move(options));
  SPILLWAY_TRY(core->set_tls(identity, authorities_pem));
  SPILLWAY_TRY(core->listen());
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(core)));
}

Status GrpcServer::set_tls(const TlsIdentity& identity, const std::string& authorities_pem) {
  return core_->set_tls(identity, authorities_pem);
}

uint16_t GrpcServer::port() const { return core_->port(); }
GrpcServerCounts GrpcServer::counts() const { return core_->counts; }

}  // namespace spillway::net
