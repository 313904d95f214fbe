// Talk: what two agents say to each other to make a contract real (the relay carries it, signed and
// sealed; services/agent/mailbox.h). Three things, each of which may be said again:
//
//   provider → buyer   nonce     sign this: I do not know your control plane yet
//   buyer → provider   request   my units' requests, some at a time; and with a nonce: my control
//                                plane's, signed
//   provider → buyer   identity  these units are written down; and how to reach me, as whom
//
// Nothing in it is believed for its own sake: a request must be what the contract has the hash of.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/liqo/parts.h"
#include "model/agreement.h"

namespace spillway::fabric {

inline constexpr std::string_view k_nonce_step = "nonce";
inline constexpr std::string_view k_request_step = "request";
inline constexpr std::string_view k_identity_step = "identity";

struct NonceTalk {
  std::string nonce;
  bool operator==(const NonceTalk&) const = default;
};

// That the control plane is the one whose key the contract names.
struct Proof {
  std::string nonce;
  std::string signature;   // of the nonce, base64
  std::string public_key;  // PEM
  std::string request;     // PEM
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

std::string to_body(const NonceTalk& talk);
std::string to_body(const RequestTalk& talk);
std::string to_body(const IdentityTalk& talk);
Result<NonceTalk> read_nonce_talk(std::string_view body);
Result<RequestTalk> read_request_talk(std::string_view body);
Result<IdentityTalk> read_identity_talk(std::string_view body);

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
