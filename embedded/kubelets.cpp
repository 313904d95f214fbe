#include "embedded/kubelets.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "embedded/annotations.h"
#include "embedded/document.h"
#include "embedded/node_report.h"
#include "embedded/pod_status.h"

namespace spillway::embedded {
namespace {

using model::Node;

Duration duration_of(const Node& pod, std::string_view annotation, Duration otherwise) {
  const auto parsed = parse_duration(annotation_of(pod, annotation));
  return parsed ? std::min(*parsed, seconds(k_longest_seconds)) : otherwise;
}

std::string host_ip_of(int64_t number) {
  return fmt::format("10.0.{}.{}", number / 250, number % 250 + 1);
}

int64_t exit_code_of(const Node& pod) {
  const std::string_view text = annotation_of(pod, k_exit_code);
  int64_t code = 0;
  std::from_chars(text.data(), text.data() + text.size(), code);
  return code;
}

bool has_kubelet(const Object& node) { return annotation_of(node.document(), k_kubelet) == "on"; }

}  // namespace

Kubelets::Kubelets(Objects& objects, host::Loop& loop, KubeletOptions options)
    : objects_(objects), loop_(loop), options_(options), turn_(loop, [this] { work(); }) {
  objects_.table.listen([this](const Change& change) {
    if (change.object->kind == &objects_.registry.built_in("nodes")) return hear_node(change);
    if (change.object->kind != &objects_.registry.built_in("pods")) return;
    if (find_pair(change.object->fields, "spec.nodeName")->empty()) return;
    changed_.insert(change.object->key);
    turn_.soon();
  });
}

void Kubelets::hear_node(const Change& change) {
  const std::string& name = change.object->key.name;
  if (change.type == Change::Type::deleted) {
    nodes_.erase(name);
    return;
  }
  const bool is_on_now = has_kubelet(*change.object);
  const auto [at, is_new] = nodes_.try_emplace(name);
  NodeState& state = at->second;
  if (is_new) state.number = next_number_++;
  if (is_on_now == state.is_on) return;
  state.is_on = is_on_now;
  if (!is_on_now) return;
  begun_.insert(name);
  turn_.soon();
}

bool Kubelets::is_on(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && found->second.is_on;
}

void Kubelets::work() {
  for (const std::string& node : std::exchange(begun_, {})) {
    report(node);
    renew_lease(node);
    // What happened while it was off.
    for (const auto& [key, pod] : objects_.table.shelf(objects_.registry.built_in("pods"))) {
      if (*find_pair(pod->fields, "spec.nodeName") == node) changed_.insert(key);
    }
  }
  for (const Key& key : std::exchange(changed_, {})) look_at(key);
  if (is_beating_ || nodes_.empty()) return;
  is_beating_ = true;
  loop_.after(options_.heartbeat_every, lifeline_.guard([this] { beat(); }));
}

void Kubelets::look_at(const Key& key) {
  const ObjectPtr object = objects_.table.find(objects_.registry.built_in("pods"), key);
  if (object == nullptr) {
    running_.erase(key);
    return;
  }
  if (!is_on(*find_pair(object->fields, "spec.nodeName"))) return;
  Running& running = running_[key];
  if (running.uid != object->uid) running = Running{object->uid};
  const Node pod = object->document();
  if (is_being_deleted(pod)) {
    const auto grace = model::integer_at(pod, {"metadata", "deletionGracePeriodSeconds"}, 30);
    if (running.grace >= 0 && grace >= running.grace) return;
    running.grace = grace;
    const Duration wait =
        std::min(duration_of(pod, k_stop_after, options_.stop_after), bounded_seconds(grace));
    return later(wait, key, running.uid, &Kubelets::stop);
  }
  if (model::text_at(pod, {"status", "phase"}) != "Pending") return;
  if (std::exchange(running.is_starting, true)) return;
  later(duration_of(pod, k_start_after, options_.start_after), key, running.uid, &Kubelets::start);
}

void Kubelets::later(Duration delay, const Key& key, const std::string& uid,
                     void (Kubelets::*what)(const Key&, const std::string&)) {
  if (delay.ms <= 0) return (this->*what)(key, uid);
  loop_.after(delay, lifeline_.guard([this, key, uid, what] { (this->*what)(key, uid); }));
}

// Null: it is gone, another has its name, or its kubelet is off and forgets what it was about to
// do.
ObjectPtr Kubelets::find_pod(const Key& key, const std::string& uid) const {
  ObjectPtr object = objects_.table.find(objects_.registry.built_in("pods"), key);
  if (object == nullptr || object->uid != uid) return nullptr;
  return is_on(*find_pair(object->fields, "spec.nodeName")) ? object : nullptr;
}

void Kubelets::start(const Key& key, const std::string& uid) {
  if (const auto running = running_.find(key); running != running_.end()) {
    running->second.is_starting = false;
  }
  const ObjectPtr object = find_pod(key, uid);
  if (object == nullptr) return;
  NodeState& node = nodes_[*find_pair(object->fields, "spec.nodeName")];
  const int64_t n = node.pods++;
  const PodPlace place{host_ip_of(node.number), fmt::format("10.{}.{}.{}", 100 + node.number / 250,
                                                            node.number % 250, n % 250 + 2)};
  Duration run_for{};
  objects_.change(*object->kind, key, [&](Node& pod) {
    if (is_being_deleted(pod)) return;
    set_running(pod, place, annotation_of(pod, k_ready) != "false", objects_.clock.now());
    run_for = duration_of(pod, k_run_for, {});
  });
  if (run_for.ms > 0) later(run_for, key, uid, &Kubelets::finish);
}

void Kubelets::finish(const Key& key, const std::string& uid) {
  const ObjectPtr object = find_pod(key, uid);
  if (object == nullptr) return;
  objects_.change(*object->kind, key, [&](Node& pod) {
    const int64_t code = exit_code_of(pod);
    const std::string_view policy = model::text_at(pod, {"spec", "restartPolicy"});
    if (policy == "Always" || (policy == "OnFailure" && code != 0)) return;  // it is started again
    set_ended(pod, code, objects_.clock.now());
  });
}

void Kubelets::stop(const Key& key, const std::string& uid) {
  const auto running = running_.find(key);
  if (running != running_.end()) running->second.grace = -1;
  const ObjectPtr object = find_pod(key, uid);
  if (object == nullptr) return;
  DeleteOptions options;
  options.grace_seconds = 0;
  options.uid = uid;
  (void)objects_.remove(*object->kind, key, options);
}

void Kubelets::beat() {
  is_beating_ = false;
  std::vector<std::string> on;
  for (const auto& [name, state] : nodes_) {
    if (state.is_on) on.push_back(name);
  }
  for (const std::string& name : on) {
    renew_lease(name);
    if (objects_.clock.now() - nodes_[name].reported >= options_.status_every) report(name);
  }
  turn_.soon();
}

void Kubelets::report(const std::string& node) {
  const Instant now = objects_.clock.now();
  nodes_[node].reported = now;
  const std::string address = host_ip_of(nodes_[node].number);
  objects_.change(objects_.registry.built_in("nodes"), {"", node},
                  [&](Node& document) { report_node(document, address, now); });
}

void Kubelets::renew_lease(const std::string& node) {
  const Kind& leases = objects_.registry.built_in("leases", "coordination.k8s.io");
  const Key key{std::string(k_lease_space), node};
  const ObjectPtr owner = objects_.table.find(objects_.registry.built_in("nodes"), {"", node});
  if (owner != nullptr && objects_.table.find(leases, key) == nullptr) {
    Node lease = new_node_lease(*owner);
    renew_node_lease(lease, objects_.clock.now());
    (void)objects_.create(leases, std::move(lease));
    return;
  }
  objects_.change(leases, key, [&](Node& lease) { renew_node_lease(lease, objects_.clock.now()); });
}

}  // namespace spillway::embedded
