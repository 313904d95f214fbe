// MemberProcess: what the programs of a member have in common. A home for identity and state, in
// folders or in the cluster; the connection to the broker, with a certificate that renews itself;
// probes and metrics; signals and the end. What it is for, the derived class knows.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/random.h"
#include "kube/session.h"
#include "services/agent/cluster_home.h"
#include "services/agent/credentials.h"
#include "services/agent/papers.h"
#include "services/agent/renewal_timer.h"
#include "services/agent/signatory.h"
#include "services/agent/state_file.h"
#include "services/connect.h"
#include "services/log.h"
#include "services/member_home.h"
#include "services/metrics.h"
#include "services/operations_port.h"
#include "services/service_loop.h"
#include "services/signals.h"

namespace spillway::services {

struct MemberProcessOptions : MemberHome {
  std::string name;       // in the log: "agent"
  agent::StateKind kind;  // of the state
};

class MemberProcess {
 public:
  MemberProcess(const MemberProcess&) = delete;
  MemberProcess& operator=(const MemberProcess&) = delete;
  virtual ~MemberProcess() = default;

  // Until SIGTERM or SIGINT, or until the home in the cluster is lost to another.
  Status run();

 protected:
  explicit MemberProcess(MemberProcessOptions options);

  // ---- what the derived class does, in this order ----
  virtual Status prepare() { return {}; }              // before it is at home anywhere
  virtual Status claim_folder() { return {}; }         // of the identity
  virtual Status start(agent::StateStore& state) = 0;  // credentials_ and client_ are there
  virtual bool is_started() const = 0;
  virtual void credentials_changed() = 0;
  virtual void read_again() = 0;                            // files that people edit
  virtual void stop(std::function<void()> when_saved) = 0;  // of one that is started
  virtual Status readiness() const = 0;

  Status open_cluster();  // once; for all calls
  bool waits_for_another() const;

  const MemberProcessOptions process_options_;
  agent::Credentials credentials_;
  std::string broker_;  // as it is named for this run; the identity keeps its own
  LineLog log_;
  Signals signals_;
  host::SystemRandom random_;
  net::Poll poll_;
  ServiceLoop loop_;
  Metrics metrics_;
  std::unique_ptr<kube::Session> cluster_;
  std::unique_ptr<net::Client> client_;
  std::optional<agent::Signatory> signatory_;  // none: its key cannot sign
  std::unique_ptr<agent::Papers> papers_;

 private:
  Status begin_in_folder();
  Status begin_in_cluster();
  agent::ClusterHomeCalls home_calls();
  Status begin(agent::Credentials credentials, agent::StateStore& state);
  Status connect();
  void open_papers();
  bool is_kept_elsewhere() const;
  void start_renewal(agent::IdentityStore& identity);
  void follow_identity();
  void use(const agent::Credentials& renewed);
  void on_signal();
  void leave();
  void end(const Status& outcome);

  OperationsPort operations_;
  std::unique_ptr<agent::StateFile> state_file_;  // one of these two homes
  std::optional<agent::FolderIdentity> folder_;   //
  std::optional<agent::ClusterHome> home_;
  std::optional<agent::RenewalTimer> renewal_;
  Status outcome_;
};

}  // namespace spillway::services
