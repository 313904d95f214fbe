// JSON text (RFC 8259), strictly: no key twice, nothing after the document, no deeper and no larger
// than a document of ours can be, no integer that an int64 does not hold.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/node.h"

namespace spillway::model {

// Errors name `what` with line and column: "offer line 1 column 17".
Result<Node> parse_json(std::string_view text, std::string_view what = "document",
                        size_t max_bytes = k_max_document_bytes, size_t max_depth = k_max_depth);

// Appends `text` as a JSON string, as RFC 8785 spells it. It must be UTF-8; everything valid is.
void append_json_string(std::string& out, std::string_view text);

}  // namespace spillway::model
