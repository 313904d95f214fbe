// What Liqo's objects are made of, as plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/labels.h"
#include "model/resources.h"

namespace spillway::fabric::liqo {

using Texts = std::map<std::string, std::string, std::less<>>;

struct Owner {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool operator==(const Owner&) const = default;
};

struct Meta {
  std::string name;
  std::string space;  // namespace; empty for what has none
  std::string uid;
  std::string version;  // resourceVersion: equal or different, nothing else
  std::string deleted;  // since when it is being deleted; empty: it stays
  int64_t generation = 0;
  Texts labels;
  Texts annotations;
  std::vector<std::string> finalizers;
  std::vector<Owner> owners;
  bool operator==(const Meta&) const = default;

  std::string_view label(std::string_view key) const;       // empty: there is none
  std::string_view annotation(std::string_view key) const;  // empty: there is none
};

// Resources as Liqo has them: cpu in millicores, everything else in whole pieces or bytes. A name
// with none of it is something else than no name: Liqo refuses guests that ask for what is not
// named.
using Amounts = std::map<std::string, int64_t, std::less<>>;

// GPUs of all models are one resource to Kubernetes, under the name that the provider's nodes use.
Amounts amounts_of(const model::Resources& resources, std::string_view gpu_name);

// Liqo's conditions have words of their own in `status`, and a list may have one type twice.
struct Condition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  std::string since;
  bool operator==(const Condition&) const = default;
};
using Conditions = std::vector<Condition>;
std::string_view status_of(const Conditions& conditions, std::string_view type);  // of the last one

// How to reach a provider's API server, and as whom. The certificate is for a key of the buyer's.
struct AuthParams {
  std::string authority;    // PEM
  std::string certificate;  // PEM
  std::string api_server;   // URL
  std::string proxy;        // URL; empty: none
  bool operator==(const AuthParams&) const = default;
};

// A class of storage, ingress or load balancer that a provider lets guests use.
struct OfferedClass {
  std::string name;
  bool is_default = false;
  bool operator==(const OfferedClass&) const = default;
};

}  // namespace spillway::fabric::liqo
