#include "services/agent/live_supply.h"

#include <algorithm>
#include <utility>

#include "market/mutants.h"

namespace spillway::agent {

using market::Mutant;
using services::Level;

LiveSupply::LiveSupply(kube::Api& api, services::Log& log, ClusterId cluster,
                       supply::OfferingPolicy policy, LiveSupplyCalls calls)
    : api_(api),
      log_(log),
      cluster_(std::move(cluster)),
      policy_(std::move(policy)),
      calls_(std::move(calls)),
      alarm_(api.loop(), [this] { step(); }) {}

void LiveSupply::start() {
  nodes_ = watch(
      kube::k_nodes, [this](const kube::Object& object) { put_node(object); },
      [this](const kube::Name& name) { view_.remove_node(name.name); },
      [this] { view_.set_nodes_known(); });
  pods_ = watch(
      kube::k_pods, [this](const kube::Object& object) { put_pod(object); },
      [this](const kube::Name& name) {
        if (market::mutant(Mutant::keep_deleted_pods)) return;
        view_.remove_pod(name.space + "/" + name.name);
      },
      [this] { view_.set_pods_known(); });
  nodes_->start();
  pods_->start();
}

std::unique_ptr<kube::Watch> LiveSupply::watch(const kube::Resource& resource,
                                               std::function<void(const kube::Object&)> put,
                                               std::function<void(const kube::Name&)> remove,
                                               std::function<void()> set_known) {
  kube::WatchCalls calls;
  calls.on_put = std::move(put);
  calls.on_gone = [this, remove = std::move(remove)](const kube::Name& name) {
    remove(name);
    change();
  };
  calls.on_synced = [this, set_known = std::move(set_known)] {
    set_known();
    change();
  };
  calls.on_open = [this] { see(); };
  calls.on_trouble = [this](const Error& why) { lose_sight(why); };
  return std::make_unique<kube::Watch>(api_, resource, kube::Wanted{}, std::move(calls));
}

// What has no name that could be read has no row: a Watch hands on none of these.
void LiveSupply::put_node(const kube::Object& object) {
  auto row = supply::node_row(object);
  if (!row) return;
  view_.put(std::move(*row), api_.loop().now());
  change();
}

void LiveSupply::put_pod(const kube::Object& object) {
  auto row = supply::pod_row(object, policy_.guests);
  if (!row) return;
  if (market::mutant(Mutant::forget_pod_requests)) row->requests = {};
  view_.put(std::move(*row));
  change();
}

// Rows of pods say whose they are by the policy that made them: under another they are made anew.
void LiveSupply::set_policy(supply::OfferingPolicy policy) {
  if (policy == policy_) return;
  const bool needs_new_rows = supply::needs_new_rows(policy_, policy);
  policy_ = std::move(policy);
  if (needs_new_rows) {
    api_.loop().post(life_.guard([this] {
      view_ = {};
      start();
    }));
  }
  change();
}

// By a timer and not by the clock, which may be set.
void LiveSupply::lose_sight(const Error& why) {
  log_.write(Level::warning, "the cluster cannot be seen", {{"why", why.message()}});
  if (std::exchange(is_in_trouble_, true)) return;
  api_.loop().after(k_blind, life_.guard([this, trouble = ++troubles_] {
    if (!is_in_trouble_ || trouble != troubles_) return;
    is_blind_ = true;
    log_.write(Level::warning, "nothing is offered until the cluster is seen again", {});
    change();
  }));
}

void LiveSupply::see() {
  if (!is_in_trouble_ || nodes_->is_in_trouble() || pods_->is_in_trouble()) return;
  is_in_trouble_ = false;
  is_blind_ = false;
  log_.write(Level::info, "the cluster is seen again", {});
  change();
}

void LiveSupply::change() {
  if (std::exchange(is_changed_, true)) return;
  const Instant now = api_.loop().now();
  // Bounded on both sides: a clock that was set must neither hurry nor delay it.
  alarm_.wake_by(now + std::clamp(next_ - now, k_gather, k_pause));
}

void LiveSupply::come_back_at(Instant time) {
  later_ = std::min(later_, time);
  alarm_.wake_by(later_);
}

void LiveSupply::step() {
  const Instant now = api_.loop().now();
  const bool is_time = later_ <= now;
  if (!is_changed_ && !is_time) {
    if (later_ < k_last_instant) alarm_.wake_by(later_);
    return;
  }
  is_changed_ = false;
  if (is_time) later_ = k_last_instant;
  next_ = now + k_pause;
  publish(now);
}

void LiveSupply::publish(Instant now) {
  if (is_blind_) return withhold();
  const std::vector<supply::Sold> sold = calls_.sold();
  supply::Offering offering = supply::offer(view_, policy_, cluster_, now, sold);
  if (!offering.known) return;
  explanation_ = std::move(offering.explanation);
  if (offering.changes_at) come_back_at(*offering.changes_at);
  calls_.then(std::move(offering.supply));
}

void LiveSupply::withhold() {
  explanation_ = {};
  explanation_.withheld = "the cluster cannot be seen";
  supply::Supply left = calls_.published();
  left.offers.clear();
  calls_.then(std::move(left));
}

}  // namespace spillway::agent
