// Any bytes as the answers of a server that the conformance suite is run against: every rule comes
// to a finding, what is broken or was not tried says why, and the suite asks no more than so much
// of a server that lies.
//
// Answers one after the other: a byte for the code, one or two for the length, the message. When
// there are no more, the server is gone.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cluster_autoscaler/conformance.h"

namespace spillway::cluster_autoscaler {
namespace {

class HostileServer {
 public:
  explicit HostileServer(std::string_view bytes) : rest_(bytes) {}

  net::GrpcAnswer answer() {
    ++calls;
    if (rest_.empty()) return {net::GrpcCode::unavailable, "nobody is there", {}};
    const int code = take_byte() % 20;
    size_t size = static_cast<size_t>(take_byte());
    if (size >= 0x80) size = (size - 0x80) * 256 + static_cast<size_t>(take_byte());
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(text.size());
    if (code == 0 || code > 16) return {net::GrpcCode::ok, {}, std::move(text)};
    return {static_cast<net::GrpcCode>(code), std::move(text), {}};
  }
  int calls = 0;

 private:
  int take_byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }

  std::string_view rest_;
};

void run(std::string_view bytes) {
  HostileServer server(bytes);
  CloudClient client([&server](const std::string&, const std::string&) { return server.answer(); });
  ConformanceOptions options;
  options.now = Instant{1'800'000'000'000};
  options.clock_ms = [&server] { return int64_t{server.calls}; };
  const auto findings = check_cloud_provider(client, options);
  SPILLWAY_CHECK(findings.size() == rule_names().size(), "a rule has no finding");
  for (size_t i = 0; i < findings.size(); ++i) {
    SPILLWAY_CHECK(findings[i].rule == rule_names()[i], "findings are out of order");
    SPILLWAY_CHECK(findings[i].seen.empty() == (findings[i].verdict == Verdict::held),
                   "a finding does not say why");
  }
  // Each byte of an answer can name at most one more thing to ask about, three times at most.
  SPILLWAY_CHECK(server.calls <= 100 + 4 * static_cast<int>(bytes.size()), "it asks without end");
}

}  // namespace
}  // namespace spillway::cluster_autoscaler

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  spillway::cluster_autoscaler::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
