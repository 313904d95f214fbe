#include "net/server.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <unistd.h>

#include "net/clock.h"
#include "net/connection.h"
#include "net/listener.h"

namespace spillway::net {
namespace {

// Often enough for the shortest deadline, and rarely enough for ten thousand connections.
Duration sweep_interval(const ServerLimits& limits) {
  const Duration shortest = std::min({limits.handshake, limits.head, limits.body, limits.idle,
                                      limits.stranger_idle, limits.write});
  return milliseconds(std::clamp<int64_t>(shortest.ms / 8, 10, 1000));
}

}  // namespace

class Server::Core final : public ConnectionHost, public std::enable_shared_from_this<Core> {
 public:
  using ConnectionHost::ConnectionHost;

  Status open(const ServerOptions& options);
  void shut();  // cuts everything
  void drain(Duration at_most, std::function<void()> done);
  size_t cut(const std::function<bool(const Peer&)>& which);
  uint16_t port() const { return port_; }
  size_t connections() const { return connections_.size(); }

  void gone(Connection& connection) override;
  void flush_soon(std::shared_ptr<Connection> connection) override;

  TlsContext tls;  // null: plain

 private:
  void arrive(Arrival arrival);
  bool has_room(const std::string& address) const;
  bool make_room(const std::string& address);
  void sweep();
  void close_all();
  void finish_draining();

  std::unique_ptr<Listener> listener_;
  uint16_t port_ = 0;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::unordered_map<std::string, size_t> by_address_;
  std::vector<std::shared_ptr<Connection>> to_flush_;
  std::function<void()> on_drained_;
  bool is_shut_ = false;
};

Status Server::Core::open(const ServerOptions& options) {
  auto listener = Listener::open(
      poll, options.address, options.port, [this](Arrival arrival) { arrive(std::move(arrival)); },
      [this] { ++counts.turned_away; });
  if (!listener) return tl::unexpected(std::move(listener).error());
  listener_ = std::move(*listener);
  port_ = listener_->port();
  sweep();
  return {};
}

bool Server::Core::has_room(const std::string& address) const {
  const auto known = by_address_.find(address);
  const size_t of_address = known == by_address_.end() ? 0 : known->second;
  return connections_.size() < limits.connections && of_address < limits.connections_per_address;
}

// Nobody who shows nothing may keep members out by sitting there.
bool Server::Core::make_room(const std::string& address) {
  const bool is_full = connections_.size() >= limits.connections;
  std::shared_ptr<Connection> slowest;
  for (const auto& each : connections_) {
    const int64_t until = each->dawdles_until_ms();
    if (until == 0 || (!is_full && each->address() != address)) continue;
    if (slowest == nullptr || until < slowest->dawdles_until_ms()) slowest = each;
  }
  if (slowest == nullptr) return false;
  ++counts.made_room;
  slowest->close();
  return has_room(address);
}

void Server::Core::arrive(Arrival arrival) {
  if (!has_room(arrival.address) && !make_room(arrival.address)) {
    ++counts.turned_away;
    ::close(arrival.fd);
    return;
  }
  ++counts.accepted;
  ++by_address_[arrival.address];
  auto connection =
      std::make_shared<Connection>(*this, arrival.fd, std::move(arrival.address), arrival.port);
  connection->place = connections_.size();
  connections_.push_back(connection);
  connection->start(tls);
}

void Server::Core::gone(Connection& connection) {
  const auto found = by_address_.find(connection.address());
  if (--found->second == 0) by_address_.erase(found);
  const size_t place = connection.place;
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
  if (is_draining && connections_.empty()) finish_draining();
}

void Server::Core::flush_soon(std::shared_ptr<Connection> connection) {
  if (to_flush_.empty()) {
    poll.post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      const auto ready = std::exchange(self->to_flush_, {});
      for (const auto& each : ready) each->flush();
    });
  }
  to_flush_.push_back(std::move(connection));
}

void Server::Core::sweep() {
  if (is_shut_) return;
  const auto now = steady_ms();
  // Closing one changes the list.
  const auto present = connections_;
  for (const auto& connection : present) connection->check_deadline(now);
  poll.after(sweep_interval(limits), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->sweep();
  });
}

void Server::Core::close_all() {
  const auto present = connections_;
  for (const auto& connection : present) connection->close();
}

void Server::Core::shut() {
  is_shut_ = true;
  on_drained_ = nullptr;
  listener_.reset();
  close_all();
  to_flush_.clear();
}

size_t Server::Core::cut(const std::function<bool(const Peer&)>& which) {
  size_t count = 0;
  const auto present = connections_;
  for (const auto& connection : present) {
    if (!connection->is_known() || !which(connection->peer())) continue;
    connection->close();
    ++count;
  }
  counts.cut += count;
  return count;
}

void Server::Core::drain(Duration at_most, std::function<void()> done) {
  listener_.reset();
  is_draining = true;
  on_drained_ = std::move(done);
  const auto present = connections_;
  for (const auto& connection : present) connection->drain();
  if (connections_.empty()) return finish_draining();
  poll.after(at_most, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->close_all();
  });
}

// From the loop, so that it is never called inside a call of the server's own.
void Server::Core::finish_draining() {
  if (on_drained_ != nullptr) poll.post(std::exchange(on_drained_, nullptr));
}

Result<std::unique_ptr<Server>> Server::open(Poll& poll, const ServerOptions& options,
                                             Result<TlsContext> tls, Handler& handler) {
  if (!tls) return tl::unexpected(std::move(tls).error());
  auto core = std::make_shared<Core>(poll, handler, options.limits);
  core->tls = std::move(*tls);
  SPILLWAY_TRY(core->open(options));
  return std::unique_ptr<Server>(new Server(std::move(core)));
}

Result<std::unique_ptr<Server>> Server::listen(Poll& poll, ServerOptions options,
                                               const TlsIdentity& identity,
                                               const std::string& authorities_pem,
                                               Handler& handler) {
  return open(poll, options, server_context(identity, authorities_pem), handler);
}

Result<std::unique_ptr<Server>> Server::listen_anonymous(Poll& poll, ServerOptions options,
                                                         const TlsIdentity& identity,
                                                         Handler& handler) {
  return open(poll, options, anonymous_server_context(identity), handler);
}

Result<std::unique_ptr<Server>> Server::listen_plain(Poll& poll, ServerOptions options,
                                                     Handler& handler) {
  auto core = std::make_shared<Core>(poll, handler, options.limits);
  SPILLWAY_TRY(core->open(options));
  return std::unique_ptr<Server>(new Server(std::move(core)));
}

Server::Server(std::shared_ptr<Core> core) : core_(std::move(core)) {}
Server::~Server() { core_->shut(); }

Status Server::use(Result<TlsContext> tls) {
  if (core_->tls == nullptr) {
    return fail(Code::conflict, "TLS identity", "this server was opened without TLS");
  }
  if (!tls) return tl::unexpected(std::move(tls).error());
  core_->tls = std::move(*tls);
  return {};
}

Status Server::set_tls(const TlsIdentity& identity, const std::string& authorities_pem) {
  return use(server_context(identity, authorities_pem));
}

Status Server::set_anonymous_tls(const TlsIdentity& identity) {
  return use(anonymous_server_context(identity));
}

uint16_t Server::port() const { return core_->port(); }
void Server::drain(Duration at_most, std::function<void()> done) {
  core_->drain(at_most, std::move(done));
}
size_t Server::cut(const std::function<bool(const Peer&)>& which) { return core_->cut(which); }

ServerCounts Server::counts() const {
  ServerCounts counts = core_->counts;
  counts.connections = core_->connections();
  return counts;
}

}  // namespace spillway::net
