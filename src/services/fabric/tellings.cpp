#include "services/fabric/tellings.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace spillway::agent {
namespace {

constexpr std::string_view k_component = "spillway-fabric";

std::string sentence(const fabric::Trouble& trouble) {
  std::string text = fmt::format("{}: {}", trouble.thing, trouble.reason);
  if (!trouble.next.empty()) text += "; " + trouble.next;
  cut_to(text, Tellings::k_longest);
  return text;
}

}  // namespace

void Tellings::make_room(const std::string& source) {
  const Instant now = api_.loop().now();
  const auto forget_old = [now](std::map<std::string, Instant>& said) {
    std::erase_if(
        said, [now](const auto& one) { return one.second > now || now - one.second >= k_quiet; });
  };
  const auto found = said_.find(source);
  if (found != said_.end()) return forget_old(found->second);
  for (auto& one : said_) forget_old(one.second);
  std::erase_if(said_, [](const auto& one) { return one.second.empty(); });
}

Tellings::News Tellings::tell(const std::string& source, const std::string& text) {
  make_room(source);
  auto& said = said_[source];
  if (said.contains(text)) return News::told_lately;
  if (said.size() >= k_most) return News::too_much;
  said.emplace(text, api_.loop().now());
  return News::told_now;
}

void Tellings::set(const std::string& source, const std::string& about,
                   const std::vector<fabric::Trouble>& troubles) {
  std::map<std::string, bool> now;
  std::map<std::string, bool>& before = told_[source];
  for (const fabric::Trouble& trouble : troubles) {
    if (now.size() >= k_most) break;
    const auto [at, is_new] = now.try_emplace(sentence(trouble), true);
    if (!is_new) continue;
    const auto known = before.find(at->first);
    if (known != before.end() && known->second) continue;
    const News news = tell(source, at->first);
    at->second = news != News::too_much;
    if (news != News::told_now) continue;
    log_.write(services::Level::warning, "the fabric has a trouble",
               {{"of", source}, {"trouble", at->first}});
    write_event({"Namespace", {}, about}, "Warning", at->first);
  }
  before = std::move(now);
  if (before.empty()) told_.erase(source);
}

void Tellings::tell_once(const std::string& about, const fabric::Trouble& trouble) {
  const std::string text = sentence(trouble);
  if (tell(about, text) != News::told_now) return;
  log_.write(services::Level::warning, "the fabric had a trouble", {{"trouble", text}});
  write_event({"Namespace", {}, about}, "Warning", text);
}

int64_t Tellings::count() const {
  size_t sum = 0;
  for (const auto& [source, texts] : told_) sum += texts.size();
  return static_cast<int64_t>(sum);
}

std::vector<std::string> Tellings::all() const {
  std::vector<std::string> all;
  for (const auto& [source, texts] : told_) {
    for (const auto& [text, is_told] : texts) all.push_back(text);
  }
  return all;
}

void Tellings::tell_of_pod(const std::string& space, const std::string& pod, const std::string& uid,
                           const std::string& text) {
  log_.write(services::Level::info, "a pod may leave", {{"pod", space + "/" + pod}});
  write_event({"Pod", space, pod, uid}, "Normal", text);
}

// Namespaces have no namespace: events about them are kept in the default one.
void Tellings::write_event(const About& about, std::string_view type, std::string text) {
  const Instant now{api_.loop().now().ms / 1000 * 1000};
  number_ += 1;
  kube::Object event =
      kube::new_object(kube::k_events, "Event",
                       {about.space.empty() ? "default" : about.space,
                        fmt::format("{}.{:x}{:04x}", about.name, now.ms, number_ & 0xFFFF)});
  kube::Object& object = model::ensure(event, {"involvedObject"});
  model::put(object, "apiVersion", model::text_node("v1"));
  model::put(object, "kind", model::text_node(about.kind));
  model::put(object, "name", model::text_node(about.name));
  if (!about.space.empty()) model::put(object, "namespace", model::text_node(about.space));
  if (!about.uid.empty()) model::put(object, "uid", model::text_node(about.uid));
  model::put(event, "type", model::text_node(type));
  model::put(event, "reason", model::text_node("Fabric"));
  cut_to(text, Tellings::k_longest);
  model::put(event, "message", model::text_node(text));
  model::put(event, "count", model::integer_node(1));
  model::put(event, "firstTimestamp", model::text_node(to_text(now)));
  model::put(event, "lastTimestamp", model::text_node(to_text(now)));
  model::put(model::ensure(event, {"source"}), "component", model::text_node(k_component));
  api_.create(kube::k_events, event, life_.guard([this](const Result<kube::Object>& answer) {
    if (answer || std::exchange(is_complained_, true)) return;
    log_.write(services::Level::warning, "an event cannot be written",
               {{"why", answer.error().message()}});
  }));
}

}  // namespace spillway::agent
