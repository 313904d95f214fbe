// Finds the blocks of a PEM text (RFC 7468) and decodes them. Strict about the frame, so that what
// we read and what another reader would read from the same text are the same things.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spillway::pki {

struct PemBlock {
  std::string_view label;  // "CERTIFICATE"
  std::string_view text;   // from its first dash to its last, within the text that was given
};

// The blocks in their order, with nothing but white space around them. Errors name `thing`.
Result<std::vector<PemBlock>> split_pem(std::string_view text, std::string_view thing);

// The only block, which must have that label.
Result<PemBlock> single_pem(std::string_view text, std::string_view label, std::string_view thing);

// The bytes of a block that holds no secret.
Result<std::string> decode_pem(const PemBlock& block, std::string_view thing);

}  // namespace spillway::pki
