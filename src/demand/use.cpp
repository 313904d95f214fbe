#include "demand/use.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/arithmetic.h"

namespace spillway::demand {
namespace {

constexpr Duration k_one_hour = hours(1);
constexpr int64_t k_most = INT64_MAX / 8;

int64_t part_up(int64_t amount, Duration time, int64_t divisor) {
  if (amount <= 0 || time.ms <= 0) return 0;
  const Int128 exact = (static_cast<Int128>(amount) * time.ms + (divisor - 1)) / divisor;
  return exact > k_most ? k_most : static_cast<int64_t>(exact);
}

Duration overlap(Instant from, Instant to, Instant hour) {
  return std::min(to, hour + k_one_hour) - std::max(from, hour);
}

std::tuple<Instant, std::string_view, Currency> key_of(const PastHour& one) {
  return {one.hour, one.workload_class, one.currency};
}

}  // namespace

void add_ended(std::vector<PastHour>& past, const Use& use, Instant ended) {
  // The term is paid for whether it is used or not; what does not run emits nothing.
  const Instant paid =
      std::min(std::max(ended, use.started + use.minimum_term), ended + k_past_is_kept);
  // What lies so far back is in no window any more.
  const Instant first = std::max(use.started, ended - k_past_is_kept);
  for (Instant hour{first.ms - first.ms % k_one_hour.ms}; hour < paid; hour = hour + k_one_hour) {
    PastHour part{hour, use.workload_class, use.currency,
                  part_up(use.rate, overlap(first, paid, hour), k_one_hour.ms),
                  part_up(use.milliwatt_grams, overlap(first, ended, hour), k_one_hour.ms * 1000)};
    const auto at = std::lower_bound(
        past.begin(), past.end(), part,
        [](const PastHour& a, const PastHour& b) { return key_of(a) < key_of(b); });
    if (at == past.end() || key_of(*at) != key_of(part)) {
      past.insert(at, std::move(part));
      continue;
    }
    at->money = std::min(at->money + part.money, k_most);
    at->milligrams = std::min(at->milligrams + part.milligrams, k_most);
  }
}

void forget_before(std::vector<PastHour>& past, Instant now) {
  std::erase_if(past, [now](const PastHour& one) { return one.hour + k_past_is_kept < now; });
}

}  // namespace spillway::demand
