#include "services/driver/event_window.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/codec.h"
#include "net/sse.h"

namespace spillway::driver {
namespace {

// More events than anybody has in a millisecond, and numbers that every reader of JSON can hold.
constexpr int64_t k_events_a_millisecond = 1000;

std::string sse_of(const Event& event) {
  return net::write_sse({fmt::format("{}", event.sequence), std::string(model::word_of(event.kind)),
                         model::write_json(event)});
}

}  // namespace

EventWindow::EventWindow(host::Loop& loop)
    : loop_(loop), last_(loop.now().ms * k_events_a_millisecond) {}

void EventWindow::start() { beat_later(); }

void EventWindow::add(Event event) {
  event.sequence = std::max(last_ + 1, loop_.now().ms * k_events_a_millisecond);
  event.at = loop_.now();
  last_ = event.sequence;
  events_.push_back(std::move(event));
  if (events_.size() > k_most) events_.pop_front();
  std::string text;
  drop_if([&](const Open& open) { return !tell(open, events_.back(), text); });
}

void EventWindow::add_troubles(const std::string& consumer, const std::string& provider,
                               const std::vector<fabric::Trouble>& before,
                               const std::vector<fabric::Trouble>& now) {
  const auto add_new = [&](EventKind kind, const std::vector<fabric::Trouble>& all,
                           const std::vector<fabric::Trouble>& known) {
    constexpr std::string_view k_of_unit = "unit ";
    for (const fabric::Trouble& one : all) {
      if (std::find(known.begin(), known.end(), one) != known.end()) continue;
      const bool is_units = one.thing.starts_with(k_of_unit);
      add({.kind = kind,
           .consumer = consumer,
           .provider = provider,
           .unit = is_units ? one.thing.substr(k_of_unit.size()) : std::string(),
           .trouble = one});
    }
  };
  add_new(EventKind::trouble, now, before);
  add_new(EventKind::mended, before, now);
}

bool EventWindow::tell(const Open& open, const Event& event, std::string& text) {
  if (!open.listener.may_hear(event)) return true;
  if (open.stream->unsent() > k_most_unsent) return false;
  if (text.empty()) text = sse_of(event);
  return open.stream->send(text);
}

void EventWindow::follow(Listener listener, std::shared_ptr<net::Stream> stream, int64_t after) {
  const uint64_t number = next_number_++;
  // Later, for it may be called while the streams are being walked through.
  stream->on_gone(life_.guard(
      [this, number] { loop_.post(life_.guard([this, number] { streams_.erase(number); })); }));
  stream->send(net::write_sse_comment("welcome"));  // the head alone may wait in somebody's proxy
  Open open{std::move(listener), std::move(stream)};
  for (const Event& event : events_) {
    std::string text;
    if (event.sequence > after && !tell(open, event, text)) return open.stream->close();
  }
  streams_.emplace(number, std::move(open));
}

size_t EventWindow::streams_of(const std::string& name) const {
  return static_cast<size_t>(std::count_if(streams_.begin(), streams_.end(), [&](const auto& one) {
    return one.second.listener.name == name;
  }));
}

template <class Which>
void EventWindow::drop_if(Which which) {
  std::vector<std::shared_ptr<net::Stream>> dropped;
  std::erase_if(streams_, [&](const auto& one) {
    if (!which(one.second)) return false;
    dropped.push_back(one.second.stream);
    return true;
  });
  for (const auto& stream : dropped) stream->close();
}

void EventWindow::close_all() {
  drop_if([](const Open&) { return true; });
}

void EventWindow::beat_later() {
  loop_.after(k_beat, life_.guard([this] {
    const Instant now = loop_.now();
    drop_if([now](const Open& open) {
      return open.listener.not_after <= now || !open.stream->send(net::write_sse_comment("beat"));
    });
    beat_later();
  }));
}

}  // namespace spillway::driver
