#include "services/host_port.h"

#include <charconv>

namespace spillway::services {

Result<HostPort> parse_host_port(std::string_view text, std::string_view what) {
  const size_t colon = text.rfind(':');
  const auto refuse = [&] {
    return fail(Code::invalid, std::string(what), fmt::format("{} is no address and port", text),
                "write it as 127.0.0.1:7443, or [::]:7443 for all addresses");
  };
  if (colon == std::string_view::npos) return refuse();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  HostPort parsed{std::string(host), 0};
  const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), parsed.port);
  if (error != std::errc{} || stop != port.data() + port.size() || host.empty()) return refuse();
  return parsed;
}

}  // namespace spillway::services
