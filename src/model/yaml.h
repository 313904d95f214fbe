// YAML text, strictly: one document of plain maps, lists and scalars. Anchors, aliases and tags
// are refused, for they make a small text mean a large or surprising document; so are keys that
// are there twice. Plain scalars are typed by the core schema of YAML 1.2 (NO is a country).
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/node.h"

namespace spillway::model {

// Errors name `what` with the line: "offer.yaml line 7".
Result<Node> parse_yaml(std::string_view text, std::string_view what = "document",
                        size_t max_bytes = k_max_document_bytes);

}  // namespace spillway::model
