#include "kube/resource.h"

#include <fmt/format.h>

#include "net/message.h"

namespace spillway::kube {

std::string path_of(const Resource& resource, const Name& name, std::string_view subresource) {
  std::string path = resource.group.empty()
                         ? fmt::format("/api/{}", resource.version)
                         : fmt::format("/apis/{}/{}", resource.group, resource.version);
  if (resource.is_namespaced && !name.space.empty()) {
    path += "/namespaces/" + net::escape_segment(name.space);
  }
  path += "/" + resource.plural;
  if (!name.name.empty()) path += "/" + net::escape_segment(name.name);
  if (!subresource.empty()) path += fmt::format("/{}", subresource);
  return path;
}

std::string to_text(const Resource& resource, const Name& name) {
  std::string text = resource.plural;
  if (name.space.empty() && name.name.empty()) return text;
  text += " ";
  if (resource.is_namespaced && !name.space.empty()) text += name.space + "/";
  return text + (name.name.empty() ? "*" : name.name);
}

}  // namespace spillway::kube
