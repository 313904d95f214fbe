// What the other party of a contract says, held against the contract before anything follows from
// it. Pure: the answer is what to write down, or why it is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/talk.h"
#include "kube/access.h"
#include "model/agreement.h"

namespace spillway::agent {

struct Heard {
  const model::LiqoPart& part;
  std::vector<std::string> units;  // of the contract, in their order
};

// As a provider: requests that the contract names, for exactly the subjects that they must have,
// with the key that it names; and a proof that whoever sends it has that key, unless it only asks
// for a kubeconfig.
Result<fabric::RequestTalk> hear_request(std::string_view body, const Heard& on);

// As a buyer: something to sign that can be nothing else than a nonce.
Result<fabric::NonceTalk> hear_nonce(std::string_view body);
Status check_nonce(std::string_view nonce);

// Whom a buyer's Liqo may be told to call: URLs as they are, or with a "*" at the end for whatever
// follows. Empty: anybody by https.
using AllowedServers = std::vector<std::string>;
// Patterns as an operator writes them: a "*" at the end, after the whole name of the host.
Status check_allowed(const AllowedServers& allowed);
Status check_api_server(const std::string& url, const AllowedServers& allowed);
// `own_proxy`: the way that we asked to be sent, through the network between us; empty: none.
Status check_way(const fabric::liqo::AuthParams& access, const AllowedServers& allowed,
                 const std::string& own_proxy);
Result<fabric::IdentityTalk> hear_identity(std::string_view body, const Heard& on,
                                           const AllowedServers& allowed,
                                           const std::string& own_proxy = {});

// As a buyer that has asked for it: a token for our tenant namespace at an API server that is
// allowed, and nothing that would run a program or read a file here.
struct HeardKubeconfig {
  kube::Access access;
  Instant expires;
};
Result<HeardKubeconfig> hear_kubeconfig(std::string_view body, const Heard& on,
                                        const AllowedServers& allowed);
Status check_dialled(const kube::Access& access, const AllowedServers& allowed);
// Of the Secret that Liqo has made of what was heard and checked. It is looked at again, for it is
// what is dialled.
Result<kube::Access> access_in(const model::Node& secret, const std::string& provider,
                               const AllowedServers& allowed);

// From either side: ranges, a gateway and a key that can be such (fabric/network.h).
Result<fabric::NetworkTalk> hear_network(std::string_view body);

}  // namespace spillway::agent
