// Talk: what two agents say to each other to make a contract real (the relay carries it, signed and
// sealed; services/agent/mailbox.h). Three things, each of which may be said again; a fourth where
// both connect their networks, and a fifth where both want the buyer to come by itself
// (fabric/account.h):
//
//   provider → buyer   nonce     sign this: I do not know your control plane yet
//   buyer → provider   request   my units' requests, some at a time; and with a nonce: my control
//                                plane's, signed; unsigned, it asks for a kubeconfig
//   provider → buyer   identity  these units are written down; and how to reach me, as whom
//   provider → buyer   kubeconfig  by this, for so long, you make your Tenant here yourself
//   either → other     network   my ranges, my gateway, its key; and what I know of yours
//
// Nothing in it is believed for its own sake: a request must be what the contract has the hash of.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/liqo/network_objects.h"
#include "fabric/liqo/parts.h"
#include "model/agreement.h"

namespace spillway::fabric {

inline constexpr std::string_view k_nonce_step = "nonce";
inline constexpr std::string_view k_request_step = "request";
inline constexpr std::string_view k_identity_step = "identity";
inline constexpr std::string_view k_network_step =
    "network";  // an agent that knows it not ignores it

inline constexpr std::string_view k_kubeconfig_step = "kubeconfig";

struct NonceTalk {
  std::string nonce;
  bool hands_out = false;  // who would rather come by a kubeconfig may ask for one
  bool operator==(const NonceTalk&) const = default;
};

// That the control plane is the one whose key the contract names. Without nonce and signature it is
// none, and asks for a kubeconfig.
struct Proof {
  std::string nonce;
  std::string signature;   // of the nonce, base64
  std::string public_key;  // PEM
  std::string request;     // PEM
  bool is_signed() const { return !nonce.empty() || !signature.empty(); }
  bool operator==(const Proof&) const = default;
};

struct RequestTalk {
  std::optional<Proof> proof;
  std::map<std::string, std::string> units;  // name → PEM
  bool operator==(const RequestTalk&) const = default;
};

struct IdentityTalk {
  liqo::AuthParams access;
  std::string space;               // the tenant namespace there
  std::vector<std::string> units;  // that are written down
  bool operator==(const IdentityTalk&) const = default;
};

// A credential, for as long as it takes to use it once. Whoever hears it keeps it in memory alone.
struct KubeconfigTalk {
  std::string kubeconfig;
  Instant expires;
  bool operator==(const KubeconfigTalk&) const = default;
};

// What one cluster tells the other of its network. What is not there yet is empty.
struct NetworkWord {
  liqo::Ranges ranges;
  bool can_serve = true;                    // others may reach a gateway here
  std::vector<std::string> addresses = {};  // of its gateway, if that one serves; by UDP
  int64_t port = 0;                         //
  std::string key = {};                     // of its gateway; base64
  std::string proxy = {};                   // of its API server: an address of its ranges
  std::string in_band = {};                 // the URL by which it reaches the other's
  bool operator==(const NetworkWord&) const = default;
};

struct NetworkTalk {
  NetworkWord own;
  std::optional<NetworkWord> heard = {};  // the other's last word
  bool is_asking = false;                 // whether the other knows `own` is not known: answer
  bool operator==(const NetworkTalk&) const = default;
};

std::string to_body(const NonceTalk& talk);
std::string to_body(const RequestTalk& talk);
std::string to_body(const IdentityTalk& talk);
std::string to_body(const KubeconfigTalk& talk);
std::string to_body(const NetworkTalk& talk);
Result<NonceTalk> read_nonce_talk(std::string_view body);
Result<RequestTalk> read_request_talk(std::string_view body);
Result<IdentityTalk> read_identity_talk(std::string_view body);
Result<KubeconfigTalk> read_kubeconfig_talk(std::string_view body);
Result<NetworkTalk> read_network_talk(std::string_view body);

// SHA-256 in 64 hexadecimal digits, which minds do not compute themselves.
using Hash = std::string (*)(std::string_view);

// Whether these are the requests that the contract names, and no others; `units` are its names.
// That their subjects are right is for who can read them (pki/subject_request.h).
Status check_request(const RequestTalk& talk, const model::LiqoPart& part,
                     const std::vector<std::string>& units, Hash hash);

// What a provider has heard of a contract, all in all: units come in parts, a newer proof replaces
// an older one.
void add_heard(std::optional<RequestTalk>& heard, RequestTalk talk);

}  // namespace spillway::fabric
