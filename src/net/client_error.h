// What a client tells when it got no answer: whom, why, and what to do.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/link.h"

namespace spillway::net {

Error name_error(const std::string& server, const std::string& why);
Error connect_error(const std::string& server, const std::string& why);
Error link_error(const std::string& server, const Trouble& trouble, bool is_connected);
Error ended_error(const std::string& server, bool is_connected);
Error late_error(const std::string& server, std::string_view what, Duration limit);
Error answer_error(const std::string& server, std::string_view why);

}  // namespace spillway::net
