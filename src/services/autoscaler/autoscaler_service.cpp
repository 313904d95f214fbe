#include "services/autoscaler/autoscaler_service.h"

#include <csignal>
#include <memory>
#include <optional>

#include <unistd.h>

#include "kube/session.h"
#include "net/tcp_probe.h"
#include "services/agent/cluster_home.h"
#include "services/agent/credentials.h"
#include "services/agent/reload.h"
#include "services/agent/renewal_timer.h"
#include "services/agent/state_file.h"
#include "services/autoscaler/autoscaler.h"
#include "services/autoscaler/cluster_audience.h"
#include "services/autoscaler/explain_door.h"
#include "services/autoscaler/grpc_port.h"
#include "services/autoscaler/played_nodes.h"
#include "services/connect.h"
#include "services/metrics.h"
#include "services/operations_port.h"
#include "services/service_loop.h"
#include "services/signals.h"

namespace spillway::services {
namespace {

constexpr Duration k_longest_farewell = seconds(5);
constexpr Duration k_longest_round_trip = seconds(2);
// All pending pods for every group that could take them.
constexpr size_t k_most_expander_bytes = size_t{128} << 20;  // as many as it may send

// All that runs; in the order in which each needs those before it.
class AutoscalerService {
 public:
  explicit AutoscalerService(const AutoscalerServiceOptions& options)
      : options_(options),
        log_(STDERR_FILENO, options.log_level, "autoscaler"),
        loop_(poll_),
        operations_({[this] { return readiness(); }, [this] { return metrics_.text(); }}),
        port_(poll_, log_,
              {options.listen, options.plaintext ? net::GrpcTrust::none : net::GrpcTrust::mutual,
               options.tls_certificate, options.tls_key, options.client_authorities}),
        expander_port_(poll_, log_,
                       {options.expander,
                        net::GrpcTrust::server_only,
                        options.expander_certificate,
                        options.expander_key,
                        {},
                        k_most_expander_bytes}),
        policy_file_(loop_, log_, "policy", options.policy,
                     [this](const std::string& text) { return take_policy(text); }) {}

  Status run();

 private:
  Status read_policy();
  Status take_policy(const std::string& text);
  Status open_cluster();
  autoscaler::RoundTrips::Measure measuring();
  Status be_the_only_one();
  Status begin_in_folder();
  Status begin_in_cluster();
  Status begin(agent::Credentials credentials, agent::StateStore& state,
               agent::IdentityStore& identity);
  Status connect();
  Status start(agent::StateStore& state);
  void start_renewal(agent::IdentityStore& identity);
  void add_gauges();
  Status readiness() const;
  void on_signal();
  void leave();
  void end(const Status& outcome);

  const AutoscalerServiceOptions& options_;
  agent::Credentials credentials_;
  std::string broker_;  // as it was named for this run; the folder keeps its own
  LineLog log_;
  Signals signals_;
  host::SystemRandom random_;
  net::Poll poll_;
  ServiceLoop loop_;
  Metrics metrics_;
  OperationsPort operations_;
  std::unique_ptr<kube::Session> cluster_;
  std::unique_ptr<agent::StateFile> identity_lock_;
  std::unique_ptr<agent::StateFile> state_;  // one of these two homes
  std::optional<agent::FolderIdentity> folder_;
  std::optional<agent::ClusterHome> home_;
  std::unique_ptr<net::Client> client_;
  std::optional<autoscaler::PlayedNodes> nodes_;
  std::optional<autoscaler::ClusterAudience> audience_;
  std::optional<autoscaler::Autoscaler> autoscaler_;
  std::optional<cluster_autoscaler::CloudProvider> door_;
  std::optional<autoscaler::ExplainDoor> explaining_door_;
  std::optional<cluster_autoscaler::Expander> expander_;
  GrpcPort port_;
  GrpcPort expander_port_;
  agent::Reload policy_file_;
  rank::Policy policy_;
  std::optional<agent::RenewalTimer> renewal_;
  Status outcome_;
};

// The currency of a policy is the one of all its amounts: another one is a mistake.
Status AutoscalerService::take_policy(const std::string& text) {
  auto policy = rank::policy_from_yaml(text, options_.policy);
  if (!policy) return tl::unexpected(std::move(policy).error());
  if (options_.currency && *options_.currency != policy->currency) {
    return fail(Code::invalid, "--currency",
                fmt::format("it is {}, and {} is in {}", options_.currency->text(), options_.policy,
                            policy->currency.text()),
                "leave it out: the policy says which");
  }
  policy_ = std::move(*policy);
  if (autoscaler_) autoscaler_->set_policy(policy_);
  return {};
}

Status AutoscalerService::read_policy() {
  if (options_.policy.empty()) {
    policy_ = rank::policy_of(rank::Profile::cheapest, options_.currency.value_or(Currency()));
    return {};
  }
  auto text = policy_file_.read();
  if (!text) {
    Error error = std::move(text).error();
    error.next = "write it, or leave --policy out";
    return tl::unexpected(std::move(error));
  }
  SPILLWAY_TRY(take_policy(*text));
  policy_file_.start();
  return {};
}

Status AutoscalerService::connect() {
  broker_ = options_.broker.empty() ? credentials_.broker : options_.broker;
  net::ClientOptions options;
  options.authorities_pem = credentials_.authorities_pem;
  options.identity = credentials_.tls;
  auto client = connect_to(poll_, broker_, std::move(options));
  if (!client) return tl::unexpected(client.error());
  client_ = std::move(*client);
  return {};
}

Status AutoscalerService::open_cluster() {
  const auto access = kube::read_access(options_.kubeconfig, options_.context);
  if (!access) return tl::unexpected(access.error());
  auto cluster = kube::Session::open(poll_, loop_, random_, *access);
  if (!cluster) return tl::unexpected(std::move(cluster).error());
  cluster_ = std::move(*cluster);
  audience_.emplace(loop_, cluster_->api(), log_, "spillway-autoscaler");
  audience_->start();
  return {};
}

// Providers say where: unless told otherwise, nobody sends us into our own network.
autoscaler::RoundTrips::Measure AutoscalerService::measuring() {
  if (options_.probe == "none") return {};
  return [this](const std::string& address, std::function<void(std::optional<int64_t>)> then) {
    const bool may_ask = options_.probe == "any" || net::is_public_address(address);
    if (!may_ask) return then(std::nullopt);
    net::measure_round_trip(poll_, address, k_longest_round_trip, std::move(then));
  };
}

Status AutoscalerService::start(agent::StateStore& state) {
  const auto player = autoscaler::find_player(options_.back_end);
  if (!player) return tl::unexpected(player.error());
  nodes_.emplace(cluster_->api(), log_, *player, credentials_.federation + "/" + credentials_.name);
  autoscaler_.emplace(
      loop_, random_, *client_, state, *nodes_, log_,
      autoscaler::AutoscalerOptions{ClusterId(credentials_.name), policy_, options_.best_of_class,
                                    &*audience_, options_.unready_after, measuring()});
  SPILLWAY_TRY(autoscaler_->start());
  door_.emplace(*autoscaler_);
  explaining_door_.emplace(*door_,
                           [this](const std::string& name) { return autoscaler_->explain(name); });
  SPILLWAY_TRY(port_.listen(*explaining_door_));
  if (options_.expander.empty()) return {};
  expander_.emplace(*autoscaler_);
  return expander_port_.listen(*expander_);
}

void AutoscalerService::start_renewal(agent::IdentityStore& identity) {
  renewal_.emplace(loop_, random_, *client_, log_, identity, credentials_,
                   [this](const agent::Credentials& renewed) {
                     credentials_ = renewed;
                     agent::take_into_use(renewed, *client_, log_);
                     autoscaler_->credentials_changed();
                   });
  renewal_->start();
}

void AutoscalerService::on_signal() {
  while (const int signal = signals_.next()) {
    if (signal == SIGHUP) {
      port_.look_now();
      if (!options_.expander.empty()) expander_port_.look_now();
      if (!options_.policy.empty()) policy_file_.look_now();
      continue;
    }
    log_.write(Level::info, "ending", {{"signal", std::to_string(signal)}});
    poll_.after(k_longest_farewell, [this] { poll_.stop(); });
    if (!autoscaler_) return leave();
    autoscaler_->stop([this] { leave(); });
  }
}

// All is saved: whoever waits may take over.
void AutoscalerService::leave() {
  if (!home_) return poll_.stop();
  home_->leave([this] { poll_.stop(); });
}

// At once: what is under way is not waited for, another may be at it.
void AutoscalerService::end(const Status& outcome) {
  outcome_ = outcome;
  log_.write(Level::error, "ending at once", {{"why", outcome.error().message()}});
  poll_.stop();
}

// A broker that is away is no reason to be taken for dead: what is held is shown all the same.
Status AutoscalerService::readiness() const {
  if (autoscaler_ && autoscaler_->status().is_market_known) return {};
  return fail(Code::unavailable, "autoscaler", "it does not know yet what is on sale",
              "look at its log if this lasts");
}

void AutoscalerService::add_gauges() {
  using autoscaler::AutoscalerStatus;
  const auto gauge = [this](std::string_view name, std::string_view help, auto read) {
    metrics_.gauge(name, help, [this, read] {
      return autoscaler_ ? static_cast<double>(read(autoscaler_->status())) : 0.0;
    });
  };
  gauge("spillway_autoscaler_connected", "1: the broker's events are followed",
        [](const AutoscalerStatus& status) { return status.is_connected ? 1 : 0; });
  gauge("spillway_autoscaler_groups", "Node groups that are shown",
        [](const AutoscalerStatus& status) { return status.groups; });
  gauge("spillway_autoscaler_target", "Units that are held or on their way, of all groups",
        [](const AutoscalerStatus& status) { return status.target; });
  gauge("spillway_autoscaler_running", "Units whose node was Ready",
        [](const AutoscalerStatus& status) { return status.running; });
  gauge("spillway_autoscaler_failed", "Units that failed and were not deleted yet",
        [](const AutoscalerStatus& status) { return status.failed; });
  gauge("spillway_autoscaler_rate", "What all that is held costs an hour, in the policy's currency",
        [](const AutoscalerStatus& status) { return static_cast<double>(status.rate) / 1e6; });
  gauge("spillway_autoscaler_bought_total", "Units bought since the start",
        [](const AutoscalerStatus& status) { return status.bought; });
  gauge("spillway_autoscaler_lost_total", "Units that others ended, or whose node died",
        [](const AutoscalerStatus& status) { return status.lost; });
  gauge("spillway_autoscaler_refused_total", "Units that were asked for, and the policy forbids",
        [](const AutoscalerStatus& status) { return status.refused; });
  gauge("spillway_autoscaler_choices_total", "Questions of the expander",
        [](const AutoscalerStatus& status) { return status.choices; });
  metrics_.gauge("spillway_autoscaler_policy_good", "1: the policy's file, as it is, was taken",
                 [this] { return policy_file_.is_good() ? 1.0 : 0.0; });
}

Status AutoscalerService::begin(agent::Credentials credentials, agent::StateStore& state,
                                agent::IdentityStore& identity) {
  credentials_ = std::move(credentials);
  SPILLWAY_TRY(connect());
  SPILLWAY_TRY(start(state));
  start_renewal(identity);
  log_.write(
      Level::info, "autoscaler started",
      {{"cluster", credentials_.name},
       {"broker", broker_},
       {"port", std::to_string(port_.port())},
       {"tls", options_.plaintext ? "none" : "mutual"},
       {"expander", options_.expander.empty() ? "none" : std::to_string(expander_port_.port())},
       {"policy", options_.policy.empty() ? "cheapest" : options_.policy},
       {"back end", options_.back_end}});
  return {};
}

// Nodes say whose they are by the identity: one with another state would take those of this one for
// strays, and remove them. Where nothing can be written, the state's own lock has to do.
Status AutoscalerService::be_the_only_one() {
  auto lock = agent::StateFile::open(options_.identity, autoscaler::ledger_state());
  if (lock) identity_lock_ = std::move(*lock);
  if (lock || lock.error().code != Code::conflict) return {};
  Error error = std::move(lock).error();
  error.next = "stop that one: two of one identity would remove each other's nodes";
  return tl::unexpected(std::move(error));
}

Status AutoscalerService::begin_in_folder() {
  auto credentials = agent::load_credentials(options_.identity);
  if (!credentials) return tl::unexpected(credentials.error());
  SPILLWAY_TRY(agent::check_is_cluster(*credentials, options_.identity));
  SPILLWAY_TRY(be_the_only_one());
  auto state = agent::StateFile::open(options_.state, autoscaler::ledger_state());
  if (!state) return tl::unexpected(state.error());
  state_ = std::move(*state);
  folder_.emplace(options_.identity);
  return begin(std::move(*credentials), *state_, *folder_);
}

Status AutoscalerService::begin_in_cluster() {
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
                                          names.token_file,
                                          autoscaler::ledger_state()},
                std::move(calls));
  home_->start();
  return {};
}

Status AutoscalerService::run() {
  if (signals_.fd() < 0) return fail(Code::internal, "signals", "signalfd failed", "try again");
  add_gauges();
  if (!options_.operations.empty()) SPILLWAY_TRY(operations_.listen(poll_, options_.operations));
  SPILLWAY_TRY(read_policy());
  SPILLWAY_TRY(open_cluster());
  SPILLWAY_TRY(options_.in_cluster ? begin_in_cluster() : begin_in_folder());
  poll_.watch(signals_.fd(), true, false, [this](net::Ready) { on_signal(); });
  poll_.run();
  poll_.unwatch(signals_.fd());
  return outcome_;
}

}  // namespace

Status run_autoscaler(const AutoscalerServiceOptions& options) {
  return AutoscalerService(options).run();
}

}  // namespace spillway::services
