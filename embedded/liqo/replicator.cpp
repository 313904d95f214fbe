#include "embedded/liqo/replicator.h"

#include "embedded/document.h"
#include "embedded/liqo/foreign_clusters.h"

namespace spillway::embedded::liqo {
namespace {

constexpr Duration k_close_wait = seconds(1);

}  // namespace

struct Replicator::Link {
  Link(const Setting& setting, std::unique_ptr<Remote> opened, const MirrorPlace& at)
      : place(at),
        remote(std::move(opened)),
        slices(setting, *remote, codec::k_slices, at),
        maps(setting, *remote, codec::k_namespace_maps, at),
        renews(setting, *remote, codec::k_renews, at) {}

  bool is_idle() const { return slices.is_idle() && maps.is_idle() && renews.is_idle(); }

  MirrorPlace place;
  std::unique_ptr<Remote> remote;
  Mirror slices;
  Mirror maps;
  Mirror renews;
};

Replicator::Replicator(const Setting& setting) : Controller(setting) {
  follow(codec::k_secrets, [this](const Object& secret) {
    if (label_of(secret, codec::k_identity_type_label) == "ControlPlane") look_soon(secret.key);
  });
  const auto pass_on = [this](Mirror Link::*mirror) {
    return [this, mirror](const Object& object) {
      for (const auto& [key, link] : links_) {
        if (key.space == object.key.space) (*link.*mirror).look_soon(object.key.name);
      }
    };
  };
  follow(codec::k_slices, pass_on(&Link::slices));
  follow(codec::k_namespace_maps, pass_on(&Link::maps));
  follow(codec::k_renews, pass_on(&Link::renews));
  // A peer that is given up lets go of everything.
  follow(codec::k_foreign_clusters, [this](const Object& foreign) {
    for (const auto& [key, link] : links_) {
      if (link->place.provider != foreign.key.name) continue;
      for (const ObjectPtr& one : s_.all(codec::k_slices, key.space)) {
        link->slices.look_soon(one->key.name);
      }
      link->maps.look_soon(foreign.key.name);
      link->renews.look_soon(codec::control_plane_identity_name(foreign.key.name));
    }
  });
}

Replicator::~Replicator() = default;

void Replicator::look_at(const Key& key) {
  const ObjectPtr secret = s_.find(codec::k_secrets, key);
  if (secret == nullptr) {
    links_.erase(key);
    return;
  }
  if (secret->is_deleting) return close(key);
  if (!has_finalizer(secret->document(), codec::k_copier_finalizer)) {
    s_.change(codec::k_secrets, key,
              [](model::Node& document) { add_finalizer(document, codec::k_copier_finalizer); });
  }
  const std::string kubeconfig = kubeconfig_in(s_, key);
  const auto link = links_.find(key);
  if (link != links_.end() && link->second->remote->kubeconfig() == kubeconfig) return;
  open(key, std::string(label_of(*secret, codec::k_peer_label)), kubeconfig);
}

// Not while something is left that only this link can end; unless nobody is there to end it at.
void Replicator::close(const Key& key) {
  const auto link = links_.find(key);
  const bool is_idle = link == links_.end() || link->second->is_idle() ||
                       is_peer_given_up(s_, link->second->place.provider);
  if (!is_idle) return look_after(k_close_wait, key);
  links_.erase(key);
  s_.change(codec::k_secrets, key,
            [](model::Node& document) { drop_finalizer(document, codec::k_copier_finalizer); });
}

void Replicator::open(const Key& key, const std::string& provider, const std::string& kubeconfig) {
  links_.erase(key);
  auto remote = Remote::open(s_, kubeconfig);
  if (!remote) return;
  const MirrorPlace place{provider, key.space, (*remote)->space()};
  links_.emplace(key, std::make_unique<Link>(s_, std::move(*remote), place));
}

}  // namespace spillway::embedded::liqo
