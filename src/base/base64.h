// RFC 4648 section 4, with padding, as kubeconfigs and Secrets have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spillway {

// Line breaks are passed over; nothing else that does not belong there is.
std::optional<std::string> from_base64(std::string_view text);
std::string to_base64(std::string_view bytes);

}  // namespace spillway
