// A document as YAML, for people: what parse_yaml reads back to the same.
#pragma once

#include <string>

#include "model/node.h"

namespace spillway::model {

std::string to_yaml(const Node& root);

}  // namespace spillway::model
