#include "services/agent/cluster_state.h"

#include <utility>

namespace spillway::agent {

void ClusterState::save(const std::string& json, std::function<void(Status)> then) {
  secret_.write({{k_file, json}}, std::move(then));
}

Result<std::string> ClusterState::load() {
  const auto found = secret_.data().find(k_file);
  if (found == secret_.data().end()) return std::string();
  if (auto state = state_from_json(found->second, secret_.text()); !state) {
    Error error = std::move(state).error();
    error.next = fmt::format(
        "remove {} from it: the broker still knows what was published and sold", k_file);
    return tl::unexpected(std::move(error));
  }
  return found->second;
}

}  // namespace spillway::agent
