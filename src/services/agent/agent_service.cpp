#include "services/agent/agent_service.h"

#include <csignal>
#include <memory>
#include <optional>

#include <sys/signalfd.h>
#include <unistd.h>

#include "net/client.h"
#include "services/agent/agent.h"
#include "services/agent/credentials.h"
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

Status AgentService::start_agent() {
  const ClusterId cluster(credentials_.name);
  agent_.emplace(loop_, random_, *client_, *state_, log_,
                 agent::AgentOptions{cluster, options_.pool_lease, options_.renew_contracts});
  std::optional<agent::Supply> supply = agent::Supply{};
  if (!options_.supply.empty()) {
    reload_.emplace(loop_, log_, options_.supply, cluster,
                    [this](agent::Supply next) { agent_->set_supply(std::move(next)); });
    auto read = reload_->read();
    supply.reset();
    if (read) {
      supply = std::move(*read);
    } else {
      const auto known = state_->load();
      if (!known || known->empty()) return tl::unexpected(read.error());
      log_.write(Level::error, "supply not taken; the last good one holds",
                 {{"file", options_.supply}, {"why", read.error().message()}});
    }
    reload_->start();
  }
  return agent_->start(std::move(supply));
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
