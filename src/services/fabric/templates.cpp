#include "services/fabric/templates.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/json.h"
#include "services/fabric/resource.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

bool makes_virtual_node(const fabric::Deed& deed) {
  const auto* made = std::get_if<fabric::Create>(&deed);
  return made != nullptr && made->at.kind.plural == liqo::k_virtual_nodes.plural;
}

bool is_used(const fabric::BuyerSight& sight, std::string_view name) {
  return std::any_of(sight.units.begin(), sight.units.end(), [name](const auto& unit) {
    const auto& node = unit.second.virtual_node;
    return node && node->template_name == name;
  });
}

// Those whose virtual kubelets go by something else: whichever leads rules for all.
void tell_of_others(const std::string& peer, liqo::Leaving leaving, const fabric::BuyerSight& sight,
                    fabric::Plan& plan) {
  for (const auto& [name, unit] : sight.units) {
    if (!unit.virtual_node || !unit.virtual_node->meta.deleted.empty()) continue;
    const auto made_by = liqo::leaving_of_template(unit.virtual_node->template_name);
    if (!made_by || made_by == leaving) continue;  // what is not ours is made anew (fabric/buyer.h)
    const bool may_send_all = made_by == liqo::Leaving::all;
    plan.troubles.push_back(
        {"unit " + name,
         may_send_all ? fmt::format("its virtual kubelet was made to copy everything to {}, which "
                                    "the policy does not allow",
                                    peer)
                      : fmt::format("its virtual kubelet was made before the policy trusted {} "
                                    "with everything",
                                    peer),
         "release the unit and buy another: what a virtual kubelet copies is said when it is "
         "made"});
  }
}

}  // namespace

Templates::Templates(kube::Api& api, services::Log& log, std::string base, Calls calls)
    : log_(log),
      base_(base.empty() ? std::string(liqo::k_default_template) : std::move(base)),
      calls_(std::move(calls)),
      watch_(api, resource_of(liqo::k_vk_templates), {},
             {.on_put =
                  [this](const kube::Object& object) {
                    const kube::Name name = kube::key_of(object);
                    all_.insert_or_assign(name, object);
                    tell(name);
                  },
              .on_gone =
                  [this](const kube::Name& name) {
                    all_.erase(name);
                    tell(name);
                  },
              .on_synced = [this] { calls_.all_changed(); },
              .on_trouble =
                  [this](const Error& why) {
                    trouble_ = why;
                    log_.write(services::Level::warning,
                               "options of virtual kubelets cannot be seen",
                               {{"why", why.message()}});
                    calls_.all_changed();
                  },
              .on_open = [this] { trouble_.reset(); }}) {}

void Templates::tell(const kube::Name& name) const {
  if (name.space == liqo::k_namespace) return calls_.all_changed();
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (!peer.empty() && liqo::leaving_of_template(name.name)) calls_.changed(peer);
}

bool Templates::has_any(const std::string& peer) const {
  const std::string space = liqo::tenant_namespace_name(peer);
  return find(space, template_name(liqo::Leaving::listed)) != nullptr ||
         find(space, template_name(liqo::Leaving::all)) != nullptr;
}

const model::Node* Templates::find(const std::string& space, std::string_view name) const {
  const auto found = all_.find({space, std::string(name)});
  return found == all_.end() ? nullptr : &found->second;
}

// True: it is there, and right.
bool Templates::settle(const std::string& space, liqo::Leaving leaving, fabric::Plan& plan) const {
  if (!watch_.is_synced()) {
    if (trouble_) {
      plan.troubles.push_back(
          {"VkOptionsTemplates", "they cannot be seen: " + trouble_->message(),
           "give the agent the rights of the chart's agent-fabric-rights.yaml"});
    }
    return false;
  }
  const model::Node* base = find(std::string(liqo::k_namespace), base_);
  if (base == nullptr) {
    plan.troubles.push_back(
        {fmt::format("VkOptionsTemplate {}/{}", liqo::k_namespace, base_),
         "it is not there, and virtual nodes are made by it",
         "look whether Liqo is installed whole, or name another by --fabric-template"});
    return false;
  }
  model::Node wanted = liqo::options_template(*base, space, leaving);
  const fabric::Place at{liqo::k_vk_templates, space, std::string(template_name(leaving))};
  const model::Node* seen = find(space, at.name);
  if (seen == nullptr) {
    plan.deeds.emplace_back(fabric::Create{at, std::move(wanted)});
    return false;
  }
  const size_t hash = std::hash<std::string>{}(model::to_json(wanted));
  model::Node patch = liqo::options_patch(*seen, wanted);
  plan.kept.push_back({at, hash, patch.items.empty()});
  if (patch.items.empty()) return true;
  plan.deeds.emplace_back(fabric::Merge{at, std::move(patch)});
  return false;
}

void Templates::keep(const std::string& peer, liqo::Leaving leaving, bool is_wanted,
                     const fabric::BuyerSight& sight, fabric::Plan& plan) const {
  const std::string space = liqo::tenant_namespace_name(peer);
  bool is_ready = false;
  for (const liqo::Leaving one : {liqo::Leaving::listed, liqo::Leaving::all}) {
    const bool is_current = is_wanted && one == leaving;
    if (is_current || is_used(sight, template_name(one))) {
      const bool is_right = sight.has_space && settle(space, one, plan);
      is_ready = is_ready || (is_current && is_right);
      continue;
    }
    const model::Node* seen = find(space, template_name(one));
    if (seen == nullptr || kube::is_being_deleted(*seen)) continue;
    plan.deeds.emplace_back(
        fabric::Remove{{liqo::k_vk_templates, space, std::string(template_name(one))},
                       std::string(kube::uid_in(*seen))});
  }
  if (is_wanted) tell_of_others(peer, leaving, sight, plan);
  if (!is_ready) std::erase_if(plan.deeds, makes_virtual_node);
}

}  // namespace spillway::agent
