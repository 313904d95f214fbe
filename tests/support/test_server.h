// A real server on loopback with a thread of its own, answering as the test says.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/check.h"
#include "net/server.h"
#include "support/test_certificates.h"

namespace spillway::test {

using Answer = std::function<void(net::Request, const net::Peer&, std::shared_ptr<net::Exchange>)>;

class TestServer final : public net::Handler {
 public:
  // Answers by the path: see handle().
  explicit TestServer(net::ServerLimits limits = {}, bool is_plain = false) {
    net::ServerOptions options;
    options.limits = limits;
    auto server = is_plain ? net::Server::listen_plain(poll, options, *this)
                           : net::Server::listen(poll, options, identity(), authority.pem(), *this);
    SPILLWAY_CHECK(server.has_value(), "the test's server cannot listen");
    server_ = std::move(*server);
    port_ = server_->port();
    thread_ = std::thread([this] { poll.run(); });
  }

  ~TestServer() override {
    poll.post([this] {
      server_.reset();
      poll.stop();
    });
    thread_.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  net::TlsIdentity identity(
      const CertificateWish& wish = {
          .name = "server", .uri = "", .dns = "localhost", .ip = "127.0.0.1", .is_server = true}) {
    const auto made = authority.issue(wish);
    return {made.certificate_pem + authority.pem(), made.key_pem};
  }

  // Runs on the server's thread; waits for the result.
  template <class F>
  auto on_loop(F f) {
    // Shared: whoever waits may be gone before the promise has been kept to the end.
    auto promise = std::make_shared<std::promise<decltype(f())>>();
    auto result = promise->get_future();
    poll.post([f = std::move(f), promise]() mutable { promise->set_value(f()); });
    return result.get();
  }

  // Until the server's own numbers say so.
  template <class Done>
  void wait_until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!done(counts())) ASSERT_LT(std::chrono::steady_clock::now(), end);
  }

  net::ServerCounts counts() {
    return on_loop([this] { return server_->counts(); });
  }

  void handle(net::Request request, const net::Peer& peer,
              std::shared_ptr<net::Exchange> exchange) override {
    if (answer) return answer(std::move(request), peer, std::move(exchange));
    exchange->respond({200, {}, request.method + " " + request.target + " " + request.body});
  }

  net::Response refuse(int status, std::string_view reason) override {
    return {status, {{"Content-Type", "text/plain"}}, std::string(reason)};
  }

  uint16_t port() const { return port_; }
  net::Server& server() { return *server_; }  // on the loop only

  TestAuthority authority;
  net::Poll poll;
  Answer answer;  // set it before anybody calls

 private:
  std::unique_ptr<net::Server> server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace spillway::test
