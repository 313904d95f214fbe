// "/v1/pools/{cluster}/{name}" against ["v1","pools","edge-1","small"].
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway::services {

inline bool fits_path(std::string_view path, const std::vector<std::string>& segments,
                      std::vector<std::string>* parameters) {
  size_t i = 0;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    if (i == segments.size()) return false;
    if (part.front() == '{') {
      if (parameters != nullptr) parameters->push_back(segments[i]);
    } else if (part != segments[i]) {
      return false;
    }
    ++i;
  }
  return i == segments.size();
}

}  // namespace spillway::services
