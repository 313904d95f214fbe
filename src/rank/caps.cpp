#include "rank/caps.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "rank/fixed.h"

namespace spillway::rank {
namespace {

constexpr int64_t k_ms_per_day = 86'400'000;
constexpr int64_t k_ms_an_hour = 3'600'000;

Instant floor_to(Instant now, int64_t step_ms) {
  int64_t rest = now.ms % step_ms;
  if (rest < 0) rest += step_ms;
  return {now.ms - rest};
}

WindowSpan month_at(Instant now) {
  using std::chrono::days;
  using std::chrono::sys_days;
  const sys_days day{days{floor_to(now, k_ms_per_day).ms / k_ms_per_day}};
  const std::chrono::year_month_day date{day};
  const std::chrono::year_month month = date.year() / date.month();
  const auto first_of = [](std::chrono::year_month which) {
    return Instant{sys_days{which / 1}.time_since_epoch().count() * k_ms_per_day};
  };
  return {first_of(month), first_of(month + std::chrono::months{1})};
}

// For one unit, over a time.
int64_t taken(const Holding& unit, Duration time, bool is_money) {
  if (time.ms <= 0) return 0;
  if (is_money) return scaled_up<k_ms_an_hour>(std::max<int64_t>(unit.rate, 0), time.ms);
  return scaled_up<k_ms_an_hour * 1000>(std::max<int64_t>(unit.milliwatt_grams, 0), time.ms);
}

std::string_view cap_window_name(Window window) {
  return window == Window::hour ? "an hour" : window == Window::day ? "a day" : "a month";
}

const std::optional<int64_t>& cap_in(const PerWindow& caps, Window window) {
  return window == Window::hour ? caps.hour : window == Window::day ? caps.day : caps.month;
}

}  // namespace

WindowSpan window_at(Window window, Instant now) {
  if (window == Window::month) return month_at(now);
  const Duration length = window == Window::hour ? hours(1) : hours(24);
  const Instant from = floor_to(now, length.ms);
  return {from, from + length};
}

int64_t taken_by(const Holding& holding, WindowSpan span, bool is_money) {
  Instant end = span.to;
  if (holding.ended) {
    // The term is paid for whether it is used or not; what does not run emits nothing.
    const Instant paid = is_money ? holding.started + holding.minimum_term : *holding.ended;
    end = std::min(end, std::max(*holding.ended, paid));
  }
  const Instant start = std::max(holding.started, span.from);
  const int64_t each = taken(holding, end - start, is_money);
  return scaled_up<1>(each, std::max(holding.units, 0));
}

CapRooms::CapRooms(const EffectivePolicy& policy, std::span<const Holding> held, Instant now)
    : currency_(policy.currency), now_(now) {
  add(policy.cluster_caps, held, {});
  if (!policy.workload_class.empty()) add(policy.class_caps, held, policy.workload_class);
  std::stable_sort(rooms_.begin(), rooms_.end(), [](const Room& a, const Room& b) {
    return a.is_money != b.is_money ? a.is_money : a.window < b.window;
  });
}

void CapRooms::add(const Caps& caps, std::span<const Holding> held,
                   const std::string& workload_class) {
  for (const bool is_money : {true, false}) {
    for (const Window window : {Window::hour, Window::day, Window::month}) {
      const auto& cap = cap_in(is_money ? caps.money : caps.carbon_kg, window);
      if (!cap) continue;
      const WindowSpan span = window_at(window, now_);
      Room room{is_money, window, workload_class.empty() ? "cluster" : "class " + workload_class,
                *cap,     0,      span.to - now_,
                true};
      for (const Holding& holding : held) {
        if (!workload_class.empty() && holding.workload_class != workload_class) continue;
        const int64_t part = taken_by(holding, span, is_money);
        room.used = add_amounts(room.used, part);
        if (is_money && part > 0 && holding.currency != currency_) room.countable = false;
      }
      rooms_.push_back(std::move(room));
    }
  }
}

CapRooms::Allowed CapRooms::allowed(const Holding& unit, int32_t wanted) const {
  Allowed allowed{std::max(wanted, 0), nullptr};
  for (const Room& room : rooms_) {
    const int64_t each = taken(unit, room.left, room.is_money);
    if (each == 0) continue;
    const int64_t free = room.countable ? std::max<int64_t>(room.cap - room.used, 0) : 0;
    if (free / each >= allowed.units) continue;
    allowed = {static_cast<int32_t>(free / each), &room};
  }
  return allowed;
}

std::string CapRooms::sentence(const Room& room, const Holding& unit) const {
  const std::string name = room.is_money ? currency_.text() : "kg CO2e";
  const std::string cap = fmt::format("the {}'s cap of {} {} {}", room.scope,
                                      micros_to_text(room.cap), name, cap_window_name(room.window));
  if (!room.countable) {
    return cap + " cannot count what is held in another currency: release that, or drop the cap";
  }
  return fmt::format("{} leaves {} {} until {}, a unit takes {} {}", cap,
                     micros_to_text(std::max<int64_t>(room.cap - room.used, 0)), name,
                     to_text(now_ + room.left),
                     micros_to_text(taken(unit, room.left, room.is_money)), name);
}

}  // namespace spillway::rank
