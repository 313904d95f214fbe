// Validation: the little that clients meet in practice: names, what must be there, what may not be
// changed. Documents that the real API server refuses for other reasons are taken here.
#pragma once

#include <vector>

#include "embedded/refusal.h"
#include "model/node.h"

namespace spillway::embedded {

// `before` is null for what is new.
std::vector<Cause> validate(const Kind& kind, const model::Node& document,
                            const model::Node* before);

bool is_label(std::string_view text);      // RFC 1123
bool is_subdomain(std::string_view text);  // RFC 1123

}  // namespace spillway::embedded
