#include "embedded/watches.h"

#include <fmt/format.h>

#include "embedded/drops.h"
#include "embedded/refusal.h"
#include "model/tree.h"

namespace spillway::embedded {
namespace {

// So long before its end a stream has a last bookmark: who takes it up again misses little.
constexpr Duration k_last_mark = seconds(2);

}  // namespace

std::string event_line(std::string_view type, std::string_view object) {
  return fmt::format(R"({{"type":"{}","object":{}}})"
                     "\n",
                     type, object);
}

Watches::Watches(Table& table, host::Loop& loop, host::Random& random, WatchOptions options)
    : table_(table), loop_(loop), random_(random), options_(options) {
  table_.listen([this](const Change& change) { tell(change); });
}

void Watches::open(Opening opening, std::shared_ptr<net::Stream> stream) {
  if (opening.fault.drop_bytes > 0) {
    stream = std::make_shared<Drops>(loop_, std::move(stream), opening.fault.drop_bytes,
                                     opening.fault.drop_every);
  }
  auto watch = std::make_shared<Watch>(Watch{std::move(opening), std::move(stream)});
  if (watch->opening.sends_initial) {
    send_initial(*watch);
  } else if (const int64_t oldest = oldest_of(*watch->opening.kind);
             watch->opening.after < oldest) {
    const Refused refused =
        expired(fmt::format("too old resource version: {} ({})", watch->opening.after, oldest));
    send_line(*watch, event_line("ERROR", model::to_json(status_document(refused.value()))));
    return end(*watch);
  } else {
    replay(*watch);
  }
  if (watch->is_over) return;
  open_.push_back(watch);
  watch->stream->on_gone(lifeline_.guard([this, gone = std::weak_ptr<Watch>(watch)] {
    if (const auto it = gone.lock()) it->is_over = true;
    // Not at once: a change may be on its way through the list.
    loop_.post(
        lifeline_.guard([this] { open_.remove_if([](const auto& one) { return one->is_over; }); }));
  }));
  limit_time(watch);
  bookmark_later();
}

// After a fall back a kind may have been defined in what is now the future.
int64_t Watches::oldest_of(const Kind& kind) const {
  return std::max(table_.known_after(), std::min(kind.begins, table_.version()));
}

void Watches::cut_all() {
  const Place all = open_;
  for (const auto& watch : all) end(*watch);
}

void Watches::tell(const Change& change) {
  for (const auto& watch : open_) {
    if (watch->is_over || change.object->kind != watch->opening.kind) continue;
    // A version that was given before, after a fall back, is not told: the real one does not
    // either.
    if (change.object->version <= watch->opening.after) continue;
    watch->opening.after = change.object->version;
    offer(*watch, change);
    if (watch->stream->unsent() > options_.most_unsent) end(*watch);
  }
}

void Watches::send_initial(Watch& watch) {
  watch.opening.after = table_.version();
  for (const auto& [key, object] : table_.shelf(*watch.opening.kind)) {
    if (watch.opening.filter.matches(*object)) send_event(watch, "ADDED", *object);
    if (watch.is_over) return;
  }
  if (watch.opening.marks_initial_end) send_bookmark(watch, true);
}

void Watches::replay(Watch& watch) {
  const int64_t after = watch.opening.after;
  table_.for_each_after(after, [&](const Change& change) {
    if (watch.is_over || change.object->kind != watch.opening.kind) return;
    watch.opening.after = change.object->version;
    offer(watch, change);
  });
}

// What a change means to who sees only a part: something that begins to match is new to them.
void Watches::offer(Watch& watch, const Change& change) {
  const Filter& filter = watch.opening.filter;
  const bool is_seen = change.type != Change::Type::deleted && filter.matches(*change.object);
  const bool was_seen = change.before != nullptr && filter.matches(*change.before);
  if (is_seen) return send_event(watch, was_seen ? "MODIFIED" : "ADDED", *change.object);
  if (!was_seen) return;
  if (change.type == Change::Type::deleted) return send_event(watch, "DELETED", *change.object);
  // The last state that matched, at the version at which it no longer did.
  const ObjectPtr last =
      make_object(*change.before->kind, change.before->document(), change.object->version);
  send_event(watch, "DELETED", *last);
}

void Watches::send_event(Watch& watch, std::string_view type, const Object& object) {
  const Fault& fault = watch.opening.fault;
  send_line(watch, event_line(type, watch.opening.shown(object)));
  ++watch.sent;
  if (watch.sent == fault.garbage_after_events) send_line(watch, "{\"type\":\"ADDED\",\x01\xff]\n");
  if (watch.sent == fault.cut_after_events) end(watch);
}

void Watches::send_line(Watch& watch, const std::string& line) {
  if (!watch.is_over && !watch.stream->send(line)) watch.is_over = true;
}

void Watches::end(Watch& watch) {
  if (watch.is_over) return;
  watch.is_over = true;
  watch.stream->close();
}

void Watches::send_bookmark(Watch& watch, bool is_initial_end) {
  using model::put;
  using model::text_node;
  model::Node document = model::object_node();
  const Kind& kind = *watch.opening.kind;
  put(document, "kind", text_node(kind.name));
  put(document, "apiVersion",
      text_node(kind.group.empty() ? watch.opening.version
                                   : kind.group + "/" + watch.opening.version));
  model::Node& metadata = put(document, "metadata", model::object_node());
  put(metadata, "resourceVersion", text_node(std::to_string(table_.version())));
  if (is_initial_end) {
    put(model::ensure(metadata, {"annotations"}), "k8s.io/initial-events-end", text_node("true"));
  }
  watch.opening.after = std::max(watch.opening.after, table_.version());
  send_line(watch, event_line("BOOKMARK", model::to_json(document)));
}

void Watches::limit_time(const std::shared_ptr<Watch>& watch) {
  Duration limit = watch->opening.timeout;
  if (limit.ms <= 0) {
    const auto least = static_cast<uint64_t>(options_.least_timeout.ms);
    limit = options_.least_timeout +
            milliseconds(static_cast<int64_t>(host::below(random_, least + 1)));
  }
  const std::weak_ptr<Watch> weak = watch;
  if (limit > k_last_mark) {
    loop_.after(limit - k_last_mark, lifeline_.guard([this, weak] {
      if (const auto still = weak.lock()) mark(*still);
    }));
  }
  const Duration cut = watch->opening.fault.cut_after;
  if (cut.ms > 0) limit = std::min(limit, cut);
  loop_.after(limit, lifeline_.guard([weak] {
    if (const auto still = weak.lock()) end(*still);
  }));
}

void Watches::mark(Watch& watch) {
  const bool is_ahead = watch.opening.after > table_.version();
  if (watch.opening.wants_bookmarks && !watch.is_over && !is_ahead) send_bookmark(watch, false);
}

void Watches::bookmark_later() {
  if (is_marking_) return;
  is_marking_ = true;
  loop_.after(options_.bookmark_every, lifeline_.guard([this] {
    is_marking_ = false;
    for (const auto& watch : open_) mark(*watch);
    if (!open_.empty()) bookmark_later();
  }));
}

}  // namespace spillway::embedded
