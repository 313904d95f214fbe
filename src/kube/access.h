// Access: how to reach an API server and as whom. It comes from the operator's kubeconfig, from a
// kubeconfig that somebody sent us, or from the pod that we run in.
//
// The operator's own file may name files and programs (exec plugins), for it is theirs. What came
// over the wire may not: read_wire_kubeconfig refuses by name whatever would read a file, run a
// program, leave by a proxy or believe any certificate.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/loop.h"
#include "kube/exec_token.h"
#include "net/client.h"

namespace spillway::kube {

// Where the operator's kubeconfig has certificates and keys in files of their own: somebody may
// replace them while we run. Always empty for what came over the wire.
struct AccessFiles {
  std::string authorities = {};
  std::string certificate = {};
  std::string key = {};
};

struct Access {
  net::Url server;
  std::string prefix;           // path behind the host, without a slash at its end
  std::string server_name;      // what the certificate must be for; empty: the host
  std::string authorities_pem;  // empty: those of the system
  std::optional<net::TlsIdentity> identity;
  AccessFiles files;                 // of which these were read, to be read again
  std::string token;                 // one of these three, or none
  std::string token_file;            //
  std::optional<ExecPlugin> plugin;  //
  std::string space = "default";     // namespace of the context
};

// Where a kubeconfig leads, that others go by: also where we would not go ourselves.
struct Lead {
  std::string server;
  std::string proxy;            // empty: none
  std::string authorities_pem;  // empty: those of the system, or in a file of theirs
};
Result<Lead> read_lead(std::string_view kubeconfig);

// `context` empty: the file's current one.
Result<Access> read_wire_kubeconfig(std::string_view text, std::string_view context = {});
Result<Access> read_own_kubeconfig(const std::string& path, std::string_view context = {});

// The file; when none is named, the pod that we run in.
Result<Access> read_access(const std::string& kubeconfig, std::string_view context = {});

// The pod's folder and the variables of its environment (KUBERNETES_SERVICE_HOST and _PORT).
inline constexpr std::string_view k_pod_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
Result<Access> read_pod_access(const std::map<std::string, std::string>& environment,
                               const std::string& folder = std::string(k_pod_folder));

}  // namespace spillway::kube
