#include "services/broker/broker.h"

#include "services/host_port.h"

namespace spillway::services {
namespace {

constexpr Duration k_look_every = seconds(1);

host::BookOptions book_options(const BrokerConfig& config) {
  host::BookOptions options;
  options.keep_events = config.keep_events;
  options.rules.ending_notices = ending_distances(config).value();  // it is valid
  return options;
}

Caps caps_of(const BrokerConfig& config) {
  Caps caps;
  caps.pools = static_cast<size_t>(config.pools);
  caps.offers = static_cast<size_t>(config.offers);
  caps.streams = static_cast<size_t>(config.streams);
  return caps;
}

ApiLimits limits_of(const BrokerConfig& config) {
  return {{config.member_rate, config.member_burst}, {config.stranger_rate, config.stranger_burst}};
}

}  // namespace

Result<std::unique_ptr<Broker>> Broker::start(net::Poll& poll, host::Loop& loop,
                                              const BrokerConfig& config, Log& journal) {
  SPILLWAY_TRY(validate(config));
  auto issuer = AuthorityIssuer::load(fmt::format("{}/{}", config.data, k_authority_folder));
  if (!issuer) return tl::unexpected(issuer.error());
  auto store = store::SqliteStore::open(fmt::format("{}/{}", config.data, k_market_file), {}, loop);
  if (!store) return tl::unexpected(store.error());
  const store::RecoveryReport& report = (*store)->recovery_report();
  if (!report.is_clean()) {
    journal.write(Level::error, "store", {{"found", store::to_text(report)}});
  }
  std::unique_ptr<Broker> broker(
      new Broker(loop, config, journal, std::move(*issuer), std::move(*store)));
  SPILLWAY_TRY(broker->listen(poll));
  broker->wire_up();
  return broker;
}

Broker::Broker(host::Loop& loop, const BrokerConfig& config, Log& journal, AuthorityIssuer issuer,
               std::unique_ptr<store::SqliteStore> store)
    : loop_(loop),
      config_(config),
      journal_(journal),
      issuer_(std::move(issuer)),
      store_(std::move(store)),
      book_(loop, *store_, random_, book_options(config)),
      feed_(loop, *store_),
      log_(loop, *store_),
      directory_(loop, *store_, log_),
      hub_(loop, *store_, log_, {}),
      desk_{loop,
            random_,
            *store_,
            book_,
            feed_,
            directory_,
            log_,
            hub_,
            issuer_,
            metrics_,
            RequestMetrics(metrics_),
            journal,
            caps_of(config),
            false},
      api_(desk_, limits_of(config)),
      names_(server_names(config.names)),
      operations_({[this] { return readiness(desk_); }, [this] { return metrics_.text(); }}) {}

Broker::~Broker() = default;

Status Broker::listen(net::Poll& poll) {
  const auto at = parse_host_port(config_.listen, "listen");
  if (!at) return tl::unexpected(at.error());
  const auto identity = issuer_.server_identity(names_, loop_.now());
  if (!identity) return tl::unexpected(identity.error());
  certificate_until_ = loop_.now() + k_server_certificate_life;
  net::ServerOptions options;
  options.address = at->host;
  options.port = at->port;
  options.limits.connections = static_cast<size_t>(config_.connections);
  options.limits.connections_per_address = static_cast<size_t>(config_.connections_per_address);
  options.limits.body_bytes = static_cast<size_t>(config_.body_bytes);
  auto server = net::Server::listen(poll, options, *identity, issuer_.authorities(), api_);
  if (!server) return tl::unexpected(server.error());
  server_ = std::move(*server);
  return config_.operations.empty() ? Status() : operations_.listen(poll, config_.operations);
}

void Broker::wire_up() {
  book_.listen([this](const host::Commit& commit, const host::Committed& committed) {
    feed_.learn(commit, committed);
    directory_.learn(commit);
    log_.learn(commit, committed);
  });
  // Whoever is revoked, or has joined anew with another key, is cut off at once.
  directory_.listen([this](const model::Identity& identity) {
    const std::string uri = pki::member_uri(issuer_.federation(), identity.name);
    server_->cut([&](const net::Peer& peer) {
      return peer.certificate != nullptr && peer.certificate->uri == uri &&
             (identity.revoked || peer.certificate->key != identity.key);
    });
  });
  add_gauges();
  log_.start();
  directory_.start();
  feed_.start();
  hub_.start();
  book_.start();
  look_after_certificates();
}

void Broker::add_gauges() {
  const auto gauge = [this](std::string_view name, std::string_view help, auto read) {
    metrics_.gauge(name, help, [read] { return static_cast<double>(read()); });
  };
  gauge("spillway_connections", "Open connections",
        [this] { return server_->counts().connections; });
  gauge("spillway_connections_refused_total", "Turned away, for the broker was full",
        [this] { return server_->counts().turned_away; });
  gauge("spillway_strangers_closed_total", "Closed to make room, for the broker was full",
        [this] { return server_->counts().made_room; });
  gauge("spillway_tls_handshakes_failed_total", "Handshakes that came to nothing",
        [this] { return server_->counts().handshakes_failed; });
  gauge("spillway_tls_handshakes_resumed_total", "Handshakes that resumed a session",
        [this] { return server_->counts().handshakes_resumed; });
  gauge("spillway_event_streams", "Open event streams", [this] { return hub_.streams(); });
  gauge("spillway_slow_streams_cut_total", "Streams cut, for nobody read them",
        [this] { return hub_.cut_for_slowness(); });
  gauge("spillway_commands_queued", "Waiting for the book", [this] { return book_.queued(); });
  gauge("spillway_last_event", "Sequence of the newest event", [this] { return log_.last(); });
  gauge("spillway_rows_quarantined", "Damaged rows that the store has set aside", [this] {
    const store::RecoveryReport& report = store_->recovery_report();
    return static_cast<double>(report.quarantined.size()) +
           static_cast<double>(report.quarantined_before);
  });
  gauge("spillway_identities", "Members known", [this] { return directory_.size(); });
}

void Broker::look_after_certificates() {
  const Instant now = loop_.now();
  hub_.close_expired(now);
  if (certificate_until_ - now < Duration{k_server_certificate_life.ms / 2}) {
    if (auto status = take_tls(); !status) {
      journal_.write(Level::error, "certificate", {{"why", status.error().message()}});
    }
  }
  loop_.after(k_look_every, lifeline_.guard([this] { look_after_certificates(); }));
}

Status Broker::take_tls() {
  const auto identity = issuer_.server_identity(names_, loop_.now());
  if (!identity) return tl::unexpected(identity.error());
  SPILLWAY_TRY(server_->set_tls(*identity, issuer_.authorities()));
  certificate_until_ = loop_.now() + k_server_certificate_life;
  return {};
}

void Broker::reload() {
  const auto changed = issuer_.reload();
  if (changed && !*changed) return;
  const Status taken = changed ? take_tls() : tl::unexpected(changed.error());
  if (!taken) {
    journal_.write(Level::error, "authority", {{"why", taken.error().message()}});
    return;
  }
  journal_.write(Level::info, "authority",
                 {{"phase", std::string(to_text(issuer_.status().phase))}});
}

void Broker::drain(std::function<void()> done) {
  desk_.draining = true;
  hub_.close_all();
  server_->drain(config_.drain, std::move(done));
}

}  // namespace spillway::services
