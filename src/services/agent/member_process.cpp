#include "services/agent/member_process.h"

#include <csignal>
#include <utility>

#include <unistd.h>

#include "services/agent/cluster_papers.h"
#include "services/agent/folder_papers.h"

namespace spillway::services {
namespace {

constexpr Duration k_longest_goodbye = seconds(5);

}  // namespace

MemberProcess::MemberProcess(MemberProcessOptions options)
    : process_options_(std::move(options)),
      log_(STDERR_FILENO, process_options_.log_level, process_options_.name),
      loop_(poll_),
      operations_({[this] { return readiness(); }, [this] { return metrics_.text(); }}) {}

Status MemberProcess::run() {
  const std::string& operations = process_options_.operations;
  if (signals_.fd() < 0) return fail(Code::internal, "signals", "signalfd failed", "try again");
  if (!operations.empty()) SPILLWAY_TRY(operations_.listen(poll_, operations));
  SPILLWAY_TRY(prepare());
  SPILLWAY_TRY(process_options_.in_cluster ? begin_in_cluster() : begin_in_folder());
  poll_.watch(signals_.fd(), true, false, [this](net::Ready) { on_signal(); });
  poll_.run();
  poll_.unwatch(signals_.fd());
  return outcome_;
}

Status MemberProcess::begin_in_folder() {
  auto credentials = agent::load_credentials(process_options_.identity);
  if (!credentials) return tl::unexpected(credentials.error());
  SPILLWAY_TRY(agent::check_is_cluster(*credentials, process_options_.identity));
  SPILLWAY_TRY(claim_folder());
  auto state = agent::StateFile::open(process_options_.state, process_options_.kind);
  if (!state) return tl::unexpected(state.error());
  state_file_ = std::move(*state);
  if (process_options_.forget_state) SPILLWAY_TRY(state_file_->forget());
  folder_.emplace(process_options_.identity);
  SPILLWAY_TRY(begin(std::move(*credentials), *state_file_));
  start_renewal(*folder_);
  return {};
}

agent::ClusterHomeCalls MemberProcess::home_calls() {
  agent::ClusterHomeCalls calls;
  calls.on_home = [this](const agent::Credentials& credentials) {
    Status begun = agent::check_is_cluster(credentials, process_options_.in_cluster->identity);
    if (begun) begun = begin(credentials, home_->state());
    if (!begun) return end(begun);
    is_kept_elsewhere() ? follow_identity() : start_renewal(home_->identity());
  };
  calls.on_lost = [this](const Error& error) { end(tl::unexpected(error)); };
  calls.connect =
      [this](const std::string& url,
             const std::string& pinned_authority) -> Result<std::unique_ptr<net::Channel>> {
    net::ClientOptions options;
    options.pinned_authority = pinned_authority;
    return connect_to(poll_, url, std::move(options));
  };
  return calls;
}

Status MemberProcess::begin_in_cluster() {
  SPILLWAY_TRY(open_cluster());
  const InCluster& names = *process_options_.in_cluster;
  const std::string& space = cluster_->space();
  home_.emplace(cluster_->api(), log_,
                agent::ClusterHomeOptions{{space, names.identity},
                                          {space, names.state},
                                          {space, names.lease},
                                          agent::holder_name(random_),
                                          names.join,
                                          names.token_file,
                                          process_options_.kind,
                                          is_kept_elsewhere()},
                home_calls());
  home_->start();
  return {};
}

Status MemberProcess::open_cluster() {
  if (cluster_ != nullptr) return {};
  const auto access = kube::read_access(process_options_.kubeconfig, process_options_.context);
  if (!access) return tl::unexpected(access.error());
  auto cluster = kube::Session::open(poll_, loop_, random_, *access);
  if (!cluster) return tl::unexpected(std::move(cluster).error());
  cluster_ = std::move(*cluster);
  return {};
}

Status MemberProcess::begin(agent::Credentials credentials, agent::StateStore& state) {
  credentials_ = std::move(credentials);
  SPILLWAY_TRY(connect());
  open_papers();
  return start(state);
}

Status MemberProcess::connect() {
  broker_ = process_options_.broker.empty() ? credentials_.broker : process_options_.broker;
  net::ClientOptions options;
  options.authorities_pem = credentials_.authorities_pem;
  options.identity = credentials_.tls;
  auto client = connect_to(poll_, broker_, std::move(options));
  if (!client) return tl::unexpected(client.error());
  client_ = std::move(*client);
  return {};
}

// Who cannot sign goes on without: its contracts are as those of before there were signatures.
void MemberProcess::open_papers() {
  auto signatory = agent::Signatory::of(credentials_);
  if (signatory) {
    signatory_ = std::move(*signatory);
  } else {
    log_.write(Level::warning, "contracts stay unsigned", {{"why", signatory.error().message()}});
  }
  if (home_) {
    const InCluster& names = *process_options_.in_cluster;
    papers_ = std::make_unique<agent::ClusterPapers>(
        cluster_->api(), cluster_->space(), is_kept_elsewhere() ? names.keeper : names.lease);
  } else {
    papers_ = std::make_unique<agent::FolderPapers>(process_options_.identity);
  }
  papers_->on_set_aside = [this](const agent::SetAside& aside) {
    log_.write(Level::warning, "damaged paper set aside",
               {{"paper", aside.paper}, {"why", aside.why}, {"now_at", aside.now_at}});
  };
}

void MemberProcess::start_renewal(agent::IdentityStore& identity) {
  renewal_.emplace(loop_, random_, *client_, log_, identity, credentials_,
                   [this](const agent::Credentials& renewed) { use(renewed); });
  renewal_->start();
}

bool MemberProcess::is_kept_elsewhere() const {
  return process_options_.in_cluster && !process_options_.in_cluster->keeper.empty();
}

void MemberProcess::follow_identity() {
  home_->shared_identity().follow(
      credentials_, [this](const agent::Credentials& renewed) { use(renewed); },
      [this](const Error& replaced) { end(tl::unexpected(replaced)); });
}

void MemberProcess::use(const agent::Credentials& renewed) {
  credentials_ = renewed;
  agent::take_into_use(renewed, *client_, log_);
  credentials_changed();
}

void MemberProcess::on_signal() {
  while (const int signal = signals_.next()) {
    if (signal == SIGHUP) {
      read_again();
      continue;
    }
    log_.write(Level::info, "ending", {{"signal", std::to_string(signal)}});
    poll_.after(k_longest_goodbye, [this] { poll_.stop(); });
    if (!is_started()) return leave();
    stop([this] { leave(); });
  }
}

// All is saved: whoever waits may take over.
void MemberProcess::leave() {
  if (!home_) return poll_.stop();
  home_->leave([this] { poll_.stop(); });
}

// At once: what is under way is not waited for, another may be at it.
void MemberProcess::end(const Status& outcome) {
  outcome_ = outcome;
  log_.write(Level::error, "ending at once", {{"why", outcome.error().message()}});
  poll_.stop();
}

bool MemberProcess::waits_for_another() const {
  return home_ && !home_->is_holder() && !home_->holder().empty();
}

}  // namespace spillway::services
