// What every object of the API has, read from the document that it is. The views are of the
// document: they end with it.
#pragma once

#include <string>
#include <string_view>

#include "kube/resource.h"
#include "model/tree.h"

namespace spillway::kube {

using Object = model::Node;

inline std::string_view name_in(const Object& object) {
  return model::text_at(object, {"metadata", "name"});
}
inline std::string_view space_in(const Object& object) {
  return model::text_at(object, {"metadata", "namespace"});
}
inline Name key_of(const Object& object) {
  return {std::string(space_in(object)), std::string(name_in(object))};
}
inline std::string_view uid_in(const Object& object) {
  return model::text_at(object, {"metadata", "uid"});
}
// Opaque, by the API's own words: equal or different, nothing else.
inline std::string_view version_in(const Object& object) {
  return model::text_at(object, {"metadata", "resourceVersion"});
}
inline bool is_being_deleted(const Object& object) {
  return !model::text_at(object, {"metadata", "deletionTimestamp"}).empty();
}
// Of `metadata.labels` or `metadata.annotations`; empty: there is none.
inline std::string_view label_in(const Object& object, std::string_view key) {
  return model::text_at(object, {"metadata", "labels", key});
}
inline std::string_view annotation_in(const Object& object, std::string_view key) {
  return model::text_at(object, {"metadata", "annotations", key});
}

// With apiVersion, kind and name; the namespace when there is one.
Object new_object(const Resource& resource, std::string_view kind, const Name& name);

}  // namespace spillway::kube
