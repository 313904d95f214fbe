// What the Liqo of an embedded cluster is told when it is switched on.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "kube/access.h"
#include "net/channel.h"

namespace spillway::embedded {

// How another cluster's API server is reached, as a kubeconfig says it.
using Dial = std::function<Result<std::unique_ptr<net::Channel>>(const kube::Access& access)>;

struct LiqoOptions {
  std::string id = {};          // of the cluster in Liqo; empty: its name
  std::string api_server = {};  // URL, as it is told to buyers; empty: where it listens
  Dial dial = {};               // empty: over TLS, from listen() on
  // Slices of tenants are taken only as the fabric's record has them (fabric/record.h): what its
  // admission policies do, which cannot be evaluated here.
  bool checks_record = true;
  Duration virtual_kubelet_start = milliseconds(500);  // from the VirtualNode to its first word
  Duration ping_every = seconds(10);                   // of a provider, by each virtual kubelet
  Duration check_every = seconds(10);                  // of a provider's API server
  Duration check_timeout = seconds(5);
};

}  // namespace spillway::embedded
