// Cluster: a Kubernetes cluster in a process, for tests, simulations and the demo: the API that our
// clients use, a scheduler, kubelets and the controllers that make pods live. It says that it is
// embedded wherever somebody may ask.
//
// Everything runs on the Loop that it is given, so a virtual clock serves as well as a real one. It
// can be reached over TLS (listen) or without any socket (handler). Where it behaves otherwise than
// a real cluster, it is wrong.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "embedded/api.h"
#include "embedded/faults.h"
#include "embedded/kubelets.h"
#include "embedded/liqo/options.h"
#include "embedded/node_life.h"
#include "embedded/objects.h"
#include "embedded/table.h"
#include "host/loop.h"
#include "host/random.h"
#include "net/poll.h"
#include "net/server.h"

namespace spillway::embedded {

// A node with a kubelet. Quantities as Kubernetes writes them.
struct NodeWish {
  std::string name;
  std::string cpu = "4";
  std::string memory = "16Gi";
  std::string pods = "110";
  std::vector<std::pair<std::string, std::string>> more_resources = {};
  std::vector<std::pair<std::string, std::string>> labels = {};
};

struct ClusterOptions {
  std::string name = "embedded";  // a DNS label; also of its authority
  int nodes = 0;                  // "node-1", "node-2", … like `node`
  NodeWish node = {};
  HistoryBounds history = {};
  KubeletOptions kubelets = {};
  NodeLifeOptions node_life = {};
  ApiOptions api = {};
  // Who shows neither certificate nor token may do everything. Only for handler() and listen_plain.
  bool trusts_strangers = false;
  // Faults may be asked for over HTTP, too, by members of system:masters: see debug.h.
  bool has_debug_paths = false;
  // With Liqo: its kinds, and what it does with them. See embedded/liqo/liqo.h.
  std::optional<LiqoOptions> liqo = {};
};

struct Credentials {
  std::string certificate_pem;
  std::string key_pem;
};

class Cluster {
 public:
  // The loop and the randomness outlive it. It is ready at once.
  Cluster(host::Loop& loop, host::Random& random, ClusterOptions options = {});
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  const std::string& name() const { return options_.name; }
  net::Handler& handler();
  // Serves on a socket too. `poll` runs the loop, and outlives the cluster.
  Status listen(net::Poll& poll, net::ServerOptions options = {});
  Status listen_plain(net::Poll& poll, net::ServerOptions options = {});
  uint16_t port() const;

  // After listen(), or with Liqo. A certificate for TLS clients, good for a year.
  Result<Credentials> issue(std::string_view user, std::vector<std::string> groups);
  const std::string& authority_pem() const;
  // For user "admin" of system:masters, with everything inline.
  Result<std::string> kubeconfig();
  // At any time: a bearer token.
  std::string issue_token(std::string user, std::vector<std::string> groups = {});

  // Callers whose certificate has this key (net::PeerCertificate::key), whoever issued it.
  void admit_key(const std::string& key, std::string user, std::vector<std::string> groups = {});
  std::string service_account_token(std::string_view space, std::string_view name);

  Status add_node(const NodeWish& wish);
  // A node whose kubelet is off is not heard of any more, and its pods do not change.
  void set_kubelet(const std::string& node, bool is_on);

  Objects& objects();
  Faults& faults();
  // For who calls handler() without a socket: how connections are cut there. See Api::Cut.
  void on_cut(Api::Cut cut);

  // Faults of the whole.
  void forget_history();               // watches and lists of the past get 410
  void set_clock_skew(Duration skew);  // times in answers, heartbeats and leases
  Status expire_certificate();         // for connections from now on
  Status renew_certificate();
  // Down for a while; then back with the same objects. `lost_versions`: as if from a backup, so
  // that versions go back by so many.
  void restart(Duration down, int64_t lost_versions = 0);

 private:
  struct Parts;
  struct Serving;
  void found();
  void add_liqo();
  void cut_by_server();
  std::string url() const;
  Status present(Instant from, Instant until);

  ClusterOptions options_;
  std::unique_ptr<Parts> parts_;
  std::unique_ptr<Serving> serving_;
  int restarts_ = 0;  // under way
};

}  // namespace spillway::embedded
