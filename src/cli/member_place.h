// MemberPlace: where a member lives with its key and its pins: in a folder, or in a cluster (as an
// agent or an autoscaler that was started with --in-cluster).
#pragma once

#include <string>

#include "cli/word.h"
#include "services/agent/credentials.h"
#include "services/agent/papers.h"

namespace spillway::cli {

struct MemberPlace {
  std::string dir;         // of the identity; empty: identity_dir() finds it
  std::string in_cluster;  // its name there; empty: it lives in the folder
  std::string kubeconfig;  // empty: the cluster that we run in
  std::string context;     // empty: the kubeconfig's current one
  std::string space;       // namespace; empty: the context's
};

void add_member_place(Word verb, MemberPlace& place);
// Options that say nothing without others, or against each other.
Status check(const MemberPlace& place);

struct MemberTrust {
  agent::Credentials member;
  agent::TrustBook book;
};
// Who is named must have an identity: else a mistyped name would get pins of its own. No change:
// it is only read.
Result<MemberTrust> change_trust(const MemberPlace& place,
                                 const agent::Papers::TrustChange& change);
Result<MemberTrust> read_trust(const MemberPlace& place);

}  // namespace spillway::cli
