#include "services/autoscaler/decisions.h"

#include <algorithm>

#include <fmt/format.h>

namespace spillway::autoscaler {

// The Cluster Autoscaler asks every few seconds about the same pods: only the latest of their group
// can be the same.
void Decisions::add(Decision decision) {
  if (decision.about.size() > k_most_names) decision.about.resize(k_most_names);
  if (decision.why.size() > k_longest_why) {
    decision.why.resize(decision.why.rfind('\n', k_longest_why) + 1);
    decision.why += "      and more\n";
  }
  constexpr size_t k_look_back = 20;
  size_t looked = 0;
  for (auto one = all_.rbegin(); one != all_.rend() && looked < k_look_back; ++one, ++looked) {
    if (one->headline != decision.headline || one->about != decision.about) continue;
    one->last = decision.at;
    one->times += 1;
    one->why = std::move(decision.why);  // with the figures of now
    return;
  }
  all_.push_back(std::move(decision));
  if (all_.size() > k_most) all_.pop_front();
}

std::vector<const Decision*> Decisions::about(std::string_view name) const {
  std::vector<const Decision*> found;
  for (auto one = all_.rbegin(); one != all_.rend(); ++one) {
    const bool names_it = std::find(one->about.begin(), one->about.end(), name) != one->about.end();
    if (names_it) found.push_back(&*one);
  }
  return found;
}

std::string to_text(const Decision& decision) {
  std::string text = fmt::format("{}  {}", spillway::to_text(decision.at), decision.headline);
  if (decision.times > 1) {
    text +=
        fmt::format(" ({} times, last at {})", decision.times, spillway::to_text(decision.last));
  }
  text += '\n';
  return text + decision.why;
}

}  // namespace spillway::autoscaler
