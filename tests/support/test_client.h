// A real client, driven by the thread of the test.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "net/client.h"
#include "support/test_certificates.h"

namespace spillway::test {

class TestClient {
 public:
  explicit TestClient(net::ClientOptions options) {
    auto made = net::Client::create(poll, std::move(options));
    SPILLWAY_CHECK(made.has_value(), made ? "" : made.error().message());
    client = std::move(*made);
  }

  template <class Done>
  void run_until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const std::function<void()> look = [&] {
      SPILLWAY_CHECK(std::chrono::steady_clock::now() < end, "the test waits in vain");
      if (done()) return poll.stop();
      poll.after(milliseconds(1), look);
    };
    poll.post(look);
    poll.run();
  }

  Result<net::Response> ask(net::Request request) {
    std::optional<Result<net::Response>> answer;
    client->send(std::move(request),
                 [&](Result<net::Response> result) { answer.emplace(std::move(result)); });
    run_until([&] { return answer.has_value(); });
    return std::move(*answer);
  }

  net::Poll poll;
  std::unique_ptr<net::Client> client;
};

inline net::TlsIdentity identity_of(const CertificateAndKey& made) {
  return {made.certificate_pem, made.key_pem};
}

}  // namespace spillway::test
