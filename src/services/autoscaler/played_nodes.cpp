#include "services/autoscaler/played_nodes.h"

#include <utility>

#include "base/text.h"

namespace spillway::autoscaler {

Result<Player> find_player(std::string_view name) {
  if (name == "kwok") return Player{"kwok", {"kwok.x-k8s.io/node", "fake"}};
  if (name == "embedded") return Player{"embedded", {"embedded.spillway.dev/kubelet", "on"}};
  return fail(Code::invalid, "back end " + in_quotes(name), "there is none of this name",
              "use liqo, driver, kwok, or embedded for clusters of spillway cluster up");
}

PlayedNodes::PlayedNodes(kube::Api& api, services::Log& log, Player player, std::string owner)
    : api_(api),
      log_(log),
      player_(std::move(player)),
      owner_(std::move(owner)),
      watch_(api, kube::k_nodes, {.labels = demand::k_provider_label},
             {[this](const kube::Object& node) { on_put(node); },
              [this](const kube::Name& name) {
                if (ready_.erase(name.name) > 0 && changed_) changed_();
              },
              [this] { changed_(); },
              [this](const Error& why) {
                log_.write(services::Level::warning, "the cluster's nodes cannot be seen",
                           {{"why", why.message()}});
              },
              [this] {
                log_.write(services::Level::info, "the cluster's nodes are seen", {});
                changed_();
              }}) {}

void PlayedNodes::start(std::function<void()> changed) {
  changed_ = std::move(changed);
  watch_.start();
}

void PlayedNodes::on_put(const kube::Object& node) {
  const bool is_ours = kube::annotation_in(node, k_back_end) == player_.name &&
                       kube::annotation_in(node, k_owner) == owner_;
  if (!is_ours) return;
  const bool ready = is_ready(node);
  const auto [at, is_new] = ready_.try_emplace(std::string(kube::name_in(node)), ready);
  if (!is_new && std::exchange(at->second, ready) == ready) return;
  changed_();
}

NodeSight PlayedNodes::look(const std::string& name) const {
  if (!watch_.is_synced() || watch_.is_in_trouble()) return NodeSight::unknown;
  const auto at = ready_.find(name);
  if (at == ready_.end()) return NodeSight::absent;
  return at->second ? NodeSight::ready : NodeSight::coming;
}

std::vector<std::string> PlayedNodes::names() const {
  std::vector<std::string> all;
  for (const auto& entry : ready_) all.push_back(entry.first);
  return all;
}

void PlayedNodes::make(const demand::NodeImage& image, Then then) {
  const auto node =
      node_document(image, {{k_back_end, player_.name}, {k_owner, owner_}, player_.claims});
  api_.create(kube::k_nodes, node,
              life_.guard([this, image, then = std::move(then)](const Result<kube::Object>& made) {
                if (made) return then({});
                if (made.error().code == Code::conflict) return check_is_ours(image, then);
                then(tl::unexpected(made.error()));
              }));
}

// One of that name is there: made by a try whose answer was lost, or somebody else's.
void PlayedNodes::check_is_ours(const demand::NodeImage& image, const Then& then) {
  api_.get(kube::k_nodes, {"", image.name}, [image, then](const Result<kube::Object>& node) {
    if (!node) {
      Error error = node.error();
      if (error.code == Code::not_found) error.code = Code::contended;  // gone meanwhile
      return then(tl::unexpected(std::move(error)));
    }
    if (model::text_at(*node, {"spec", "providerID"}) == image.provider_id) return then({});
    then(fail(Code::conflict, "node " + in_quotes(image.name), "there is another of this name",
              "remove it, or delete this unit"));
  });
}

void PlayedNodes::remove(const std::string& name, Then then) {
  api_.remove(kube::k_nodes, {"", name}, {}, [then = std::move(then)](const Status& status) {
    const bool is_gone = status || status.error().code == Code::not_found;
    then(is_gone ? Status() : status);
  });
}

}  // namespace spillway::autoscaler
