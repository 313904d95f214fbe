// The driver as a program: its file, its clusters, its port, its signals.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/random.h"
#include "kube/session.h"
#include "net/server.h"
#include "services/agent/state_file.h"
#include "services/broker/authority_issuer.h"
#include "services/driver/config.h"
#include "services/driver/driver.h"
#include "services/driver/face.h"
#include "services/log.h"
#include "services/metrics.h"
#include "services/operations_port.h"

namespace spillway::driver {

class DriverProcess {
 public:
  // `folder`: with driver.yaml, authority/ and state/. Conflict: another driver has the state.
  static Result<std::unique_ptr<DriverProcess>> start(net::Poll& poll, host::Loop& loop,
                                                      const std::string& folder,
                                                      DriverConfig config, services::Log& log);

  uint16_t port() const { return server_->port(); }
  const Driver& driver() const { return *driver_; }
  // Takes callers anew, and the files of certificate and authorities; what else is in driver.yaml
  // holds from the next start on. All of it or, with an error, nothing.
  Status reload(const DriverConfig& config);
  // Answers what is being handled, saves, then calls `done`.
  void drain(std::function<void()> done);

 private:
  DriverProcess(net::Poll& poll, host::Loop& loop, std::string folder, DriverConfig config,
                services::Log& log);
  Status open_state();
  Status open_authority();
  Status read_authority();
  Result<std::vector<DriverCluster>> open_clusters();
  Status listen();
  struct Tls {
    net::TlsIdentity identity;  // that the port shows
    Instant until;              // its certificate is shown until then
    std::string authorities;    // whom it trusts
  };
  Result<Tls> read_tls() const;
  Status take_tls();  // anew; an error: what was holds
  Result<std::string> authorities() const;
  std::set<std::string> own_keys() const;  // of the driver's own authority
  Status check_vouched(const DriverConfig& config) const;
  std::string path(const std::string& file) const;
  void look_after_certificate();
  void add_gauges();

  net::Poll& poll_;
  host::Loop& loop_;
  std::string folder_;
  DriverConfig config_;
  services::Log& log_;
  host::SystemRandom random_;
  services::Metrics metrics_;
  std::unique_ptr<agent::StateFile> state_;
  // The driver's own. None: certificate and key are files, and nobody is known by it.
  std::optional<services::AuthorityIssuer> issuer_;
  std::vector<std::unique_ptr<kube::Session>> sessions_;
  std::optional<Driver> driver_;
  std::optional<Face> face_;
  std::unique_ptr<net::Server> server_;
  services::OperationsPort operations_;
  Instant certificate_until_ = {};
  host::Lifeline life_;
};

}  // namespace spillway::driver
