#include "services/agent/cluster_state.h"

#include <utility>

namespace spillway::agent {

void ClusterState::save(const std::string& json, std::function<void(Status)> then) {
  secret_.write({{file(), json}}, std::move(then));
}

Result<std::string> ClusterState::load() {
  const auto found = secret_.data().find(file());
  if (found == secret_.data().end()) return std::string();
  if (Status status = kind_.check(found->second, secret_.text()); !status) {
    Error error = std::move(status).error();
    error.next = fmt::format("remove {} from it: {}", file(), kind_.without);
    return tl::unexpected(std::move(error));
  }
  return found->second;
}

}  // namespace spillway::agent
