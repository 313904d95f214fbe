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
  return text;
}

}  // namespace

bool Tellings::is_news(const std::string& text) {
  constexpr size_t k_most_said = 1024;
  const Instant now = api_.loop().now();
  const auto is_over = [now](Instant at) { return at > now || now - at >= k_quiet; };
  std::erase_if(said_, [&is_over](const auto& one) { return is_over(one.second); });
  if (said_.size() >= k_most_said) return false;  // more than anybody reads
  return said_.try_emplace(text, now).second;
}

void Tellings::set(const std::string& source, const std::string& about,
                   const std::vector<fabric::Trouble>& troubles) {
  std::set<std::string> now;
  std::set<std::string>& before = told_[source];
  for (const fabric::Trouble& trouble : troubles) {
    const std::string text = sentence(trouble);
    if (now.size() >= k_most || !now.insert(text).second || before.contains(text)) continue;
    if (!is_news(text)) continue;
    log_.write(services::Level::warning, "the fabric has a trouble",
               {{"of", source}, {"trouble", text}});
    write_event({"Namespace", {}, about}, "Warning", text);
  }
  before = std::move(now);
  if (before.empty()) told_.erase(source);
}

void Tellings::tell_once(const std::string& about, const fabric::Trouble& trouble) {
  const std::string text = sentence(trouble);
  if (!is_news(text)) return;
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
  for (const auto& [source, texts] : told_) all.insert(all.end(), texts.begin(), texts.end());
  return all;
}

void Tellings::tell_of_pod(const std::string& space, const std::string& pod, const std::string& uid,
                           const std::string& text) {
  log_.write(services::Level::info, "a pod may leave", {{"pod", space + "/" + pod}});
  write_event({"Pod", space, pod, uid}, "Normal", text);
}

// Namespaces have no namespace: events about them are kept in the default one.
void Tellings::write_event(const About& about, std::string_view type, std::string text) {
  constexpr size_t k_longest_message = 1024;  // the API server's own bound
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
  if (text.size() > k_longest_message) {
    text.resize(k_longest_message);
    while (!is_utf8(text)) text.pop_back();  // a character is cut
  }
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
