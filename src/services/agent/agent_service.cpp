#include "services/agent/agent_service.h"

#include <memory>
#include <optional>

#include <unistd.h>

#include "kube/session.h"
#include "net/client.h"
#include "services/agent/agent.h"
#include "services/agent/cluster_home.h"
#include "services/agent/credentials.h"
#include "services/agent/live_supply.h"
#include "services/agent/reload.h"
#include "services/agent/renewal_timer.h"
#include "services/agent/state_file.h"
#include "services/connect.h"
#include "services/metrics.h"
#include "services/operations_port.h"
#include "services/service_loop.h"
#include "services/signals.h"

namespace spillway::services {
namespace {

constexpr Duration k_longest_goodbye = seconds(5);

// All that runs; in the order in which each needs those before it.
class AgentService {
 public:
  explicit AgentService(const AgentServiceOptions& options)
      : options_(options),
        log_(STDERR_FILENO, options.log_level, "agent"),
        loop_(poll_),
        operations_({[this] { return readiness(); }, [this] { return metrics_.text(); }}) {}

  Status run();

 private:
  Status begin_in_folder();
  Status begin_in_cluster();
  Status open_cluster();
  Status begin(agent::Credentials credentials, agent::StateStore& state,
               agent::IdentityStore& identity);
  Status connect();
  Status start_agent(agent::StateStore& state);
  Result<std::optional<agent::Supply>> first_supply(agent::StateStore& state);
  Status start_live();
  void start_renewal(agent::IdentityStore& identity);
  void add_gauges();
  Status readiness() const;
  void on_signal();
  void leave();
  void end(const Status& outcome);

  const AgentServiceOptions& options_;
  agent::Credentials credentials_;
  LineLog log_;
  Signals signals_;
  host::SystemRandom random_;
  net::Poll poll_;
  ServiceLoop loop_;
  Metrics metrics_;
  OperationsPort operations_;
  std::unique_ptr<kube::Session> cluster_;
  std::unique_ptr<agent::StateFile> state_file_;  // one of these two homes
  std::optional<agent::FolderIdentity> folder_;   //
  std::optional<agent::ClusterHome> home_;
  std::unique_ptr<net::Client> client_;
  std::optional<agent::Agent> agent_;
  std::optional<agent::Reload> reload_;
  std::optional<agent::LiveSupply> live_;
  std::optional<agent::RenewalTimer> renewal_;
  Status outcome_;
};

Status AgentService::connect() {
  net::ClientOptions options;
  options.authorities_pem = credentials_.authorities_pem;
  options.identity = credentials_.tls;
  auto client = connect_to(poll_, credentials_.broker, std::move(options));
  if (!client) return tl::unexpected(client.error());
  client_ = std::move(*client);
  return {};
}

// What the file says; nothing when it cannot be read and there is a state to go on with.
Result<std::optional<agent::Supply>> AgentService::first_supply(agent::StateStore& state) {
  const ClusterId cluster(credentials_.name);
  const auto parse = [this, cluster](const std::string& text) {
    return agent::supply_from_yaml(text, cluster, options_.supply);
  };
  reload_.emplace(loop_, log_, "supply", options_.supply,
                  [this, parse](const std::string& text) -> Status {
                    auto next = parse(text);
                    if (!next) return tl::unexpected(std::move(next).error());
                    agent_->set_supply(std::move(*next));
                    return {};
                  });
  auto read = reload_->read().and_then(parse);
  reload_->start();
  if (read) return std::optional(std::move(*read));
  const auto known = state.load();
  if (!known || known->empty()) return tl::unexpected(read.error());
  log_.write(Level::error, "supply not taken; the last good one holds",
             {{"file", options_.supply}, {"why", read.error().message()}});
  return std::optional<agent::Supply>();
}

Status AgentService::open_cluster() {
  if (cluster_ != nullptr) return {};
  const auto access = kube::read_access(options_.kubeconfig, options_.context);
  if (!access) return tl::unexpected(access.error());
  auto cluster = kube::Session::open(poll_, loop_, random_, *access);
  if (!cluster) return tl::unexpected(std::move(cluster).error());
  cluster_ = std::move(*cluster);
  return {};
}

// The last supply goes on until the cluster is known.
Status AgentService::start_live() {
  const auto parse = [this](const std::string& text) {
    return supply::policy_from_yaml(text, options_.policy);
  };
  reload_.emplace(loop_, log_, "policy", options_.policy,
                  [this, parse](const std::string& text) -> Status {
                    auto next = parse(text);
                    if (!next) return tl::unexpected(std::move(next).error());
                    live_->set_policy(std::move(*next));
                    return {};
                  });
  auto policy = reload_->read().and_then(parse);
  if (!policy) return tl::unexpected(std::move(policy).error());
  SPILLWAY_TRY(open_cluster());
  live_.emplace(cluster_->api(), log_, ClusterId(credentials_.name), std::move(*policy),
                agent::LiveSupplyCalls{
                    [this](agent::Supply next) { agent_->set_supply(std::move(next)); },
                    [this] { return agent_->state().supply; }, [this] { return agent_->sold(); }});
  agent_->when_sold_changes([this] { live_->sold_changed(); });
  live_->start();
  reload_->start();
  return {};
}

Status AgentService::start_agent(agent::StateStore& state) {
  agent_.emplace(loop_, random_, *client_, state, log_,
                 agent::AgentOptions{ClusterId(credentials_.name), options_.pool_lease,
                                     options_.renew_contracts});
  if (!options_.policy.empty()) {
    SPILLWAY_TRY(start_live());
    return agent_->start(std::nullopt);
  }
  if (options_.supply.empty()) return agent_->start(agent::Supply{});
  auto supply = first_supply(state);
  if (!supply) return tl::unexpected(std::move(supply).error());
  return agent_->start(std::move(*supply));
}

void AgentService::start_renewal(agent::IdentityStore& identity) {
  renewal_.emplace(loop_, random_, *client_, log_, identity, credentials_,
                   [this](const agent::Credentials& renewed) {
                     credentials_ = renewed;
                     agent::take_into_use(renewed, *client_, log_);
                     agent_->credentials_changed();
                   });
  renewal_->start();
}

void AgentService::on_signal() {
  while (const int signal = signals_.next()) {
    if (signal == SIGHUP) {
      if (reload_) reload_->look_now();
      continue;
    }
    log_.write(Level::info, "ending", {{"signal", std::to_string(signal)}});
    poll_.after(k_longest_goodbye, [this] { poll_.stop(); });
    if (!agent_) return leave();
    agent_->stop([this] { leave(); });
  }
}

// All is saved: whoever waits may take over.
void AgentService::leave() {
  if (!home_) return poll_.stop();
  home_->leave([this] { poll_.stop(); });
}

// At once: what is under way is not waited for, another may be at it.
void AgentService::end(const Status& outcome) {
  outcome_ = outcome;
  log_.write(Level::error, "ending at once", {{"why", outcome.error().message()}});
  poll_.stop();
}

// Who waits for the Lease is ready: it does what it is for. The broker's silence is no reason to be
// taken for dead, either; it is in the metrics.
Status AgentService::readiness() const {
  if (agent_ || (home_ && !home_->is_holder() && !home_->holder().empty())) return {};
  return fail(Code::unavailable, "agent", "its identity and state are not there yet",
              "try again in a second");
}

void AgentService::add_gauges() {
  const auto gauge = [this](std::string_view name, std::string_view help, auto read) {
    metrics_.gauge(name, help, [this, read] {
      return agent_ ? static_cast<double>(read(agent_->status())) : 0.0;
    });
  };
  using agent::AgentStatus;
  metrics_.gauge("spillway_agent_active", "1: this one speaks for the cluster, 0: it waits",
                 [this] { return agent_ ? 1.0 : 0.0; });
  metrics_.gauge("spillway_agent_certificate_until", "Seconds since 1970", [this] {
    return agent_ ? static_cast<double>(credentials_.not_after.ms) / 1000 : 0.0;
  });
  gauge("spillway_agent_connected", "1: the broker's events are followed",
        [](const AgentStatus& status) { return status.connected ? 1 : 0; });
  gauge("spillway_agent_last_event", "Sequence of the newest event that was heard",
        [](const AgentStatus& status) { return status.last_event; });
  gauge("spillway_agent_pools", "On sale",
        [](const AgentStatus& status) { return status.pools_published; });
  gauge("spillway_agent_offers", "On sale",
        [](const AgentStatus& status) { return status.offers_published; });
  gauge("spillway_agent_contracts_sold", "Live",
        [](const AgentStatus& status) { return status.contracts_sold; });
  gauge("spillway_agent_contracts_bought", "Live",
        [](const AgentStatus& status) { return status.contracts_bought; });
}

Status AgentService::begin(agent::Credentials credentials, agent::StateStore& state,
                           agent::IdentityStore& identity) {
  credentials_ = std::move(credentials);
  SPILLWAY_TRY(connect());
  SPILLWAY_TRY(start_agent(state));
  start_renewal(identity);
  log_.write(Level::info, "agent started",
             {{"cluster", credentials_.name}, {"broker", credentials_.broker}});
  return {};
}

Status AgentService::begin_in_folder() {
  auto credentials = agent::load_credentials(options_.identity);
  if (!credentials) return tl::unexpected(credentials.error());
  SPILLWAY_TRY(agent::check_is_cluster(*credentials, options_.identity));
  auto state = agent::StateFile::open(options_.state);
  if (!state) return tl::unexpected(state.error());
  state_file_ = std::move(*state);
  if (options_.forget_state) SPILLWAY_TRY(state_file_->forget());
  folder_.emplace(options_.identity);
  return begin(std::move(*credentials), *state_file_, *folder_);
}

Status AgentService::begin_in_cluster() {
  SPILLWAY_TRY(open_cluster());
  const InCluster& names = *options_.in_cluster;
  const std::string& space = cluster_->space();
  agent::ClusterHomeCalls calls;
  calls.on_home = [this, source = names.identity](const agent::Credentials& credentials) {
    Status begun = agent::check_is_cluster(credentials, source);
    if (begun) begun = begin(credentials, home_->state(), home_->identity());
    if (!begun) end(begun);
  };
  calls.on_lost = [this](const Error& error) { end(tl::unexpected(error)); };
  calls.connect =
      [this](const std::string& url,
             const std::string& pinned_authority) -> Result<std::unique_ptr<net::Channel>> {
    net::ClientOptions options;
    options.pinned_authority = pinned_authority;
    return connect_to(poll_, url, std::move(options));
  };
  home_.emplace(cluster_->api(), log_,
                agent::ClusterHomeOptions{{space, names.identity},
                                          {space, names.state},
                                          {space, names.lease},
                                          agent::holder_name(random_),
                                          names.join,
                                          names.token_file},
                std::move(calls));
  home_->start();
  return {};
}

Status AgentService::run() {
  if (signals_.fd() < 0) return fail(Code::internal, "signals", "signalfd failed", "try again");
  add_gauges();
  if (!options_.operations.empty()) SPILLWAY_TRY(operations_.listen(poll_, options_.operations));
  SPILLWAY_TRY(options_.in_cluster ? begin_in_cluster() : begin_in_folder());
  poll_.watch(signals_.fd(), true, false, [this](net::Ready) { on_signal(); });
  poll_.run();
  poll_.unwatch(signals_.fd());
  return outcome_;
}

}  // namespace

Status run_agent(const AgentServiceOptions& options) { return AgentService(options).run(); }

}  // namespace spillway::services
