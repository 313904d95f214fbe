#include "services/fabric/sayings.h"

#include <algorithm>

#include "pki/hash.h"
#include "services/agent/never.h"

namespace spillway::agent {

Instant Sayings::want(const std::vector<fabric::Deed>& deeds) {
  const Instant now = loop_.now();
  Instant next = k_never;
  for (auto& one : sayings_) one.second.is_wanted = false;
  for (const fabric::Deed& deed : deeds) {
    const auto* wanted = std::get_if<fabric::Say>(&deed);
    if (wanted == nullptr) continue;
    Saying& saying = sayings_[{wanted->contract, wanted->step}];
    saying.is_wanted = true;
    std::string hash = pki::sha256_hex(wanted->body);
    const bool is_due = saying.due <= now || saying.due - now > k_again;
    if (is_due || hash != saying.hash) say(*wanted, saying, std::move(hash));
    next = std::min(next, saying.due);
  }
  std::erase_if(sayings_, [](const auto& one) { return !one.second.is_wanted; });
  return next;
}

void Sayings::say(const fabric::Say& wanted, Saying& saying, std::string hash) {
  saying.due = loop_.now() + k_again;
  if (const Status said = dealings_.say(wanted); !said) {
    // After a start, until what was signed is verified again.
    if (said.error().code != Code::over_quota) saying.due = loop_.now() + seconds(1);
    return;
  }
  saying.hash = std::move(hash);
  said_(wanted);
}

}  // namespace spillway::agent
