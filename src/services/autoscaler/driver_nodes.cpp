#include "services/autoscaler/driver_nodes.h"

#include <utility>

#include "fabric/liqo/names.h"
#include "services/autoscaler/node_document.h"

namespace spillway::autoscaler {

using fabric::UnitStep;

DriverNodes::DriverNodes(host::Loop& loop, host::Random& random, net::Channel& channel,
                         services::Log& log, std::string cluster, std::string owner)
    : loop_(loop),
      random_(random),
      client_(channel),
      log_(log),
      cluster_(std::move(cluster)),
      owner_(std::move(owner)),
      look_(loop, [this] {
        if (is_known_) list({}, {});
      }) {}

void DriverNodes::start(std::function<void()> changed) {
  changed_ = std::move(changed);
  follow();
}

bool DriverNodes::is_ours(const driver::UnitDocument& unit) const {
  const auto owner = unit.order.annotations.find(k_owner);
  return owner != unit.order.annotations.end() && owner->second == owner_;
}

// ---- what is there -------------------------------------------------------------------------

// Followed first and read then: what happens in between is told.
void DriverNodes::follow() {
  driver::FollowCalls calls;
  calls.on_open = life_.guard([this] { list({}, {}); });
  calls.on_event = life_.guard([this](const driver::Event& event) {
    if (event.consumer != cluster_ || !event.step) return;
    if (units_.contains(event.unit)) put(event.unit, *event.step);
  });
  calls.on_end = life_.guard([this](const Error& why) { fail(why); });
  following_ = client_.follow(std::nullopt, std::move(calls));
}

void DriverNodes::list(const std::string& after, std::map<std::string, UnitStep> found) {
  client_.list_units(
      {.consumer = cluster_, .after = after},
      life_.guard([this, before = std::move(found)](const Result<driver::UnitPage>& page) {
        if (!page) return fail(page.error());
        std::map<std::string, UnitStep> all = before;
        for (const driver::UnitDocument& unit : page->units) {
          if (is_ours(unit)) all[unit.unit] = unit.step;
        }
        if (!page->next.empty()) return list(page->next, std::move(all));
        take(all);
      }));
}

void DriverNodes::take(const std::map<std::string, UnitStep>& found) {
  if (!std::exchange(is_known_, true)) {
    log_.write(services::Level::info, "the driver's units are seen", {{"cluster", cluster_}});
  }
  backoff_.reset();
  const auto before = std::exchange(units_, {});
  for (const auto& [name, step] : found) put(name, step);
  // Its driver has forgotten what became of it: it has been gone for long.
  for (const auto& [name, step] : before) {
    if (!found.contains(name)) tell_removed(name);
  }
  changed_();
  look_.wake_by(loop_.now() + k_look_again);
}

void DriverNodes::put(const std::string& name, UnitStep step) {
  if (step == UnitStep::gone) {
    units_.erase(name);
  } else {
    units_[name] = step;
  }
  if (step == UnitStep::ending || step == UnitStep::gone) tell_removed(name);
  changed_();
}

void DriverNodes::tell_removed(const std::string& name) {
  const auto waiting = removing_.extract(name);
  if (waiting.empty()) return;
  for (const Then& then : waiting.mapped()) then({});
}

void DriverNodes::fail(const Error& why) {
  if (std::exchange(is_known_, false) || backoff_.failures() == 0) {
    log_.write(services::Level::warning, "the driver's units cannot be seen",
               {{"why", why.message()}});
  }
  changed_();
  if (std::exchange(is_waiting_, true)) return;
  // Later, for it is the stream itself that tells of its end.
  loop_.after(backoff_.next(random_), life_.guard([this] {
    is_waiting_ = false;
    follow();
  }));
}

NodeSight DriverNodes::look(const std::string& name) const {
  if (!is_known_) return NodeSight::unknown;
  const auto found = units_.find(name);
  if (found == units_.end()) return NodeSight::absent;
  return found->second == UnitStep::ready ? NodeSight::ready : NodeSight::coming;
}

std::vector<std::string> DriverNodes::names() const {
  std::vector<std::string> all;
  for (const auto& [name, step] : units_) {
    if (step != UnitStep::ending) all.push_back(name);
  }
  return all;
}

// ---- what is asked for ---------------------------------------------------------------------

// What is each unit's own, or Liqo's, is left out: units of one contract are ordered alike.
driver::UnitOrder DriverNodes::order_of(const demand::NodeImage& image) const {
  driver::UnitOrder order;
  order.consumer = cluster_;
  order.resources = image.resources;
  order.provider_id = image.provider_id;
  for (const model::Label& label : image.labels) {
    if (label.key == demand::k_provider_label) order.provider = label.value;
    if (label.key.starts_with("liqo.io/") || label.key == "kubernetes.io/hostname") continue;
    order.labels.push_back(label);
  }
  for (const model::Taint& taint : image.taints) {
    if (taint.key != fabric::liqo::k_taint) order.taints.push_back(taint);
  }
  order.annotations = {{k_back_end, std::string(k_driver_back_end)}, {k_owner, owner_}};
  return order;
}

void DriverNodes::make(const demand::NodeImage& image, Then then) {
  const std::string name = image.name;
  client_.order(
      name, order_of(image),
      life_.guard([this, name, then = std::move(then)](const Result<driver::UnitDocument>& unit) {
        if (!unit) return then(tl::unexpected(unit.error()));
        put(name, unit->step);
        then({});
      }));
}

void DriverNodes::remove(const std::string& name, Then then) {
  removing_[name].push_back(std::move(then));
  client_.end(name, life_.guard([this, name](const Result<driver::UnitDocument>& unit) {
    if (unit) return put(name, unit->step);
    const Code code = unit.error().code;
    if (code == Code::not_found || code == Code::gone) {
      units_.erase(name);
      return tell_removed(name);
    }
    const auto refused = removing_.extract(name);
    if (refused.empty()) return;
    for (const Then& one : refused.mapped()) one(tl::unexpected(unit.error()));
  }));
}

}  // namespace spillway::autoscaler
