// Base64 with padding (RFC 4648 section 4), as secrets and continue tokens use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spillway::embedded {

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace spillway::embedded
