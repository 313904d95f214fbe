#include "services/fabric/guest_sights.h"

#include <algorithm>
#include <utility>

#include "services/fabric/resource.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

std::string_view buyer_of(const fabric::GuestSpaceSight& seen) {
  return kube::label_in(seen.space, liqo::k_peer_label);
}

}  // namespace

void GuestSights::start() {
  watch(liqo::k_resource_quotas, &fabric::GuestSpaceSight::quota);
  watch(liqo::k_limit_ranges, &fabric::GuestSpaceSight::limits);
  watch(liqo::k_network_policies, &fabric::GuestSpaceSight::network);
  for (const auto& one : watches_) one->start();
}

// By name, not by label: one whose label somebody took away is still in the way of another.
void GuestSights::watch(const liqo::Kind& kind, Limit which) {
  kube::WatchCalls calls;
  calls.on_put = [this, which](const kube::Object& object) {
    const std::string space(kube::space_in(object));
    spaces_[space].*which = object;
    changed(space);
  };
  calls.on_gone = [this, which](const kube::Name& name) {
    const auto found = spaces_.find(name.space);
    if (found == spaces_.end()) return;
    (found->second.*which).reset();
    changed(name.space);
    forget(name.space);
  };
  calls.on_synced = [this] {
    if (is_known()) calls_.known();
  };
  calls.on_trouble = [this](const Error& why) {
    trouble_ = why;
    log_.write(services::Level::warning, "limits of guest namespaces cannot be seen",
               {{"why", why.message()}});
    calls_.known();
  };
  calls.on_open = [this] {
    const bool is_seen = std::none_of(watches_.begin(), watches_.end(),
                                      [](const auto& one) { return one->is_in_trouble(); });
    if (is_seen) trouble_.reset();
  };
  watches_.push_back(std::make_unique<kube::Watch>(
      api_, resource_of(kind),
      kube::Wanted{.fields = fmt::format("metadata.name={}", fabric::k_guests_name)},
      std::move(calls)));
}

bool GuestSights::is_known() const {
  return !watches_.empty() && std::all_of(watches_.begin(), watches_.end(),
                                          [](const auto& one) { return one->is_synced(); });
}

std::vector<fabric::GuestSpaceSight> GuestSights::of(const std::string& buyer) const {
  std::vector<fabric::GuestSpaceSight> all;
  for (const auto& [name, seen] : spaces_) {
    if (buyer_of(seen) == buyer) all.push_back(seen);
  }
  return all;
}

void GuestSights::put_space(const kube::Object& space) {
  const std::string name(kube::name_in(space));
  changed(name);  // it may have been another's
  spaces_[name].space = space;
  changed(name);
}

// It may only have lost its label: what it has stays, until that is gone, too.
void GuestSights::drop_space(const std::string& name) {
  const auto found = spaces_.find(name);
  if (found == spaces_.end()) return;
  changed(name);
  found->second.space = {};
  forget(name);
}

void GuestSights::forget(const std::string& space) {
  const fabric::GuestSpaceSight& seen = spaces_.at(space);
  const bool is_left = seen.quota || seen.limits || seen.network || !buyer_of(seen).empty();
  if (!is_left) spaces_.erase(space);
}

void GuestSights::changed(const std::string& space) const {
  const auto found = spaces_.find(space);
  if (found == spaces_.end()) return;
  const std::string buyer(buyer_of(found->second));
  if (!buyer.empty()) calls_.changed(buyer);
}

}  // namespace spillway::agent
