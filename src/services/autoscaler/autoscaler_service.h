// The autoscaler as a program: its files, its connections, its signals.
#pragma once

#include <optional>
#include <string>

#include "base/money.h"
#include "base/result.h"
#include "base/time.h"
#include "services/log.h"
#include "services/member_home.h"

namespace spillway::services {

struct AutoscalerServiceOptions : MemberHome {
  std::string back_end = "kwok";
  std::string listen = "127.0.0.1:8086";
  bool plaintext = false;          // else with all three of these
  std::string tls_certificate;     // files; the leaf first
  std::string tls_key;             //
  std::string client_authorities;  // whose certificates the Cluster Autoscaler may show
  std::string expander;  // address:port for the Cluster Autoscaler's expander; empty: none
  std::string expander_certificate;  // files
  std::string expander_key;
  std::string policy;                // the recommender's, a file; empty: the cheapest, without caps
  std::optional<Currency> currency;  // of offers that are shown; the policy's, where there is one
  int best_of_class = 5;
  std::string probe = "public";  // addresses that round trips are measured to: none, public, any
  Duration unready_after = minutes(1);
  // Of the back end driver:
  std::string driver;          // its URL; empty: the one in the caller's folder
  std::string driver_dir;      // the caller's folder: key, certificate, authorities
  std::string driver_cluster;  // what the driver calls this cluster; empty: as the federation does
};

// Runs until SIGTERM or SIGINT, or until the home in the cluster is lost to another.
Status run_autoscaler(const AutoscalerServiceOptions& options);

}  // namespace spillway::services
