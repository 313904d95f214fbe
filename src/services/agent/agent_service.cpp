#include "services/agent/agent_service.h"

#include <optional>
#include <utility>

#include "kube/small_file.h"
#include "net/server.h"
#include "services/agent/agent.h"
#include "services/agent/agent_policy.h"
#include "services/agent/live_supply.h"
#include "services/agent/member_process.h"
#include "services/agent/reload.h"
#include "services/driver/fabric_desk.h"
#include "services/driver/face.h"
#include "services/fabric/dial.h"
#include "services/fabric/holder.h"
#include "services/fabric/liqo_home_reader.h"
#include "services/host_port.h"

namespace spillway::services {
namespace {

class AgentService final : public MemberProcess {
 public:
  explicit AgentService(const AgentServiceOptions& options)
      : MemberProcess({options, "agent", agent::agent_state()}), options_(options) {
    add_gauges();
    if (options.has_fabric) add_fabric_gauges();
  }

 private:
  Status prepare() override;
  Status start(agent::StateStore& state) override;
  bool is_started() const override { return agent_.has_value(); }
  void credentials_changed() override { agent_->credentials_changed(); }
  void read_again() override;
  void stop(std::function<void()> when_saved) override;
  Status readiness() const override;

  Status start_agent(agent::StateStore& state);
  Result<std::optional<agent::Supply>> first_supply(agent::StateStore& state);
  Result<agent::AgentPolicy> first_policy();
  Status take_policy(agent::AgentPolicy next);
  Status start_live(supply::OfferingPolicy policy);
  Status start_with(std::optional<agent::Supply> supply);
  Status open_fabric();
  std::string holder_of_fabric() const;
  void hold_fabric();
  void begin_fabric();
  Status show_units();
  void add_gauges();
  void add_fabric_gauges();

  const AgentServiceOptions& options_;
  std::optional<agent::LiqoHomeReader> liqo_;  // none: contracts stay on paper
  std::optional<agent::Agent> agent_;
  std::optional<agent::FabricHolder> holder_;   // with it: of all that there are in the cluster
  std::optional<agent::Reload> reload_;         // of the supply
  std::optional<agent::Reload> policy_reload_;  //
  fabric::OffloadPolicy offload_;
  fabric::GrantPolicy grant_;
  agent::HandshakeOptions handshake_ = options_.handshake;
  std::optional<agent::LiveSupply> live_;
  std::optional<driver::FabricDesk> desk_;  // of --driver-listen
  std::optional<driver::Face> face_;        //
  std::unique_ptr<net::Server> server_;     //
  std::optional<agent::GuardPort> guard_;   // of --fabric-webhook-listen
};

// Whether or not it is this process that speaks for the cluster.
Status AgentService::prepare() {
  if (options_.webhook.listen.empty()) return {};
  const auto access = kube::read_access(options_.kubeconfig, options_.context);
  if (!access) return tl::unexpected(access.error());
  guard_.emplace(poll_, loop_, random_, log_, metrics_, options_.webhook);
  return guard_->start(*access);
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

// What the file says now; and from now on, whenever it changes.
Result<agent::AgentPolicy> AgentService::first_policy() {
  const auto parse = [this](const std::string& text) {
    return agent::agent_policy_from_yaml(text, options_.policy);
  };
  policy_reload_.emplace(loop_, log_, "policy", options_.policy,
                         [this, parse](const std::string& text) -> Status {
                           auto next = parse(text);
                           return next ? take_policy(std::move(*next))
                                       : Status(tl::unexpected(std::move(next).error()));
                         });
  return policy_reload_->read().and_then(parse);
}

Status AgentService::take_policy(agent::AgentPolicy next) {
  if (next.offering.has_value() != live_.has_value()) {
    return fail(Code::conflict, options_.policy,
                live_ ? "it speaks of nothing that is for sale any more"
                      : "it speaks of what is for sale, and did not when the agent was started",
                "start the agent again, and it does as the file says");
  }
  if (live_) live_->set_policy(std::move(*next.offering));
  offload_ = std::move(next.offload);
  grant_ = std::move(next.grant);
  if (agent_->fabric() == nullptr) return {};
  agent_->fabric()->set_offload(offload_);
  agent_->fabric()->set_grant(grant_);
  return {};
}

// The last supply goes on until the cluster is known.
Status AgentService::start_live(supply::OfferingPolicy policy) {
  SPILLWAY_TRY(open_cluster());
  live_.emplace(cluster_->api(), log_, ClusterId(credentials_.name), std::move(policy),
                agent::LiveSupplyCalls{
                    [this](agent::Supply next) { agent_->set_supply(std::move(next)); },
                    [this] { return agent_->state().supply; }, [this] { return agent_->sold(); }});
  agent_->when_sold_changes([this] { live_->sold_changed(); });
  live_->start();
  return {};
}

Status AgentService::open_fabric() {
  if (!signatory_) {
    return fail(Code::conflict, "--fabric liqo", "this member's key cannot sign contracts",
                "join anew: an identity of today has a key that can");
  }
  SPILLWAY_TRY(open_cluster());
  liqo_.emplace(cluster_->api(), random_, log_,
                [this](const agent::LiqoHome& home) { agent_->know_liqo(home); });
  if (options_.handshake.server.empty()) return {};
  const auto access = kube::read_access(options_.kubeconfig, options_.context);
  if (!access) return tl::unexpected(access.error());
  handshake_.authority = access->authorities_pem;
  if (!handshake_.authority.empty()) return {};
  return fail(Code::invalid, "--fabric-handshake-server",
              "the kubeconfig names no authority of the API server, so buyers could not know it",
              "name one in --kubeconfig: certificate-authority-data");
}

Status AgentService::start_with(std::optional<agent::Supply> supply) {
  SPILLWAY_TRY(agent_->start(std::move(supply)));
  if (!liqo_) return {};
  if (!options_.driver_listen.empty()) SPILLWAY_TRY(show_units());
  hold_fabric();
  liqo_->start();
  return {};
}

// Also while the fabric is another's: then there is nothing to see.
Status AgentService::show_units() {
  const auto at = parse_host_port(options_.driver_listen, "--driver-listen");
  if (!at) return tl::unexpected(at.error());
  net::TlsIdentity identity;
  std::string authorities;
  for (const auto& [file, into] :
       {std::pair(&options_.driver_certificate, &identity.certificate_chain_pem),
        std::pair(&options_.driver_key, &identity.key_pem),
        std::pair(&options_.driver_authorities, &authorities)}) {
    auto text = kube::read_small_file(*file);
    if (!text) return tl::unexpected(text.error());
    *into = std::move(*text);
  }
  desk_.emplace(loop_, agent_->dealings());
  driver::Callers callers;
  callers.add_everyone({"caller", false, {driver::k_any_cluster}, {driver::k_any_cluster}});
  face_.emplace(loop_, *desk_, std::move(callers), log_, metrics_);
  net::ServerOptions options;
  options.address = at->host;
  options.port = at->port;
  options.limits.connections = 1000;
  auto server = net::Server::listen(poll_, options, identity, authorities, *face_);
  if (!server) return tl::unexpected(server.error());
  server_ = std::move(*server);
  log_.write(Level::info, "units are shown", {{"port", std::to_string(server_->port())}});
  return {};
}

// The home of an agent is one process's alone, in the cluster by its Lease, in a folder by its
// lock.
std::string AgentService::holder_of_fabric() const {
  if (options_.in_cluster) {
    return fmt::format("agent {}/{}", cluster_->space(), options_.in_cluster->lease);
  }
  return agent::folder_holder("agent " + credentials_.name, options_.state);
}

void AgentService::hold_fabric() {
  holder_.emplace(cluster_->api(), log_, holder_of_fabric(), "agent " + credentials_.name,
                  agent::FabricHolder::Calls{[this] { begin_fabric(); },
                                             [this] {
                                               if (agent_->fabric() != nullptr)
                                                 agent_->fabric()->set_holding(false);
                                             },
                                             [this] {
                                               if (desk_) desk_->detach();
                                               agent_->stop_fabric();
                                             }});
  holder_->start();
}

void AgentService::begin_fabric() {
  if (agent_->fabric() != nullptr) return agent_->fabric()->set_holding(true);
  agent::FabricOptions fabric{options_.api_servers, options_.node_template, options_.warm};
  fabric.offload = offload_;
  fabric.grant = grant_;
  if (options_.in_cluster) fabric.own_space = cluster_->space();
  fabric.pulse.dial = [this](const kube::Access& access) {
    return agent::dial_provider(poll_, access);
  };
  fabric.doubt = options_.doubt;
  fabric.skew = options_.skew;
  fabric.network = options_.network;
  fabric.handshake = handshake_;
  agent_->start_fabric(cluster_->api(), std::move(fabric));
  if (desk_) desk_->attach(*agent_->fabric());
  if (liqo_->home()) agent_->know_liqo(*liqo_->home());
}

void AgentService::stop(std::function<void()> when_saved) {
  server_.reset();
  if (desk_) desk_->detach();
  const bool is_empty = agent_->state().fabric.contracts.empty();
  agent_->stop([this, is_empty, then = std::move(when_saved)] {
    holder_ ? holder_->release(is_empty, then) : then();
  });
}

Status AgentService::start_agent(agent::StateStore& state) {
  if (options_.has_fabric) SPILLWAY_TRY(open_fabric());
  agent::AgentOptions options{ClusterId(credentials_.name), options_.pool_lease,
                              options_.renew_contracts, signatory_, papers_.get()};
  if (liqo_) options.fabric_of = liqo_->fabric_of();
  agent_.emplace(loop_, random_, *client_, state, log_, std::move(options));
  bool is_live = false;
  if (!options_.policy.empty()) {
    auto policy = first_policy();
    if (!policy) return tl::unexpected(std::move(policy).error());
    policy_reload_->start();
    offload_ = std::move(policy->offload);
    grant_ = std::move(policy->grant);
    is_live = policy->offering.has_value();
    if (is_live) SPILLWAY_TRY(start_live(std::move(*policy->offering)));
  }
  if (is_live) return start_with(std::nullopt);
  if (options_.supply.empty()) return start_with(agent::Supply{});
  auto supply = first_supply(state);
  if (!supply) return tl::unexpected(std::move(supply).error());
  return start_with(std::move(*supply));
}

Status AgentService::start(agent::StateStore& state) {
  SPILLWAY_TRY(start_agent(state));
  log_.write(Level::info, "agent started", {{"cluster", credentials_.name}, {"broker", broker_}});
  return {};
}

void AgentService::read_again() {
  if (reload_) reload_->look_now();
  if (policy_reload_) policy_reload_->look_now();
}

// Who waits for the Lease is ready: it does what it is for. The broker's silence is no reason to be
// taken for dead, either; it is in the metrics.
Status AgentService::readiness() const {
  if (guard_ && !guard_->is_listening()) {
    return fail(Code::unavailable, "agent", "its webhook has no certificate yet",
                "try again in a second");
  }
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

void AgentService::add_fabric_gauges() {
  using fabric::UnitStep;
  const auto gauge = [this](const std::string& name, std::string_view help, auto read) {
    metrics_.gauge(name, help, [this, read] {
      const agent::Fabric* fabric = agent_ ? std::as_const(*agent_).fabric() : nullptr;
      return fabric != nullptr ? static_cast<double>(read(fabric->status())) : 0.0;
    });
  };
  using agent::FabricStatus;
  metrics_.gauge("spillway_fabric_holding", "1: of all fabrics in the cluster it is this one",
                 [this] { return holder_ && holder_->is_held() ? 1.0 : 0.0; });
  gauge("spillway_fabric_seeing", "1: what Liqo has in the cluster is followed",
        [](const FabricStatus& status) { return status.is_seeing ? 1 : 0; });
  gauge("spillway_fabric_peerings", "With providers and with buyers",
        [](const FabricStatus& status) { return status.peers; });
  gauge("spillway_fabric_troubles", "That will not come right by themselves",
        [](const FabricStatus& status) { return status.troubles.size(); });
  gauge("spillway_fabric_messages_refused_total", "Of the handshake, which no contract allows",
        [](const FabricStatus& status) { return status.refused; });
  const auto providers = [](fabric::Life life) {
    return [life](const FabricStatus& status) {
      const auto found = status.providers.find(life);
      return found == status.providers.end() ? int64_t{0} : found->second;
    };
  };
  gauge("spillway_fabric_providers_doubted", "Bought from, and not answering",
        providers(fabric::Life::doubted));
  gauge("spillway_fabric_providers_dead", "Bought from; their work begins elsewhere",
        providers(fabric::Life::dead));
  if (options_.network.mode != agent::NetworkOptions::Mode::off) {
    for (int step = 1; step <= static_cast<int>(fabric::NetworkStep::connected); ++step) {
      const auto at = static_cast<fabric::NetworkStep>(step);
      gauge(fmt::format("spillway_fabric_networks_{}", to_text(at)),
            "Networks with peers that are so far", [at](const FabricStatus& status) {
              const auto found = status.networks.find(at);
              return found == status.networks.end() ? int64_t{0} : found->second;
            });
    }
  }
  for (int step = 0; step <= static_cast<int>(UnitStep::gone); ++step) {
    const auto at = static_cast<UnitStep>(step);
    const auto count = [at](const std::map<UnitStep, int64_t>& units) {
      const auto found = units.find(at);
      return found == units.end() ? int64_t{0} : found->second;
    };
    gauge(fmt::format("spillway_fabric_units_bought_{}", to_text(at)), "Units that are so far",
          [count](const FabricStatus& status) { return count(status.bought); });
    gauge(fmt::format("spillway_fabric_units_sold_{}", to_text(at)), "Units that are so far",
          [count](const FabricStatus& status) { return count(status.sold); });
  }
}

}  // namespace

Status run_agent(const AgentServiceOptions& options) { return AgentService(options).run(); }

}  // namespace spillway::services
