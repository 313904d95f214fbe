// What is there of fences and accounts (fabric/fence.h, account.h), as their provider sees it: by
// name, in tenants' namespaces.
#include <utility>

#include "services/fabric/resource.h"
#include "services/fabric/sights.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

// A buyer renews every few seconds: of that alone nothing follows. One that was late is news.
constexpr Duration k_late = seconds(10);

}  // namespace

template <class T>
void Sights::put_right(const kube::Name& name, T fabric::SellerSight::*part,
                       fabric::Right T::*which, fabric::Right is) {
  const std::string peer = liqo::peer_of_tenant_namespace(name.space);
  if (peer.empty()) return;
  if (std::exchange(sellers_[peer].*part.*which, is) != is) changed(peer);
}

template <class T, class JudgeRole, class JudgeBinding>
void Sights::watch_rights(std::string_view name, T fabric::SellerSight::*part, JudgeRole judge_role,
                          JudgeBinding judge_binding) {
  const auto watch = [&](const liqo::Kind& kind, fabric::Right T::*which, auto judge) {
    watch_named(
        kind, name,
        [this, part, which, judge](const kube::Object& object) {
          const std::string peer = liqo::peer_of_tenant_namespace(kube::space_in(object));
          put_right(kube::key_of(object), part, which, judge(object, peer));
        },
        [this, part, which](const kube::Name& gone) {
          put_right(gone, part, which, fabric::Right::absent);
        });
  };
  watch(liqo::k_roles, &T::role, judge_role);
  watch(liqo::k_role_bindings, &T::binding, judge_binding);
}

void Sights::watch_fences() {
  const auto drop_lease = [this](const kube::Name& name) {
    const std::string peer = liqo::peer_of_tenant_namespace(name.space);
    if (peer.empty()) return;
    fabric::SellerSight& sold = sellers_[peer];
    fabric::note_no_lease(sold.fence, !sold.slices.empty());
    changed(peer);
  };
  watch_named(
      liqo::k_leases, fabric::k_fence_name,
      [this](const kube::Object& object) { put_buyer_lease(object); }, drop_lease);
  watch_rights(
      fabric::k_fence_name, &fabric::SellerSight::fence,
      [](const kube::Object& role, const std::string&) { return fabric::judge_fence_role(role); },
      fabric::judge_fence_binding);
}

void Sights::watch_accounts() {
  const auto put_account = [this](const kube::Name& name, std::string_view uid) {
    const std::string peer = liqo::peer_of_tenant_namespace(name.space);
    if (peer.empty()) return;
    sellers_[peer].account.uid = uid;
    changed(peer);
  };
  watch_named(
      liqo::k_service_accounts, fabric::k_account_name,
      [put_account](const kube::Object& object) {
        put_account(kube::key_of(object), kube::uid_in(object));
      },
      [put_account](const kube::Name& name) { put_account(name, {}); });
  watch_rights(fabric::k_account_name, &fabric::SellerSight::account, fabric::judge_account_role,
               fabric::judge_account_binding);
}

// One that cannot be seen is taken for missing: it is made again, which changes nothing, and if
// that is refused it is told. No contract waits for it.
void Sights::watch_named(const liqo::Kind& kind, std::string_view name, Put put, Gone gone) {
  kube::WatchCalls calls;
  calls.on_put = std::move(put);
  calls.on_gone = std::move(gone);
  calls.on_trouble = [this](const Error& why) {
    log_.write(services::Level::warning, "rights of buyers cannot be seen",
               {{"why", why.message()}});
  };
  fence_watches_.push_back(std::make_unique<kube::Watch>(
      api_, resource_of(kind), kube::Wanted{.fields = fmt::format("metadata.name={}", name)},
      std::move(calls)));
}

void Sights::put_buyer_lease(const kube::Object& object) {
  const std::string peer = liqo::peer_of_tenant_namespace(kube::space_in(object));
  if (peer.empty()) return;
  fabric::FenceSight& fence = sellers_[peer].fence;
  const std::optional<fabric::BuyerLease> before = fence.lease;
  std::optional<fabric::BuyerLease> seen;
  keep(object, seen, fabric::read_buyer_lease(object));
  if (!seen) {
    fabric::note_no_lease(fence, true);
    return changed(peer);
  }
  const Instant now = api_.loop().now();
  const bool was_late = now - fence.seen > k_late;
  fabric::note_lease(fence, std::move(*seen), now);
  const bool is_renewed = fence.seen == now;
  const bool is_news = !before || before->turns != fence.lease->turns ||
                       before->settled != fence.lease->settled || (is_renewed && was_late);
  if (is_news) changed(peer);
}

}  // namespace spillway::agent
