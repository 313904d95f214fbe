#include "services/agent/agent_service.h"

#include <optional>
#include <utility>

#include "services/agent/agent.h"
#include "services/agent/live_supply.h"
#include "services/agent/member_process.h"
#include "services/agent/reload.h"

namespace spillway::services {
namespace {

class AgentService final : public MemberProcess {
 public:
  explicit AgentService(const AgentServiceOptions& options)
      : MemberProcess({options, "agent", agent::agent_state()}), options_(options) {
    add_gauges();
  }

 private:
  Status start(agent::StateStore& state) override;
  bool is_started() const override { return agent_.has_value(); }
  void credentials_changed() override { agent_->credentials_changed(); }
  void read_again() override;
  void stop(std::function<void()> when_saved) override { agent_->stop(std::move(when_saved)); }
  Status readiness() const override;

  Status start_agent(agent::StateStore& state);
  Result<std::optional<agent::Supply>> first_supply(agent::StateStore& state);
  Status start_live();
  void add_gauges();

  const AgentServiceOptions& options_;
  std::optional<agent::Agent> agent_;
  std::optional<agent::Reload> reload_;
  std::optional<agent::LiveSupply> live_;
};

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
                                     options_.renew_contracts, signatory_, papers_.get()});
  if (!options_.policy.empty()) {
    SPILLWAY_TRY(start_live());
    return agent_->start(std::nullopt);
  }
  if (options_.supply.empty()) return agent_->start(agent::Supply{});
  auto supply = first_supply(state);
  if (!supply) return tl::unexpected(std::move(supply).error());
  return agent_->start(std::move(*supply));
}

Status AgentService::start(agent::StateStore& state) {
  SPILLWAY_TRY(start_agent(state));
  log_.write(Level::info, "agent started", {{"cluster", credentials_.name}, {"broker", broker_}});
  return {};
}

void AgentService::read_again() {
  if (reload_) reload_->look_now();
}

// Who waits for the Lease is ready: it does what it is for. The broker's silence is no reason to be
// taken for dead, either; it is in the metrics.
Status AgentService::readiness() const {
  if (agent_ || waits_for_another()) return {};
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
  gauge("spillway_agent_broker_heard", "When the broker last said something, seconds since 1970",
        [](const AgentStatus& status) { return status.heard.ms / 1000; });
  gauge("spillway_agent_pools", "On sale",
        [](const AgentStatus& status) { return status.pools_published; });
  gauge("spillway_agent_offers", "On sale",
        [](const AgentStatus& status) { return status.offers_published; });
  gauge("spillway_agent_contracts_sold", "Live",
        [](const AgentStatus& status) { return status.contracts_sold; });
  gauge("spillway_agent_contracts_bought", "Live",
        [](const AgentStatus& status) { return status.contracts_bought; });
  gauge("spillway_agent_agreements_signed_total", "Contracts that were countersigned",
        [](const AgentStatus& status) { return status.agreements_signed; });
  gauge("spillway_agent_agreements_refused_total", "Contracts that were not, for a reason",
        [](const AgentStatus& status) { return status.agreements_refused; });
  gauge("spillway_agent_contracts_disputed", "Of which the broker says what nobody signed",
        [](const AgentStatus& status) { return status.agreements_disputed; });
  gauge("spillway_agent_orphans_found_total",
        "Contracts that the broker does not know, or says nothing of",
        [](const AgentStatus& status) { return status.orphans_found; });
  gauge("spillway_agent_orphans_ended_total", "Of these, ended here at their stated point",
        [](const AgentStatus& status) { return status.orphans_ended; });
  gauge("spillway_agent_messages_sent_total", "Messages to other members that the broker has",
        [](const AgentStatus& status) { return status.messages.sent; });
  gauge("spillway_agent_messages_received_total", "Messages of other members that were believed",
        [](const AgentStatus& status) { return status.messages.received; });
  gauge("spillway_agent_messages_refused_total", "Messages that were altered, replayed or invented",
        [](const AgentStatus& status) { return status.messages.all_refused(); });
  gauge("spillway_agent_messages_lost_total", "Messages that expired on their way, either way",
        [](const AgentStatus& status) { return status.messages.dropped + status.messages.missed; });
}

}  // namespace

Status run_agent(const AgentServiceOptions& options) { return AgentService(options).run(); }

}  // namespace spillway::services
