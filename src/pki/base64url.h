// RFC 4648 section 5 without padding. Reading is strict: one text for each sequence of bytes.
#pragma once

#include <optional>
#include <string_view>

#include "pki/secret.h"

namespace spillway::pki {

// Both sides as Secret, because what we write that way are secrets.
Secret to_base64url(std::string_view bytes);
std::optional<Secret> from_base64url(std::string_view text);

}  // namespace spillway::pki
