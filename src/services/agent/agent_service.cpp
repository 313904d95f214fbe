#include "services/agent/agent_service.h"

#include <csignal>
#include <memory>
#include <optional>

#include <sys/signalfd.h>
#include <unistd.h>

#include "kube/session.h"
#include "net/client.h"
#include "services/agent/agent.h"
#include "services/agent/credentials.h"
#include "services/agent/live_supply.h"
#include "services/agent/reload.h"
#include "services/agent/renewal_timer.h"
#include "services/agent/state_file.h"
#include "services/service_loop.h"

namespace spillway::services {
namespace {

constexpr Duration k_longest_goodbye = seconds(5);

// Signals as a descriptor, from here to the end of its life.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    if (fd_ >= 0) ::close(fd_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  int fd() const { return fd_; }
  int next() {  // 0: none
    signalfd_siginfo info{};
    if (::read(fd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
    return static_cast<int>(info.ssi_signo);
  }

 private:
  sigset_t before_{};
  int fd_ = -1;
};

// All that runs; in the order in which each needs those before it.
class AgentService {
 public:
  AgentService(const AgentServiceOptions& options, agent::Credentials credentials,
               std::unique_ptr<agent::StateFile> state)
      : options_(options),
        credentials_(std::move(credentials)),
        log_(STDERR_FILENO, options.log_level, "agent"),
        state_(std::move(state)),
        loop_(poll_) {}

  Status run();

 private:
  Status connect();
  Status start_agent();
  Result<std::optional<agent::Supply>> first_supply();
  Status start_live();
  void start_renewal();
  void on_signal();

  const AgentServiceOptions& options_;
  agent::Credentials credentials_;
  LineLog log_;
  std::unique_ptr<agent::StateFile> state_;
  Signals signals_;
  host::SystemRandom random_;
  net::Poll poll_;
  ServiceLoop loop_;
  std::unique_ptr<net::Client> client_;
  std::optional<agent::Agent> agent_;
  std::optional<agent::Reload> reload_;
  std::unique_ptr<kube::Session> cluster_;
  std::optional<agent::LiveSupply> live_;
  std::optional<agent::RenewalTimer> renewal_;
};

Status AgentService::connect() {
  const auto url = net::parse_url(credentials_.broker);
  if (!url) return tl::unexpected(url.error());
  net::ClientOptions options;
  options.host = url->host;
  options.port = url->port;
  options.authorities_pem = credentials_.authorities_pem;
  options.identity = credentials_.tls;
  auto client = net::Client::create(poll_, std::move(options));
  if (!client) return tl::unexpected(client.error());
  client_ = std::move(*client);
  return {};
}

// What the file says; nothing when it cannot be read and there is a state to go on with.
Result<std::optional<agent::Supply>> AgentService::first_supply() {
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
  const auto known = state_->load();
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
  const auto access = kube::read_access(options_.kubeconfig, options_.context);
  if (!access) return tl::unexpected(access.error());
  auto cluster = kube::Session::open(poll_, loop_, random_, *access);
  if (!cluster) return tl::unexpected(std::move(cluster).error());
  cluster_ = std::move(*cluster);
  live_.emplace(
      cluster_->api(), log_, ClusterId(credentials_.name), std::move(*policy),
      agent::LiveSupplyCalls{[this](agent::Supply next) { agent_->set_supply(std::move(next)); },
                             [this] { return agent_->carrying(); }});
  live_->start();
  reload_->start();
  return {};
}

Status AgentService::start_agent() {
  agent_.emplace(loop_, random_, *client_, *state_, log_,
                 agent::AgentOptions{ClusterId(credentials_.name), options_.pool_lease,
                                     options_.renew_contracts});
  if (!options_.policy.empty()) {
    SPILLWAY_TRY(start_live());
    return agent_->start(std::nullopt);
  }
  if (options_.supply.empty()) return agent_->start(agent::Supply{});
  auto supply = first_supply();
  if (!supply) return tl::unexpected(std::move(supply).error());
  return agent_->start(std::move(*supply));
}

void AgentService::start_renewal() {
  renewal_.emplace(loop_, random_, *client_, log_, options_.identity, credentials_,
                   [this](const agent::Credentials& renewed) {
                     credentials_ = renewed;
                     auto status = client_->set_authorities(renewed.authorities_pem);
                     if (status) status = client_->set_identity(renewed.tls);
                     if (!status) {
                       log_.write(Level::error, "certificate not taken into use",
                                  {{"why", status.error().message()}});
                     }
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
    agent_->stop([this] { poll_.stop(); });
    poll_.after(k_longest_goodbye, [this] { poll_.stop(); });
  }
}

Status AgentService::run() {
  if (signals_.fd() < 0) return fail(Code::internal, "signals", "signalfd failed", "try again");
  SPILLWAY_TRY(connect());
  SPILLWAY_TRY(start_agent());
  start_renewal();
  poll_.watch(signals_.fd(), true, false, [this](net::Ready) { on_signal(); });
  log_.write(Level::info, "agent started",
             {{"cluster", credentials_.name}, {"broker", credentials_.broker}});
  poll_.run();
  poll_.unwatch(signals_.fd());
  return {};
}

}  // namespace

Status run_agent(const AgentServiceOptions& options) {
  auto credentials = agent::load_credentials(options.identity);
  if (!credentials) return tl::unexpected(credentials.error());
  auto state = agent::StateFile::open(options.state);
  if (!state) return tl::unexpected(state.error());
  if (options.forget_state) SPILLWAY_TRY((*state)->forget());
  AgentService service(options, std::move(*credentials), std::move(*state));
  return service.run();
}

}  // namespace spillway::services
