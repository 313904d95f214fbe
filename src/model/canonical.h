// Canonical JSON (RFC 8785): one text for each document, so that two who hold the same document
// hold the same bytes to sign and to hash.
//
// Narrower than the RFC in one way: numbers are integers of at most 2^53 - 1. Beyond that a reader
// that keeps numbers as doubles would see another number than the one that was signed, and what a
// fraction is written as depends on such a reader. Larger numbers and fractions travel as text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/node.h"

namespace spillway::model {

inline constexpr int64_t k_max_canonical_integer = (int64_t{1} << 53) - 1;

// Errors name `what`, with line and column where the document was read from a text.
Result<std::string> canonical_json(const Node& node, std::string_view what = "document");
Result<std::string> canonical_json(std::string_view text, std::string_view what = "document");

// Only what canonical_json would write: for documents that are known by their hash.
Result<Node> parse_canonical_json(std::string_view text, std::string_view what = "document");

}  // namespace spillway::model
