#include "services/fabric/spaces.h"

#include <utility>

#include "fabric/see.h"
#include "services/fabric/resource.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

constexpr std::string_view k_space_thing = "namespace ";
constexpr std::string_view k_source = "offloading of ";

bool lets_any_leave(const fabric::OffloadPolicy& policy) {
  return !policy.namespaces.empty() || !policy.labels.empty();
}

}  // namespace

Spaces::Spaces(kube::Api& api, services::Log& log, Tellings& tellings, int& in_flight,
               std::string own_space)
    : api_(api),
      log_(log),
      tellings_(tellings),
      wish_{{}, {}, std::move(own_space)},
      doings_(api, in_flight,
              {[this] { changed(); }, [this](const fabric::Place& at) { makings_.is_removed(at); },
               [this](const fabric::Place& at) { tell_pod(at); },
               [this](const fabric::Place& at) { tell_made(at); }}),
      alarm_(api.loop(), [this] { step(); }) {}

void Spaces::start() {
  namespaces_ = watch(
      kube::k_namespaces, {}, [this](const kube::Object& object) { put_space(object); },
      [this](const kube::Name& name) {
        spaces_.erase(name.name);
        makings_.space_is_gone(name.name);
      });
  offloadings_ = watch(
      resource_of(liqo::k_namespace_offloadings), {},
      [this](const kube::Object& object) { put_offloading(object); },
      [this](const kube::Name& name) {
        if (name.name != liqo::k_offloading_name) return;
        offloaded_.erase(name.space);
      });
  namespaces_->start();
  offloadings_->start();
  follow_pods();
}

std::unique_ptr<kube::Watch> Spaces::watch(const kube::Resource& resource, kube::Wanted wanted,
                                           Put put, Gone gone) {
  kube::WatchCalls calls;
  calls.on_put = [this, put = std::move(put)](const kube::Object& object) {
    put(object);
    changed();
  };
  calls.on_gone = [this, gone = std::move(gone)](const kube::Name& name) {
    gone(name);
    changed();
  };
  calls.on_synced = [this] { changed(); };
  calls.on_trouble = [this](const Error& why) {
    trouble_ = why;
    log_.write(services::Level::warning, "what may be offloaded cannot be seen",
               {{"why", why.message()}});
    changed();
  };
  calls.on_open = [this] {
    const auto is_blind = [](const auto& one) { return one && one->is_in_trouble(); };
    if (is_blind(namespaces_) || is_blind(offloadings_) || is_blind(pods_)) return;
    trouble_.reset();
    changed();
  };
  return std::make_unique<kube::Watch>(api_, resource, std::move(wanted), std::move(calls));
}

void Spaces::know_self(const std::string& id) {
  wish_.self = id;
  changed();
}

void Spaces::set_policy(fabric::OffloadPolicy policy) {
  if (policy == wish_.policy) return;
  wish_.policy = std::move(policy);
  follow_pods();
  changed();
}

// A cluster has many pods: those that wait are looked for while it matters.
void Spaces::follow_pods() {
  if (!namespaces_ || !lets_any_leave(wish_.policy)) {
    pods_.reset();
    waiting_.clear();
    return;
  }
  if (pods_) return;
  pods_ = watch(
      kube::k_pods, {.fields = "spec.nodeName=,status.phase=Pending"},
      [this](const kube::Object& object) { put_pod(object); },
      [this](const kube::Name& name) { waiting_.erase(name); });
  pods_->start();
}

void Spaces::put_space(const kube::Object& object) {
  spaces_.insert_or_assign(std::string(kube::name_in(object)), fabric::see_space(object));
}

void Spaces::put_offloading(const kube::Object& object) {
  if (kube::name_in(object) != liqo::k_offloading_name) return;
  auto read = liqo::read_namespace_offloading(object);
  auto& slot = offloaded_[std::string(kube::space_in(object))];
  slot.reset();
  if (read) slot = std::move(*read);
}

void Spaces::put_pod(const kube::Object& object) {
  kube::Name name = kube::key_of(object);
  if (auto seen = fabric::see_waiting_pod(object)) {
    waiting_.insert_or_assign(std::move(name), std::move(*seen));
  } else {
    waiting_.erase(name);
  }
}

bool Spaces::is_known() const {
  const bool are_pods_known = !pods_ || pods_->is_synced();
  return namespaces_ && namespaces_->is_synced() && offloadings_->is_synced() && are_pods_known;
}

void Spaces::changed() { alarm_.wake_by(api_.loop().now() + k_gather); }

void Spaces::set_holding(bool is_holding) {
  is_holding_ = is_holding;
  changed();
}

void Spaces::step() {
  if (wish_.self.empty() || !is_holding_) return;
  fabric::Plan plan;
  if (is_known()) {
    fabric::SpacesSight sight;
    sight.spaces = spaces_;
    for (const auto& [space, offloading] : offloaded_) {
      const auto found = sight.spaces.find(space);
      if (found == sight.spaces.end()) continue;
      found->second.offloading = offloading;
      found->second.has_unreadable = !offloading;
    }
    for (const auto& [name, pod] : waiting_) sight.waiting.push_back(pod);
    plan = plan_spaces(wish_, sight);
  } else if (trouble_ && lets_any_leave(wish_.policy)) {
    plan.troubles.push_back({std::string(k_space_thing) + std::string(liqo::k_namespace),
                             "nothing is offloaded: " + trouble_->message(),
                             "give the agent the rights of the chart's agent-rights.yaml"});
  }
  makings_.are_there(plan.kept);
  for (const fabric::Trouble& edit : edits_.find(plan.kept)) {
    tellings_.tell_once(std::string(liqo::k_namespace), edit);
  }
  const Instant next = doings_.want(plan.deeds);
  for (fabric::Trouble& one : doings_.troubles()) plan.troubles.push_back(std::move(one));
  tell(plan.troubles);
  if (next < k_last_instant) alarm_.wake_by(next);
}

// Each with the namespace that it is about.
void Spaces::tell(const std::vector<fabric::Trouble>& troubles) {
  std::map<std::string, std::vector<fabric::Trouble>> by_space;
  for (const std::string& space : std::exchange(told_, {})) by_space[space];
  for (const fabric::Trouble& one : troubles) {
    const bool has_space = one.thing.starts_with(k_space_thing);
    const std::string space =
        has_space ? one.thing.substr(k_space_thing.size()) : std::string(liqo::k_namespace);
    by_space[space].push_back(one);
    told_.insert(space);
  }
  for (const auto& [space, about] : by_space) {
    tellings_.set(std::string(k_source) + space, space, about);
  }
}

void Spaces::tell_made(const fabric::Place& at) {
  if (makings_.is_made_again(at)) tellings_.tell_once(at.space, Makings::trouble(at));
}

void Spaces::tell_pod(const fabric::Place& at) {
  if (at.kind.plural != liqo::k_pods.plural) return;
  const auto pod = waiting_.find({at.space, at.name});
  tellings_.tell_of_pod(
      at.space, at.name, pod == waiting_.end() ? std::string() : pod->second.uid,
      fmt::format("it waited for a node before its namespace was offloaded: from now on it "
                  "tolerates {}, as all pods that come after it do",
                  liqo::k_taint));
}

}  // namespace spillway::agent
