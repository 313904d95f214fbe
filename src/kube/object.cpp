#include "kube/object.h"

namespace spillway::kube {

Object new_object(const Resource& resource, std::string_view kind, const Name& name) {
  Object object = model::object_node();
  const std::string version =
      resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
  model::put(object, "apiVersion", model::text_node(version));
  model::put(object, "kind", model::text_node(kind));
  Object& metadata = model::ensure(object, {"metadata"});
  model::put(metadata, "name", model::text_node(name.name));
  if (!name.space.empty()) model::put(metadata, "namespace", model::text_node(name.space));
  return object;
}

}  // namespace spillway::kube
