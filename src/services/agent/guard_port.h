// GuardPort: the guard's webhook as an agent has it. The port, its certificate, and whom an API
// server is told to trust (`caBundle` of the configurations spillway-guard).
//
// The certificate is in files, read again when they change; or it is made here, by an authority
// that is made once and kept: in a folder, or in a Secret that all agents of a cluster share. Each
// process issues its own from it, for some weeks at a time. Whoever has such an authority writes it
// into the configuration, whenever it finds another one there.
//
// It needs no identity of a member, so that agents which wait for the Lease answer, too.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/liqo/names.h"
#include "host/backoff.h"
#include "host/lifeline.h"
#include "host/random.h"
#include "kube/session.h"
#include "kube/watch.h"
#include "net/server.h"
#include "pki/authority.h"
#include "services/agent/reload.h"
#include "services/fabric/guard_door.h"
#include "services/log.h"
#include "services/metrics.h"

namespace spillway::agent {

struct GuardPortOptions {
  std::string listen = {};              // empty: there is none
  std::string certificate = {};         // files; empty: made here
  std::string key = {};                 //
  std::vector<std::string> names = {};  // what API servers call it; DNS names or addresses
  std::string folder = {};              // of the authority; or
  std::string secret = {};              // in the cluster's namespace of ours
};

class GuardPort {
 public:
  static constexpr const char* k_federation = "guard";  // of its authority
  static constexpr Duration k_life = hours(24 * 60);    // of a certificate
  static constexpr Duration k_renewal = hours(24);      // how often another one is made

  GuardPort(net::Poll& poll, host::Loop& loop, host::Random& random, services::Log& log,
            services::Metrics& metrics, GuardPortOptions options);

  // Listens now, or when the authority has been read from the cluster.
  Status start(const kube::Access& access);
  bool is_listening() const { return server_ != nullptr; }
  uint16_t port() const { return server_->port(); }

 private:
  Status start_by_files();
  Status take_files();
  Status start_by_folder();
  void read_secret();
  void keep_authority(kube::Object found);
  void try_again(const Error& why);
  Status use(pki::Authority authority);
  Status issue();
  void renew_later();
  Status serve(const net::TlsIdentity& identity);
  struct Registration {
    fabric::liqo::Kind kind;
    std::optional<kube::Watch> watch = {};
    bool is_filling = false;
  };
  void register_authority(Registration& at);
  void fill_in(Registration& at);

  net::Poll& poll_;
  host::Loop& loop_;
  host::Random& random_;
  services::Log& log_;
  services::Metrics& metrics_;
  GuardPortOptions options_;
  std::unique_ptr<kube::Session> cluster_;
  std::optional<GuardDoor> door_;
  std::optional<Reload> certificate_reload_;
  std::optional<Reload> key_reload_;
  std::optional<pki::Authority> authority_;
  std::array<Registration, 2> registrations_;
  std::unique_ptr<net::Server> server_;
  host::Backoff backoff_;
  std::string told_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
