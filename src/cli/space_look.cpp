#include "cli/space_look.h"

#include <algorithm>
#include <memory>
#include <set>

#include "cli/ask_cluster.h"
#include "fabric/liqo/guard.h"
#include "fabric/spaces.h"
#include "services/agent/cluster_state.h"
#include "services/fabric/liqo_home.h"
#include "services/fabric/resource.h"

namespace spillway::cli {
namespace {

namespace liqo = fabric::liqo;

liqo::Texts labels_of(const model::Node& object) {
  liqo::Texts all;
  if (const model::Node* labels = model::look(object, {"metadata", "labels"})) {
    for (const model::Node& one : labels->items) all.emplace(one.key, one.text);
  }
  return all;
}

struct Listed {
  const liqo::Kind& kind;
  bool is_of_space = true;
  bool is_liqos = false;
  std::vector<model::Node>* into = nullptr;
};

// Lists one after the other: they are few, and the first that fails tells why.
struct Lists : std::enable_shared_from_this<Lists> {
  kube::Api& api;
  std::string space;
  std::vector<Listed> left;
  kube::Then<void> done;

  Lists(kube::Api& on, std::string of, std::vector<Listed> all, kube::Then<void> then)
      : api(on), space(std::move(of)), left(std::move(all)), done(std::move(then)) {}

  void next() {
    if (left.empty()) return done({});
    const Listed one = left.back();
    left.pop_back();
    const kube::Wanted wanted{.space = one.is_of_space ? space : std::string()};
    const auto take = [one](const kube::ListPage& page) {
      if (page.is_first) one.into->clear();
      one.into->insert(one.into->end(), page.items.begin(), page.items.end());
    };
    api.list(agent::resource_of(one.kind), wanted, take,
             [self = shared_from_this(), one](const Result<std::string>& listed) {
               if (listed) return self->next();
               if (listed.error().code != Code::not_found) {
                 return self->done(tl::unexpected(listed.error()));
               }
               if (!one.is_liqos) return self->next();  // a cluster without such objects
               self->done(fail(Code::not_found, "Liqo",
                               fmt::format("the cluster has no {}", one.kind.plural),
                               "install Liqo; nothing leaves without it"));
             });
  }
};

void list_all(kube::Api& api, const std::string& space, SpaceLook& look,
              std::vector<model::Node>& offloadings, kube::Then<void> done) {
  std::vector<Listed> all{
      {liqo::k_pods, true, false, &look.contents.pods},
      {liqo::k_ingresses, true, false, &look.contents.ingresses},
      {liqo::k_endpoint_slices, true, false, &look.contents.endpoint_slices},
      {liqo::k_services, true, false, &look.contents.services},
      {liqo::k_config_maps, true, false, &look.contents.config_maps},
      {liqo::k_secrets, true, false, &look.contents.secrets},
      {liqo::k_vk_templates, false, true, &look.templates},
      {liqo::k_virtual_nodes, false, true, &look.virtual_nodes},
      {liqo::k_namespace_maps, false, true, &look.maps},
      {liqo::k_namespace_offloadings, true, true, &offloadings},
  };
  std::make_shared<Lists>(api, space, std::move(all), std::move(done))->next();
}

// An agent does not offload the namespace that it runs in: its state is there.
bool is_home_of_agent(const fabric::SpaceContents& contents) {
  return std::any_of(contents.secrets.begin(), contents.secrets.end(), [](const model::Node& one) {
    return model::look(one, {"data", agent::ClusterState::k_file}) != nullptr;
  });
}

const model::Node* template_of(const SpaceLook& look, const model::Node& virtual_node) {
  std::string space(model::text_at(virtual_node, {"spec", "vkOptionsTemplateRef", "namespace"}));
  std::string name(model::text_at(virtual_node, {"spec", "vkOptionsTemplateRef", "name"}));
  if (name.empty()) {
    space = liqo::k_namespace;
    name = liqo::k_default_template;
  }
  for (const model::Node& one : look.templates) {
    if (kube::space_in(one) == space && kube::name_in(one) == name) return &one;
  }
  return nullptr;
}

// Which of them leads, and copies for all, nobody knows: what one of them copies may leave.
void widen(liqo::Reflection& sum, const liqo::Reflection& one) {
  using By = liqo::Reflection::By;
  for (By liqo::Reflection::*list : {&liqo::Reflection::secrets, &liqo::Reflection::config_maps,
                                     &liqo::Reflection::services, &liqo::Reflection::ingresses}) {
    if (one.*list == By::deny_list) sum.*list = By::deny_list;
  }
  sum.tokens = sum.tokens || one.tokens;
}

liqo::Reflection reflection_by(liqo::Leaving leaving) {
  return liqo::reflection_of_template(liqo::options_template(model::object_node(), "", leaving));
}

fabric::Destination destination_of(const SpaceLook& look, const std::string& provider) {
  fabric::Destination to{look.self, provider, reflection_by(liqo::Leaving::listed), {}};
  for (const model::Node& one : look.virtual_nodes) {
    if (model::text_at(one, {"spec", "clusterID"}) != provider) continue;
    to.nodes.insert(std::string(kube::name_in(one)));
    const model::Node* options = template_of(look, one);
    const auto running = liqo::reflection_of_node(one);
    widen(to.reflection, running              ? *running
                         : options != nullptr ? liqo::reflection_of_template(*options)
                                              : liqo::Reflection{});
  }
  return to;
}

}  // namespace

Result<SpaceLook> look_at_space(const std::string& kubeconfig, const std::string& context,
                                const std::string& space) {
  SpaceLook look;
  look.contents.space = space;
  std::vector<model::Node> offloadings;
  SPILLWAY_TRY(ask_cluster(kubeconfig, context, [&](kube::Api& api, const kube::Then<void>& done) {
    const auto list = [&, done](const Result<std::string>& id) {
      if (!id) return done(tl::unexpected(id.error()));
      look.self = *id;
      list_all(api, space, look, offloadings, done);
    };
    api.get(kube::k_namespaces, {{}, space}, [&, done, list](const Result<kube::Object>& found) {
      if (found) {
        look.why_stays = fabric::why_stays(space, labels_of(*found));
        return agent::read_liqo_id(api, list);
      }
      if (found.error().code != Code::not_found) return done(tl::unexpected(found.error()));
      done(fail(Code::not_found, "namespace " + space, "there is none in this cluster",
                "look at kubectl get namespaces"));
    });
  }));
  if (!look.why_stays && is_home_of_agent(look.contents)) look.why_stays = "an agent lives there";
  for (const model::Node& one : offloadings) {
    if (kube::name_in(one) != liqo::k_offloading_name) continue;
    auto read = liqo::read_namespace_offloading(one);
    if (!read) return tl::unexpected(read.error());
    look.offloading = std::move(*read);
  }
  return look;
}

Result<std::vector<SpaceProvider>> providers_of(const SpaceLook& look) {
  std::vector<SpaceProvider> all;
  for (const model::Node& one : look.maps) {
    const bool is_local = kube::label_in(one, liqo::k_replication_label) == "true";
    const auto there = model::text_at(one, {"spec", "desiredMapping", look.contents.space});
    if (!is_local || there.empty()) continue;
    all.push_back({destination_of(look, std::string(kube::name_in(one))), std::string(there)});
  }
  if (!all.empty()) return all;
  const auto there = liqo::guest_space_name(look.self, look.contents.space);
  if (!there) return tl::unexpected(there.error());
  std::set<std::string> sellers;
  for (const model::Node& one : look.virtual_nodes) {
    sellers.emplace(model::text_at(one, {"spec", "clusterID"}));
  }
  for (const std::string& one : sellers) all.push_back({destination_of(look, one), *there});
  if (!all.empty()) return all;
  for (const auto leaving : {liqo::Leaving::listed, liqo::Leaving::all}) {
    all.push_back(
        {{look.self, {}, reflection_by(leaving), {}}, *there, leaving == liqo::Leaving::all});
  }
  return all;
}

}  // namespace spillway::cli
