// What is there of fences (fabric/fence.h), as their provider sees it: by name, in tenants'
// namespaces.
#include <utility>

#include "services/fabric/resource.h"
#include "services/fabric/sights.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

// A buyer renews every few seconds: of that alone nothing follows. One that was late is news.
constexpr Duration k_late = seconds(10);

}  // namespace

void Sights::watch_fences() {
  const auto drop_lease = [this](const kube::Name& name) {
    const std::string peer = peer_of_space(name.space);
    if (peer.empty()) return;
    sellers_[peer].fence.lease.reset();
    changed(peer);
  };
  watch_fence(
      liqo::k_leases, [this](const kube::Object& object) { put_buyer_lease(object); }, drop_lease);
  using Which = fabric::Right fabric::FenceSight::*;
  const auto watch_right = [this](const liqo::Kind& kind, Which which, auto judge) {
    watch_fence(
        kind,
        [this, which, judge](const kube::Object& object) {
          const std::string peer = peer_of_space(kube::space_in(object));
          put_fence_right(kube::key_of(object), which, judge(object, peer));
        },
        [this, which](const kube::Name& name) {
          put_fence_right(name, which, fabric::Right::absent);
        });
  };
  watch_right(liqo::k_roles, &fabric::FenceSight::role,
              [](const kube::Object& object, const std::string&) {
                return fabric::judge_fence_role(object);
              });
  watch_right(liqo::k_role_bindings, &fabric::FenceSight::binding,
              [](const kube::Object& object, const std::string& peer) {
                return fabric::judge_fence_binding(object, peer);
              });
  for (const auto& one : fence_watches_) one->start();
}

// One that cannot be seen is taken for missing: it is made again, which changes nothing, and if
// that is refused it is told. No contract waits for it.
void Sights::watch_fence(const liqo::Kind& kind, Put put, Gone gone) {
  kube::WatchCalls calls;
  calls.on_put = std::move(put);
  calls.on_gone = std::move(gone);
  calls.on_trouble = [this](const Error& why) {
    log_.write(services::Level::warning, "fences of buyers cannot be seen",
               {{"why", why.message()}});
  };
  fence_watches_.push_back(std::make_unique<kube::Watch>(
      api_, resource_of(kind),
      kube::Wanted{.fields = fmt::format("metadata.name={}", fabric::k_fence_name)},
      std::move(calls)));
}

void Sights::put_buyer_lease(const kube::Object& object) {
  const std::string peer = peer_of_space(kube::space_in(object));
  if (peer.empty()) return;
  fabric::FenceSight& fence = sellers_[peer].fence;
  const std::optional<fabric::BuyerLease> before = fence.lease;
  keep(object, fence.lease, fabric::read_buyer_lease(object));
  if (!fence.lease) return changed(peer);
  const Instant now = api_.loop().now();
  const bool is_renewed =
      !before || before->renewed != fence.lease->renewed || before->turns != fence.lease->turns;
  const bool was_late = !before || now - fence.seen > k_late;
  if (is_renewed) fence.seen = now;
  const bool is_news = !before || before->turns != fence.lease->turns ||
                       before->settled != fence.lease->settled || (is_renewed && was_late);
  if (is_news) changed(peer);
}

void Sights::put_fence_right(const kube::Name& name, fabric::Right fabric::FenceSight::*which,
                             fabric::Right is) {
  const std::string peer = peer_of_space(name.space);
  if (peer.empty()) return;
  if (std::exchange(sellers_[peer].fence.*which, is) != is) changed(peer);
}

}  // namespace spillway::agent
