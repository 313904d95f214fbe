// A node as an object of the API, from its image.
#pragma once

#include <string>

#include "demand/node_image.h"
#include "kube/object.h"

namespace spillway::autoscaler {

// Which back end has made a node, for whom: it collects its own, and no other's.
inline constexpr const char* k_back_end = "spillway.dev/back-end";
inline constexpr const char* k_owner = "spillway.dev/owner";

struct Annotation {
  std::string key;
  std::string value;
};

kube::Object node_document(const demand::NodeImage& image,
                           const std::vector<Annotation>& annotations);

bool is_ready(const kube::Object& node);

}  // namespace spillway::autoscaler
