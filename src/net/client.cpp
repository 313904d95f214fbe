#include "net/client.h"

#include <algorithm>
#include <deque>

#include "net/ascii.h"
#include "net/client_connection.h"
#include "net/client_error.h"
#include "net/clock.h"
#include "net/listener.h"

namespace spillway::net {
namespace {

constexpr size_t k_sessions = 4;

bool is_idempotent(const Request& request) {
  const std::string& method = request.method;
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" ||
         find_header(request.headers, "Idempotency-Key") != nullptr;
}

bool is_sendable(const Request& request) {
  const auto is_visible = [](char c) { return c > ' ' && c < 127; };
  return request.target.starts_with('/') && !request.method.empty() &&
         std::all_of(request.target.begin(), request.target.end(), is_visible) &&
         std::all_of(request.method.begin(), request.method.end(), is_visible);
}

void tell(Errand& errand, const Error& why) {
  if (errand.calls) {
    if (errand.calls->on_end) errand.calls->on_end(why);
  } else {
    errand.then(tl::unexpected(why));
  }
}

// Closes the stream's connection when it is dropped.
class LiveReading final : public Reading {
 public:
  explicit LiveReading(std::weak_ptr<ClientConnection> connection)
      : connection_(std::move(connection)) {}
  ~LiveReading() override {
    if (const auto connection = connection_.lock()) connection->abandon();
  }
  LiveReading(const LiveReading&) = delete;
  LiveReading& operator=(const LiveReading&) = delete;

 private:
  std::weak_ptr<ClientConnection> connection_;
};

// Of a request that cannot be sent: says so from the loop, unless it is dropped before.
class RefusedReading final : public Reading {
 public:
  RefusedReading(Poll& poll, std::function<void(const Error&)> on_end, Error why) {
    poll.post(
        [alive = std::weak_ptr<bool>(alive_), on_end = std::move(on_end), why = std::move(why)] {
          if (!alive.expired() && on_end) on_end(why);
        });
  }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

Error unsendable(const std::string& server) {
  return {Code::invalid, "request to " + server, "its method or target is malformed",
          "escape what goes into the path"};
}

}  // namespace

class Client::Core final : public ClientHost, public std::enable_shared_from_this<Core> {
 public:
  using ClientHost::ClientHost;

  Status renew_context();
  void send(Errand errand);
  std::unique_ptr<Reading> open(Errand errand);
  void shut();
  size_t connections() const { return connections_.size(); }

  void ready(ClientConnection& connection) override;
  void gone(ClientConnection& connection, std::optional<Errand> errand, bool may_retry,
            const Error& why) override;

 private:
  std::shared_ptr<ClientConnection> connect(bool is_stream);
  void give_out();
  void take_unserved(std::deque<Errand>& failed);
  void serve();
  void keep_ticking();
  void tick();

  std::vector<std::shared_ptr<ClientConnection>> connections_;
  std::deque<Errand> queue_;
  std::vector<std::pair<ClientConnection*, Errand>> streams_;  // that wait for their connection
  bool is_ticking_ = false;
  bool is_shut_ = false;
};

Status Client::Core::renew_context() {
  if (options.is_plain) return {};
  auto made = client_context({options.authorities_pem, options.pinned_authority,
                              options.identity ? &*options.identity : nullptr,
                              [weak = weak_from_this()](TlsSession session) {
                                const auto self = weak.lock();
                                if (self == nullptr) return;
                                auto& kept = self->sessions;
                                if (kept.size() >= k_sessions) kept.erase(kept.begin());
                                kept.push_back(std::move(session));
                              }});
  if (!made) return tl::unexpected(std::move(made).error());
  tls = std::move(*made);
  sessions.clear();
  const auto present = connections_;
  for (const auto& connection : present) connection->let_go();
  return {};
}

std::shared_ptr<ClientConnection> Client::Core::connect(bool is_stream) {
  auto connection = std::make_shared<ClientConnection>(*this, is_stream);
  connections_.push_back(connection);
  keep_ticking();
  connection->start();
  return connection;
}

void Client::Core::send(Errand errand) {
  errand.deadline_ms = steady_ms() + options.connect.ms + options.answer.ms;
  queue_.push_back(std::move(errand));
  serve();
}

std::unique_ptr<Reading> Client::Core::open(Errand errand) {
  const auto connection = connect(true);
  streams_.emplace_back(connection.get(), std::move(errand));
  return std::make_unique<LiveReading>(connection);
}

void Client::Core::give_out() {
  const auto present = connections_;
  for (const auto& connection : present) {
    if (connection->is_stream() || queue_.empty() || !connection->is_idle()) continue;
    connection->begin(std::move(queue_.front()));
    queue_.pop_front();
  }
}

// Gives what waits to idle connections, and opens more if they do not suffice.
void Client::Core::serve() {
  give_out();
  size_t kept = 0;
  size_t connecting = 0;
  for (const auto& connection : connections_) {
    if (connection->is_stream()) continue;
    ++kept;
    if (connection->is_connecting()) ++connecting;
  }
  const size_t most = std::max<size_t>(options.connections, 1);
  for (; connecting < queue_.size() && kept < most; ++kept, ++connecting) connect(false);
}

void Client::Core::ready(ClientConnection& connection) {
  if (!connection.is_stream()) return serve();
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const auto& waiting) {
    return waiting.first == &connection;
  });
  if (found == streams_.end()) return;
  Errand errand = std::move(found->second);
  streams_.erase(found);
  connection.begin(std::move(errand));
}

void Client::Core::gone(ClientConnection& connection, std::optional<Errand> errand, bool may_retry,
                        const Error& why) {
  const auto place = std::find_if(connections_.begin(), connections_.end(),
                                  [&](const auto& each) { return each.get() == &connection; });
  if (place != connections_.end()) connections_.erase(place);
  const auto stream = std::find_if(streams_.begin(), streams_.end(), [&](const auto& waiting) {
    return waiting.first == &connection;
  });
  std::optional<Errand> waited;  // dropped last: it may own much
  if (stream != streams_.end()) {
    waited = std::move(stream->second);
    streams_.erase(stream);
    if (!connection.is_abandoned()) errand = std::exchange(waited, std::nullopt);
  }
  if (is_shut_) return;
  const bool never_connected = !connection.was_connected();
  std::deque<Errand> failed;
  if (errand && may_retry && !errand->is_retried && is_idempotent(errand->request)) {
    ++counts.retried;
    errand->is_retried = true;
    queue_.push_front(std::move(*errand));
  } else if (errand) {
    failed.push_back(std::move(*errand));
  }
  const bool is_in_vain = never_connected && !connection.is_stream();
  if (is_in_vain) take_unserved(failed);
  const auto self = shared_from_this();
  for (Errand& each : failed) tell(each, why);
  if (is_shut_) return;
  // At once another attempt would end the same way, and so on: the next one is made for the next
  // request, or at the next tick.
  if (is_in_vain) {
    give_out();
  } else {
    serve();
  }
}

// After an attempt to connect that failed: who waits for somebody that was connected goes on
// waiting; else one fails with it, and all when nobody else is on the way.
void Client::Core::take_unserved(std::deque<Errand>& failed) {
  bool has_others = false;
  for (const auto& each : connections_) {
    if (each->is_stream()) continue;
    if (each->was_connected()) return;
    has_others = true;
  }
  while (!queue_.empty()) {
    failed.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (has_others) return;
  }
}

void Client::Core::keep_ticking() {
  if (is_ticking_) return;
  is_ticking_ = true;
  const Duration shortest = std::min({options.connect, options.answer, options.silence});
  poll.after(milliseconds(std::clamp<int64_t>(shortest.ms / 8, 10, 500)),
             [weak = weak_from_this()] {
               if (const auto self = weak.lock()) self->tick();
             });
}

void Client::Core::tick() {
  is_ticking_ = false;
  if (is_shut_) return;
  const auto now = steady_ms();
  const auto present = connections_;
  for (const auto& connection : present) connection->check_deadline(now);
  while (!is_shut_ && !queue_.empty() && now >= queue_.front().deadline_ms) {
    Errand errand = std::move(queue_.front());
    queue_.pop_front();
    tell(errand, late_error(server, "no answer", options.connect + options.answer));
  }
  if (!is_shut_ && !queue_.empty()) serve();
  if (!is_shut_ && (!connections_.empty() || !queue_.empty())) keep_ticking();
}

void Client::Core::shut() {
  is_shut_ = true;
  const auto present = connections_;
  for (const auto& connection : present) connection->abandon();
  queue_.clear();
}

Result<std::unique_ptr<Client>> Client::create(Poll& poll, ClientOptions options) {
  if (options.server_name.empty()) options.server_name = options.host;
  const std::string where = with_port(options.host, options.port);
  auto core = std::make_shared<Core>(poll, std::move(options));
  core->server = "server " + where;
  core->host_field = where;
  SPILLWAY_TRY(core->renew_context());
  return std::unique_ptr<Client>(new Client(std::move(core)));
}

Client::Client(std::shared_ptr<Core> core) : core_(std::move(core)) {}
Client::~Client() { core_->shut(); }

void Client::send(Request request, OnResponse then) {
  if (!is_sendable(request)) {
    core_->poll.post([then = std::move(then), server = core_->server] {
      then(tl::unexpected(unsendable(server)));
    });
    return;
  }
  core_->send({std::move(request), std::move(then), std::nullopt});
}

std::unique_ptr<Reading> Client::open(Request request, StreamCalls calls) {
  if (!is_sendable(request)) {
    return std::make_unique<RefusedReading>(core_->poll, std::move(calls.on_end),
                                            unsendable(core_->server));
  }
  return core_->open({std::move(request), nullptr, std::move(calls)});
}

Status Client::set_identity(TlsIdentity identity) {
  auto before = std::exchange(core_->options.identity, std::move(identity));
  auto done = core_->renew_context();
  if (!done) core_->options.identity = std::move(before);
  return done;
}

Status Client::set_authorities(std::string authorities_pem) {
  auto before = std::exchange(core_->options.authorities_pem, std::move(authorities_pem));
  auto pinned = std::exchange(core_->options.pinned_authority, {});
  auto done = core_->renew_context();
  if (!done) {
    core_->options.authorities_pem = std::move(before);
    core_->options.pinned_authority = std::move(pinned);
  }
  return done;
}

ClientCounts Client::counts() const {
  ClientCounts counts = core_->counts;
  counts.connections = core_->connections();
  return counts;
}

}  // namespace spillway::net
