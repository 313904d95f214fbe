#include "services/broker/event_hub.h"

#include <algorithm>

#include "market/mutants.h"
#include "net/sse.h"
#include "services/wire/convert.h"

namespace spillway::services {

using market::Mutant;
using market::mutant;

namespace {

constexpr Duration k_look_again = milliseconds(20);  // whether a stream that is fed has caught up

bool is_for_all(market::EventKind kind) {
  return kind == market::EventKind::outage_recorded || kind == market::EventKind::epoch_begun;
}

}  // namespace

bool concerns(const market::Event& event, const Listener& listener) {
  if (mutant(Mutant::tell_all)) return true;
  return listener.hears_all || is_for_all(event.kind) || event.provider.text == listener.name ||
         event.buyer.text == listener.name;
}

std::string sse_text(const market::Event& event, bool with_origin) {
  return net::write_sse({fmt::format("{}", event.sequence), std::string(to_text(event.kind)),
                         wire::event_json(event, with_origin)});
}

EventHub::EventHub(host::Loop& loop, host::Store& store, host::EventLog& log, HubOptions options)
    : loop_(loop), store_(store), log_(log), options_(options) {}

template <class Which>
void EventHub::drop_if(Which which) {
  std::vector<uint64_t> numbers;
  for (auto& [number, open] : streams_) {
    if (which(open)) numbers.push_back(number);
  }
  for (const uint64_t number : numbers) drop(number);
}

void EventHub::start() {
  log_.listen(lifeline_.guard([this](const market::Event& event) { on_event(event); }));
  log_.on_jump(lifeline_.guard([this](int64_t) { on_jump(); }));
  beat_later();
}

void EventHub::add(Listener listener, std::shared_ptr<net::Stream> stream, int64_t after) {
  const uint64_t number = next_number_++;
  if (mutant(Mutant::resume_late)) ++after;
  // Later, for it may be called while the streams are being walked through.
  stream->on_gone(lifeline_.guard(
      [this, number] { loop_.post(lifeline_.guard([this, number] { streams_.erase(number); })); }));
  stream->send(net::write_sse_comment("welcome"));  // the head alone may wait in somebody's proxy
  streams_.emplace(number, Open{std::move(listener), std::move(stream), after, false, number});
  feed(number);
}

size_t EventHub::streams_of(const std::string& name) const {
  return static_cast<size_t>(
      std::count_if(streams_.begin(), streams_.end(),
                    [&](const auto& entry) { return entry.second.listener.name == name; }));
}

bool EventHub::send(Open& open, const market::Event& event, std::string_view text) {
  open.sent = event.sequence;
  if (!concerns(event, open.listener)) return true;
  if (open.stream->unsent() > options_.most_unsent) {
    ++slow_;
    return false;
  }
  return open.stream->send(text);
}

void EventHub::on_event(const market::Event& event) {
  if (streams_.empty()) return;
  std::string plain;
  std::string with_origin;
  drop_if([&](Open& open) {
    // What was fed from the store may be ahead of our own log.
    const bool told = event.sequence <= open.sent;
    if (!open.live || told || !concerns(event, open.listener)) return false;
    std::string& text = open.listener.hears_all ? with_origin : plain;
    if (text.empty()) text = sse_text(event, open.listener.hears_all);
    return !send(open, event, text);
  });
}

// The log has left events out, for the store forgot them before we could read them. Who comes back
// is told what it missed, or that nobody knows any more.
void EventHub::on_jump() {
  drop_if([](const Open& open) { return open.live; });
}

void EventHub::feed(uint64_t number) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  Open& open = found->second;
  if (open.stream->unsent() > options_.most_unsent / 2) {
    loop_.after(k_look_again, lifeline_.guard([this, number] { feed(number); }));
    return;
  }
  bool alive = true;
  bool full = false;
  const bool in_memory = log_.for_each_after(open.sent, [&](const market::Event& event) {
    full = open.stream->unsent() > options_.most_unsent / 2;
    if (full) return false;
    open.sent = event.sequence;
    if (concerns(event, open.listener)) {
      alive = open.stream->send(sse_text(event, open.listener.hears_all));
    }
    return alive;
  });
  if (!alive) return drop(number);
  if (!in_memory) return feed_from_store(number);
  if (full) return feed(number);  // the rest when this has been read
  open.live = true;
}

void EventHub::feed_from_store(uint64_t number) {
  store_.events_after(
      {streams_.at(number).sent, options_.page, true},
      lifeline_.guard([this, number](const Result<std::vector<market::Event>>& events) {
        const auto found = streams_.find(number);
        if (found == streams_.end()) return;
        // Forgotten meanwhile, or the store fails: it asks again and is told then.
        if (!events || events->empty()) return drop(number);
        for (const market::Event& event : *events) {
          const std::string text = sse_text(event, found->second.listener.hears_all);
          if (!send(found->second, event, text)) return drop(number);
        }
        feed(number);
      }));
}

void EventHub::drop(uint64_t number) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  const std::shared_ptr<net::Stream> stream = found->second.stream;
  streams_.erase(found);
  stream->close();
}

void EventHub::close_all() {
  drop_if([](const Open&) { return true; });
}

void EventHub::close_expired(Instant now) {
  drop_if([now](const Open& open) { return open.listener.not_after <= now; });
}

void EventHub::beat_later() {
  loop_.after(options_.heartbeat, lifeline_.guard([this] {
    beat();
    beat_later();
  }));
}

void EventHub::beat() {
  drop_if([](Open& open) { return !open.stream->send(net::write_sse_comment("beat")); });
}

}  // namespace spillway::services
