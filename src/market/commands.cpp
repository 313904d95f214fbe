#include "market/commands.h"

#include <array>

namespace spillway::market {

std::string_view name_of(const Command& command) {
  static constexpr std::array<std::string_view, std::variant_size_v<Command>> k_names{
      "publish-pool", "withdraw-pool", "publish-offer", "withdraw-offer", "give-notice",
      "put-cluster",  "hold",          "confirm",       "extend",         "renew",
      "release",      "look",          "attend",        "beat",           "make-token",
      "cancel-token", "find-token",    "revoke",        "join",           "recertify",
      "put-card",     "countersign",   "meter-usage",   "drained",        "send-message",
      "take-messages"};
  return k_names[command.index()];
}

}  // namespace spillway::market
