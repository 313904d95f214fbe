#include "services/autoscaler/cluster_audience.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "supply/document.h"

namespace spillway::autoscaler {
namespace {

using model::ensure;
using model::put;
using model::text_node;

bool is_unschedulable(const kube::Object& pod) {
  for (const kube::Object& condition : model::items_at(pod, {"status", "conditions"})) {
    if (model::text_at(condition, {"type"}) != "PodScheduled") continue;
    return model::text_at(condition, {"status"}) == "False" &&
           model::text_at(condition, {"reason"}) == "Unschedulable";
  }
  return false;
}

// No character is cut in half.
std::string at_most(std::string text, size_t most) {
  constexpr std::string_view k_more = "…";
  if (text.size() <= most) return text;
  size_t end = most - k_more.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end -= 1;
  text.resize(end);
  return text + std::string(k_more);
}

std::string what_to_whom(const Announcement& one) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", one.space, one.name, one.uid, one.reason,
                     one.gist.empty() ? one.message : one.gist);
}

}  // namespace

ClusterAudience::ClusterAudience(host::Loop& loop, kube::Api& api, services::Log& log,
                                 std::string component)
    : loop_(loop),
      api_(api),
      log_(log),
      component_(std::move(component)),
      pods_(api, kube::k_pods, {.fields = "spec.nodeName=,status.phase=Pending"},
            {[this](const kube::Object& pod) { on_pod(pod); },
             [this](const kube::Name& name) { pending_.erase(name); }, [] {},
             [this](const Error& why) {
               log_.write(services::Level::warning, "pending pods cannot be seen",
                          {{"why", why.message()}});
             },
             [] {}}) {}

void ClusterAudience::on_pod(const kube::Object& pod) {
  kube::Name name = kube::key_of(pod);
  if (!is_unschedulable(pod)) {
    pending_.erase(name);
    return;
  }
  const auto labels = supply::read_labels(&model::find_path(pod, {"metadata", "labels"}));
  pending_.insert_or_assign(name, PendingPod{name.space, name.name, std::string(kube::uid_in(pod)),
                                             labels.value_or(model::Labels())});
}

std::vector<PendingPod> ClusterAudience::pending() const {
  std::vector<PendingPod> all;
  for (const auto& [name, pod] : pending_) all.push_back(pod);
  return all;
}

void ClusterAudience::tell(const Announcement& announcement) {
  const Instant now = loop_.now();
  if (waiting_.size() >= k_most_waiting) return;
  // Not with every word: thousands of pods are told at once.
  if (now - forgot_ >= k_forget_every) {
    std::erase_if(said_, [now](const auto& entry) { return now - entry.second >= k_quiet; });
    forgot_ = now;
  }
  if (said_.size() >= k_most_said) return;
  const auto [at, is_new] = said_.emplace(what_to_whom(announcement), now);
  if (!is_new && now - at->second < k_quiet) return;
  at->second = now;
  waiting_.push_back(announcement);
  send_next();
}

// Named as others name theirs: the object, then something that no other event of it has.
kube::Object ClusterAudience::event_of(const Announcement& one) {
  const bool is_pod = one.kind == Announcement::Kind::pod;
  const std::string space = is_pod ? one.space : "default";
  number_ += 1;
  const std::string name =
      fmt::format("{}.{:x}{:04x}", one.name.substr(0, 200), loop_.now().ms, number_ & 0xFFFF);
  kube::Object event = kube::new_object(kube::k_events, "Event", {space, name});
  kube::Object& about = ensure(event, {"involvedObject"});
  put(about, "apiVersion", text_node("v1"));
  put(about, "kind", text_node(is_pod ? "Pod" : "Node"));
  if (is_pod) put(about, "namespace", text_node(one.space));
  put(about, "name", text_node(one.name));
  put(about, "uid", text_node(is_pod ? one.uid : one.name));  // of nodes kubectl asks by name
  put(event, "type", text_node(one.is_warning ? "Warning" : "Normal"));
  put(event, "reason", text_node(one.reason));
  put(event, "message", text_node(at_most(one.message, k_longest_message)));
  put(event, "count", model::integer_node(1));
  const Instant now{loop_.now().ms / 1000 * 1000};  // the API has whole seconds
  put(event, "firstTimestamp", text_node(to_text(now)));
  put(event, "lastTimestamp", text_node(to_text(now)));
  put(ensure(event, {"source"}), "component", text_node(component_));
  put(event, "reportingComponent", text_node(component_));
  put(event, "reportingInstance", text_node(component_));
  return event;
}

void ClusterAudience::send_next() {
  while (in_flight_ < k_most_at_once && !waiting_.empty()) {
    const kube::Object event = event_of(waiting_.front());
    waiting_.pop_front();
    in_flight_ += 1;
    api_.create(kube::k_events, event,
                life_.guard([this](const Result<kube::Object>& answer) { on_sent(answer); }));
  }
}

void ClusterAudience::on_sent(const Result<kube::Object>& answer) {
  in_flight_ -= 1;
  // A pod that is gone takes its namespace with it at times: nobody is left to be told.
  const bool is_trouble = !answer && answer.error().code != Code::not_found;
  if (is_trouble && !std::exchange(is_complained_, true)) {
    log_.write(services::Level::warning, "an event cannot be written",
               {{"why", answer.error().message()}});
  }
  if (answer) is_complained_ = false;
  send_next();
}

}  // namespace spillway::autoscaler
