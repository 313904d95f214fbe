#include "services/driver/driver_process.h"

#include <utility>

#include "kube/small_file.h"
#include "pki/certificate.h"
#include "services/fabric/dial.h"
#include "services/host_port.h"

namespace spillway::driver {
namespace {

constexpr Duration k_look_every = minutes(10);
constexpr Duration k_longest_drain = seconds(5);

}  // namespace

DriverProcess::DriverProcess(net::Poll& poll, host::Loop& loop, std::string folder,
                             DriverConfig config, services::Log& log)
    : poll_(poll),
      loop_(loop),
      folder_(std::move(folder)),
      config_(std::move(config)),
      log_(log),
      operations_({[this]() -> Status {
                     if (driver_ && driver_->is_seeing()) return {};
                     return fail(Code::unavailable, "driver", "not every cluster is seen",
                                 "look at the log");
                   },
                   [this] { return metrics_.text(); }}) {}

Result<std::unique_ptr<DriverProcess>> DriverProcess::start(net::Poll& poll, host::Loop& loop,
                                                            const std::string& folder,
                                                            DriverConfig config,
                                                            services::Log& log) {
  std::unique_ptr<DriverProcess> made(
      new DriverProcess(poll, loop, folder, std::move(config), log));
  SPILLWAY_TRY(made->open_state());
  SPILLWAY_TRY(made->open_authority());
  auto clusters = made->open_clusters();
  if (!clusters) return tl::unexpected(clusters.error());
  made->driver_.emplace(loop, made->random_, *made->state_, log,
                        agent::folder_holder("driver", made->path(k_state_name)));
  SPILLWAY_TRY(made->driver_->start(std::move(*clusters)));
  FaceLimits limits;
  limits.caller = {made->config_.caller_rate, 2 * made->config_.caller_rate};
  limits.stranger = {made->config_.stranger_rate, 4 * made->config_.stranger_rate};
  made->face_.emplace(loop, *made->driver_, callers_of(made->config_, made->own_keys()), log,
                      made->metrics_, limits);
  SPILLWAY_TRY(made->listen());
  made->add_gauges();
  made->look_after_certificate();
  return made;
}

std::string DriverProcess::path(const std::string& file) const {
  return file.starts_with('/') ? file : folder_ + "/" + file;
}

Status DriverProcess::open_state() {
  auto state = agent::StateFile::open(path(k_state_name), driver_state());
  if (!state) return tl::unexpected(state.error());
  state_ = std::move(*state);
  return {};
}

// Whoever gives the port a certificate of its own chooses by that what callers trust, not whom the
// driver trusts: its own callers are known by its own authority all the same.
Status DriverProcess::open_authority() {
  SPILLWAY_TRY(read_authority());
  return check_vouched(config_);
}

// None of its own is an error unless the port has a certificate.
Status DriverProcess::read_authority() {
  auto issuer = services::AuthorityIssuer::load(path(k_authority_name));
  if (issuer) {
    issuer_ = std::move(*issuer);
  } else if (config_.certificate.empty() || issuer.error().code != Code::not_found) {
    return tl::unexpected(issuer.error());
  }
  return {};
}

Result<std::vector<DriverCluster>> DriverProcess::open_clusters() {
  std::vector<DriverCluster> clusters;
  for (const ClusterConfig& one : config_.clusters) {
    const auto access = kube::read_access(path(one.kubeconfig), one.context);
    if (!access) return tl::unexpected(access.error());
    auto session = kube::Session::open(poll_, loop_, random_, *access);
    if (!session) return tl::unexpected(std::move(session).error());
    agent::FabricOptions fabric;
    fabric.api_servers = one.api_servers;
    fabric.template_name = one.node_template;
    fabric.warm = config_.warm;
    fabric.drain = config_.drain;
    fabric.offload = one.offload;
    fabric.pulse.dial = [this](const kube::Access& to) { return agent::dial_provider(poll_, to); };
    clusters.push_back({one.name, (*session)->api(), std::move(fabric)});
    sessions_.push_back(std::move(*session));
  }
  return clusters;
}

Result<DriverProcess::Tls> DriverProcess::read_tls() const {
  auto trusted = authorities();
  if (!trusted) return tl::unexpected(std::move(trusted).error());
  if (config_.certificate.empty()) {
    const Instant now = loop_.now();
    auto made = issuer_->server_identity(services::server_names(config_.names), now);
    if (!made) return tl::unexpected(std::move(made).error());
    return Tls{std::move(*made), now + services::k_server_certificate_life, std::move(*trusted)};
  }
  const auto certificate = kube::read_small_file(path(config_.certificate));
  if (!certificate) return tl::unexpected(certificate.error());
  const auto key = kube::read_small_file(path(config_.key));
  if (!key) return tl::unexpected(key.error());
  return Tls{{*certificate, *key}, k_last_instant, std::move(*trusted)};
}

Status DriverProcess::take_tls() {
  const auto tls = read_tls();
  if (!tls) return tl::unexpected(tls.error());
  SPILLWAY_TRY(server_->set_tls(tls->identity, tls->authorities));
  certificate_until_ = tls->until;
  return {};
}

std::set<std::string> DriverProcess::own_keys() const {
  std::set<std::string> own;
  if (!issuer_) return own;
  const auto bundle = pki::split_bundle(issuer_->authorities());
  for (const std::string& pem : bundle.value_or(std::vector<std::string>())) {
    if (const auto read = pki::read_certificate(pem)) own.insert(read->key_fingerprint);
  }
  return own;
}

Status DriverProcess::check_vouched(const DriverConfig& config) const {
  return driver::check_vouched(config, own_keys(), path(k_authority_name));
}

Result<std::string> DriverProcess::authorities() const {
  std::string all = issuer_ ? issuer_->authorities() : std::string();
  if (config_.authorities.empty()) return all;
  const auto more = kube::read_small_file(path(config_.authorities));
  if (!more) return tl::unexpected(more.error());
  return all + *more;
}

Status DriverProcess::listen() {
  const auto at = services::parse_host_port(config_.listen, "listen");
  if (!at) return tl::unexpected(at.error());
  const auto tls = read_tls();
  if (!tls) return tl::unexpected(tls.error());
  net::ServerOptions options;
  options.address = at->host;
  options.port = at->port;
  options.limits.connections = 1000;
  options.limits.body_bytes = size_t{256} << 10;
  auto server = net::Server::listen(poll_, options, tls->identity, tls->authorities, *face_);
  if (!server) return tl::unexpected(server.error());
  server_ = std::move(*server);
  certificate_until_ = tls->until;
  return config_.operations.empty() ? Status() : operations_.listen(poll_, config_.operations);
}

void DriverProcess::look_after_certificate() {
  const Duration half{services::k_server_certificate_life.ms / 2};
  if (certificate_until_ - loop_.now() < half) {
    if (const Status taken = take_tls(); !taken) {
      log_.write(services::Level::error, "certificate", {{"why", taken.error().message()}});
    }
  }
  loop_.after(k_look_every, life_.guard([this] { look_after_certificate(); }));
}

// Callers come last, for taking them cannot fail: an error means that nothing was taken.
Status DriverProcess::reload(const DriverConfig& config) {
  if (!issuer_) SPILLWAY_TRY(read_authority());  // it may have been made since
  SPILLWAY_TRY(check_vouched(config));
  SPILLWAY_TRY(take_tls());
  config_.callers = config.callers;
  face_->set_callers(callers_of(config_, own_keys()));
  return {};
}

void DriverProcess::drain(std::function<void()> done) {
  driver_->stop([this, done = std::move(done)] { server_->drain(k_longest_drain, done); });
}

void DriverProcess::add_gauges() {
  metrics_.gauge("spillway_driver_seeing", "1: every cluster is seen",
                 [this] { return driver_->is_seeing() ? 1.0 : 0.0; });
  metrics_.gauge("spillway_driver_units", "That were ordered and are not gone", [this] {
    double count = 0;
    for (const auto& [name, unit] : driver_->state().units) count += unit.is_gone() ? 0 : 1;
    return count;
  });
}

}  // namespace spillway::driver
