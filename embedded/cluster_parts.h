// What a Cluster is made of. Only for cluster*.cpp.
#pragma once

#include <memory>
#include <string>

#include "embedded/access.h"
#include "embedded/budgets.h"
#include "embedded/cluster.h"
#include "embedded/definitions.h"
#include "embedded/deployments.h"
#include "embedded/garbage.h"
#include "embedded/liqo/liqo.h"
#include "embedded/namespaces.h"
#include "embedded/replica_sets.h"
#include "embedded/resource_quotas.h"
#include "embedded/scheduler.h"
#include "host/lifeline.h"
#include "pki/authority.h"

namespace spillway::embedded {

struct Cluster::Parts {
  Parts(host::Loop& on, host::Random& lots, const ClusterOptions& options)
      : loop(on),
        clock(on),
        table(options.history),
        objects(registry, table, clock, lots),
        access(registry, table),
        faults(lots),
        api(objects, access, faults, on, options.api),
        namespaces(objects, on),
        garbage(objects, on),
        definitions(objects, on),
        deployments(objects, on),
        replica_sets(objects, on),
        budgets(objects, on),
        resource_quotas(objects, on),
        scheduler(objects, on),
        kubelets(objects, on, options.kubelets),
        node_life(objects, on, options.node_life) {}

  host::Loop& loop;
  Clock clock;
  Registry registry;
  Table table;
  Objects objects;
  Access access;
  Faults faults;
  Api api;
  Namespaces namespaces;
  Garbage garbage;
  Definitions definitions;
  Deployments deployments;
  ReplicaSets replica_sets;
  Budgets budgets;
  ResourceQuotas resource_quotas;
  Scheduler scheduler;
  Kubelets kubelets;
  NodeLife node_life;
  std::optional<pki::Authority> authority;  // from the moment that somebody needs it
  std::unique_ptr<Liqo> liqo;               // null: without
  host::Lifeline lifeline;

  Status need_authority(const std::string& name) {
    if (authority) return {};
    auto made = pki::Authority::create(name, loop.now());
    if (!made) return tl::unexpected(made.error());
    authority.emplace(std::move(*made));
    return {};
  }
};

struct Cluster::Serving {
  std::string authority_pem;  // empty without TLS
  net::ServerOptions options;
  std::unique_ptr<net::Server> server;
};

}  // namespace spillway::embedded
