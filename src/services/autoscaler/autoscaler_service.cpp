#include "services/autoscaler/autoscaler_service.h"

#include <memory>
#include <optional>
#include <utility>

#include "net/tcp_probe.h"
#include "services/agent/member_process.h"
#include "services/agent/reload.h"
#include "services/autoscaler/autoscaler.h"
#include "services/autoscaler/cluster_audience.h"
#include "services/autoscaler/driver_nodes.h"
#include "services/autoscaler/explain_door.h"
#include "services/autoscaler/fabric_nodes.h"
#include "services/autoscaler/grpc_port.h"
#include "services/autoscaler/played_nodes.h"
#include "services/fabric/liqo_home_reader.h"

namespace spillway::services {
namespace {

constexpr Duration k_longest_round_trip = seconds(2);
// All pending pods for every group that could take them.
constexpr size_t k_most_expander_bytes = size_t{128} << 20;  // as many as it may send

class AutoscalerService final : public MemberProcess {
 public:
  explicit AutoscalerService(const AutoscalerServiceOptions& options)
      : MemberProcess({options, "autoscaler", autoscaler::ledger_state()}),
        options_(options),
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
                     [this](const std::string& text) { return take_policy(text); }) {
    add_gauges();
  }

 private:
  Status prepare() override;
  Status claim_folder() override;
  Status start(agent::StateStore& state) override;
  bool is_started() const override { return autoscaler_.has_value(); }
  void credentials_changed() override { autoscaler_->credentials_changed(); }
  void read_again() override;
  void stop(std::function<void()> when_saved) override { autoscaler_->stop(std::move(when_saved)); }
  Status readiness() const override;

  Status read_policy();
  Status take_policy(const std::string& text);
  autoscaler::RoundTrips::Measure measuring();
  Status open_back_end();
  Status open_driver();
  Status listen();
  void add_gauges();

  const AutoscalerServiceOptions& options_;
  std::unique_ptr<agent::StateFile> identity_lock_;
  std::unique_ptr<net::Client> driver_;  // of the back end driver
  std::unique_ptr<autoscaler::NodeMaker> nodes_;
  std::optional<agent::LiqoHomeReader> liqo_;  // of the back end liqo
  std::optional<autoscaler::ClusterAudience> audience_;
  std::optional<autoscaler::Autoscaler> autoscaler_;
  std::optional<cluster_autoscaler::CloudProvider> door_;
  std::optional<autoscaler::ExplainDoor> explaining_door_;
  std::optional<cluster_autoscaler::Expander> expander_;
  GrpcPort port_;
  GrpcPort expander_port_;
  agent::Reload policy_file_;
  rank::Policy policy_;
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

Status AutoscalerService::prepare() {
  SPILLWAY_TRY(read_policy());
  SPILLWAY_TRY(open_cluster());
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
  SPILLWAY_TRY(open_back_end());
  autoscaler::AutoscalerOptions options{ClusterId(credentials_.name),
                                        policy_,
                                        options_.best_of_class,
                                        &*audience_,
                                        options_.unready_after,
                                        measuring(),
                                        signatory_,
                                        papers_.get()};
  if (liqo_) options.fabric_of = liqo_->fabric_of();
  autoscaler_.emplace(loop_, random_, *client_, state, *nodes_, log_, std::move(options));
  SPILLWAY_TRY(autoscaler_->start());
  SPILLWAY_TRY(listen());
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

Status AutoscalerService::open_back_end() {
  if (options_.back_end == autoscaler::k_fabric_back_end) {
    nodes_ = std::make_unique<autoscaler::FabricNodes>(cluster_->api(), log_);
    liqo_.emplace(cluster_->api(), random_, log_);
    liqo_->start();
    return {};
  }
  if (options_.back_end == autoscaler::k_driver_back_end) return open_driver();
  auto player = autoscaler::find_player(options_.back_end);
  if (!player) return tl::unexpected(std::move(player).error());
  nodes_ = std::make_unique<autoscaler::PlayedNodes>(
      cluster_->api(), log_, *player, credentials_.federation + "/" + credentials_.name);
  return {};
}

Status AutoscalerService::open_driver() {
  auto caller = agent::load_credentials(options_.driver_dir);
  if (!caller) {
    Error error = caller.error();
    if (error.code == Code::not_found) {
      error.next = "name a folder that `spillway driver caller` has made, with --driver-dir";
    }
    return tl::unexpected(std::move(error));
  }
  net::ClientOptions options;
  options.authorities_pem = caller->authorities_pem;
  options.identity = caller->tls;
  auto client = connect_to(poll_, options_.driver.empty() ? caller->broker : options_.driver,
                           std::move(options));
  if (!client) return tl::unexpected(client.error());
  driver_ = std::move(*client);
  nodes_ = std::make_unique<autoscaler::DriverNodes>(
      loop_, random_, *driver_, log_,
      options_.driver_cluster.empty() ? credentials_.name : options_.driver_cluster,
      credentials_.federation + "/" + credentials_.name);
  return {};
}

Status AutoscalerService::listen() {
  door_.emplace(*autoscaler_);
  explaining_door_.emplace(*door_,
                           [this](const std::string& name) { return autoscaler_->explain(name); });
  SPILLWAY_TRY(port_.listen(*explaining_door_));
  if (options_.expander.empty()) return {};
  expander_.emplace(*autoscaler_);
  return expander_port_.listen(*expander_);
}

void AutoscalerService::read_again() {
  if (is_started()) port_.look_now();
  if (is_started() && !options_.expander.empty()) expander_port_.look_now();
  if (!options_.policy.empty()) policy_file_.look_now();
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

// Nodes say whose they are by the identity: one with another state would take those of this one for
// strays, and remove them. Where nothing can be written, the state's own lock has to do.
Status AutoscalerService::claim_folder() {
  auto lock = agent::StateFile::open(options_.identity, autoscaler::ledger_state());
  if (lock) identity_lock_ = std::move(*lock);
  if (lock || lock.error().code != Code::conflict) return {};
  Error error = std::move(lock).error();
  error.next = "stop that one: two of one identity would remove each other's nodes";
  return tl::unexpected(std::move(error));
}

}  // namespace

Status run_autoscaler(const AutoscalerServiceOptions& options) {
  return AutoscalerService(options).run();
}

}  // namespace spillway::services
