#include "embedded/liqo/liqo.h"

#include "base/base64.h"
#include "base/check.h"
#include "embedded/document.h"
#include "embedded/liqo/admission.h"
#include "embedded/liqo/copies.h"
#include "embedded/liqo/foreign_clusters.h"
#include "embedded/liqo/guests.h"
#include "embedded/liqo/identities.h"
#include "embedded/liqo/kinds.h"
#include "embedded/liqo/local_slices.h"
#include "embedded/liqo/nonces.h"
#include "embedded/liqo/offloadings.h"
#include "embedded/liqo/pod_webhook.h"
#include "embedded/liqo/quotas.h"
#include "embedded/liqo/renews.h"
#include "embedded/liqo/replicas.h"
#include "embedded/liqo/replicator.h"
#include "embedded/liqo/roles.h"
#include "embedded/liqo/shadow_pods.h"
#include "embedded/liqo/tenants.h"
#include "embedded/liqo/twin_spaces.h"
#include "embedded/liqo/virtual_nodes.h"
#include "embedded/liqo/vk_options.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "pki/public_key.h"

namespace spillway::embedded {
namespace {

using model::Node;
using model::put;
using model::text_node;

constexpr size_t k_seed_bytes = 32;

// From the cluster's own randomness, so that a simulation repeats itself.
pki::Key new_cluster_key(host::Random& random) {
  std::string seed;
  while (seed.size() < k_seed_bytes) seed += static_cast<char>(random.next() & 0xff);
  auto key = pki::signing_key_from_seed(seed);
  SPILLWAY_CHECK(key.has_value(), "a cluster's key cannot be made");
  return *key;
}

void make_own_objects(const liqo::Setting& s) {
  namespace codec = fabric::liqo;
  const std::string space(codec::k_namespace);
  s.create(codec::k_namespaces, liqo::new_document({"", space}, {}, nullptr));
  Node keys = liqo::new_document({space, std::string(codec::k_keys_secret)},
                                 {{std::string(liqo::k_managed_label), "true"}}, nullptr);
  Node& data = model::ensure(keys, {"data"});
  const pki::Secret secret = s.own_key.to_pem();
  put(data, "privateKey", text_node(to_base64(secret.view())));
  put(data, "publicKey", text_node(to_base64(pki::to_pem(s.own_key.public_key()))));
  s.create(codec::k_secrets, std::move(keys));
  Node id = liqo::new_document({space, "liqo-clusterid-configmap"}, {}, nullptr);
  put(model::ensure(id, {"data"}), "CLUSTER_ID", text_node(s.id()));
  s.create(codec::k_config_maps, std::move(id));
  liqo::make_default_options(s);
}

liqo::Setting setting_of(Objects& objects, Access& access, host::Loop& loop, LiqoOptions options,
                         const pki::Authority& authority) {
  liqo::define_kinds(objects);
  liqo::make_roles(objects);
  const std::string hash = pki::sha256_hex(options.id);
  return {objects, loop, access, std::move(options), authority, new_cluster_key(objects.random),
          hash};
}

}  // namespace

struct Liqo::Parts {
  Parts(Objects& objects, Access& access, host::Loop& loop, LiqoOptions options,
        const pki::Authority& authority)
      : setting(setting_of(objects, access, loop, std::move(options), authority)),
        nonces(setting),
        tenants(setting),
        identities(setting),
        renews(setting),
        replicas(setting),
        quotas(setting),
        local_slices(setting),
        foreign_clusters(setting),
        replicator(setting),
        kubelets(setting),
        virtual_nodes(setting, kubelets),
        twin_spaces(setting),
        offloadings(setting),
        shadow_pods(setting),
        guests(setting, kubelets),
        secrets(setting, kubelets, fabric::liqo::k_secrets, "secret"),
        config_maps(setting, kubelets, fabric::liqo::k_config_maps, "configmap") {
    make_own_objects(setting);
    objects.on_create = [this](const Kind& kind, Node& document) {
      if (kind.name == "Pod" && kind.group.empty()) liqo::let_pod_leave(setting, document);
      if (&kind == &setting.kind(fabric::liqo::k_virtual_nodes)) {
        liqo::fill_deployment(setting, document);
      }
    };
  }

  liqo::Setting setting;
  liqo::Nonces nonces;
  liqo::Tenants tenants;
  liqo::Identities identities;
  liqo::Renews renews;
  liqo::Replicas replicas;
  liqo::Quotas quotas;
  liqo::LocalSlices local_slices;
  liqo::ForeignClusters foreign_clusters;
  liqo::Replicator replicator;
  liqo::VirtualKubelets kubelets;
  liqo::VirtualNodes virtual_nodes;
  liqo::TwinSpaces twin_spaces;
  liqo::Offloadings offloadings;
  liqo::ShadowPods shadow_pods;
  liqo::Guests guests;
  liqo::Copies secrets;
  liqo::Copies config_maps;
};

Liqo::Liqo(Objects& objects, Access& access, Api& api, host::Loop& loop, LiqoOptions options,
           const pki::Authority& authority)
    : parts_(std::make_unique<Parts>(objects, access, loop, std::move(options), authority)) {
  api.on_admission([this](const Ask& ask, Node& document, const Object* before) {
    return liqo::admit(parts_->setting, ask, document, before);
  });
}

Liqo::~Liqo() = default;

void Liqo::listens_at(const std::string& url, Dial dial) {
  LiqoOptions& options = parts_->setting.options;
  if (options.api_server.empty()) options.api_server = url;
  if (!options.dial) options.dial = std::move(dial);
}

}  // namespace spillway::embedded
