#include "fabric/pod_shares.h"

#include <algorithm>
#include <numeric>

namespace spillway::fabric {
namespace {

int64_t sum_of(const std::vector<PodShare>& shares, int64_t PodShare::*part) {
  return std::accumulate(shares.begin(), shares.end(), int64_t{0},
                         [part](int64_t sum, const PodShare& one) { return sum + one.*part; });
}

// Nothing is to be gained: all of it is dealt out, and who has none left could get none.
bool is_settled(int64_t total, const std::vector<PodShare>& shares) {
  const bool all_there =
      std::all_of(shares.begin(), shares.end(), [](const PodShare& one) { return one.is_there; });
  if (!all_there || sum_of(shares, &PodShare::hard) != total) return false;
  const auto has = [&shares](auto holds) {
    return std::any_of(shares.begin(), shares.end(), holds);
  };
  return !has([](const PodShare& one) { return one.hard <= one.used; }) ||
         !has([](const PodShare& one) { return one.hard - one.used >= 2; });
}

// What is free, in equal parts; what does not divide goes to the busiest.
std::vector<int64_t> fair(int64_t total, const std::vector<PodShare>& shares) {
  const auto count = static_cast<int64_t>(shares.size());
  const int64_t free = std::max<int64_t>(0, total - sum_of(shares, &PodShare::used));
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return shares[a].used > shares[b].used; });
  std::vector<int64_t> made(shares.size());
  int64_t odd = free % count;
  for (const size_t at : order) {
    made[at] = shares[at].used + free / count + (odd > 0 ? 1 : 0);
    if (odd > 0) --odd;
  }
  return made;
}

}  // namespace

std::vector<int64_t> deal_pods(int64_t total, const std::vector<PodShare>& shares) {
  std::vector<int64_t> made;
  if (shares.empty()) return made;
  if (is_settled(total, shares)) {
    for (const PodShare& one : shares) made.push_back(one.hard);
    return made;
  }
  int64_t left = total;
  for (const PodShare& one : shares) left -= std::max({one.hard, one.admitted, one.used});
  made = fair(total, shares);
  for (size_t at = 0; at < shares.size(); ++at) {
    const int64_t more = made[at] - shares[at].hard;
    if (more <= 0) continue;
    // Up to what is let in already, or used, nothing new is given.
    const int64_t counted = std::max({shares[at].hard, shares[at].admitted, shares[at].used});
    const int64_t given = std::clamp<int64_t>(made[at] - counted, 0, std::max<int64_t>(0, left));
    made[at] = std::min(made[at], counted + given);
    left -= given;
  }
  return made;
}

}  // namespace spillway::fabric
