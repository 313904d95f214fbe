// LiqoPlace: the cluster whose Liqo is to make nodes of what is bought by hand. Its key says what
// the contract will ask the provider for.
#pragma once

#include <string>

#include "cli/word.h"
#include "services/agent/signing.h"

namespace spillway::cli {

struct LiqoPlace {
  std::string fabric;      // "liqo"; empty: no nodes are made of it
  std::string kubeconfig;  // empty: the cluster that we run in
  std::string context;     // empty: the kubeconfig's current one
};

void add_liqo_place(Word verb, LiqoPlace& place);
// Null when no nodes are wanted.
Result<agent::Signing::FabricOf> fabric_of(const LiqoPlace& place);

}  // namespace spillway::cli
