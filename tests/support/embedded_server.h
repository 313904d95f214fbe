// An embedded cluster with a thread of its own, reached over TLS on loopback.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/check.h"
#include "embedded/cluster.h"
#include "host/random.h"
#include "net/client.h"
#include "net/poll.h"
#include "services/service_loop.h"

namespace spillway::test {

class EmbeddedServer {
 public:
  explicit EmbeddedServer(int nodes = 0, embedded::ClusterOptions options = {}) {
    options.nodes = nodes;
    cluster = std::make_unique<embedded::Cluster>(loop_, random_, std::move(options));
    const Status listening = cluster->listen(poll_);
    SPILLWAY_CHECK(listening.has_value(), "the embedded cluster cannot listen");
    auto config = cluster->kubeconfig();
    SPILLWAY_CHECK(config.has_value(), "no kubeconfig");
    kubeconfig_ = std::move(*config);
    auto admin = cluster->issue("admin", {"system:masters"});
    SPILLWAY_CHECK(admin.has_value(), "no certificate");
    admin_ = {admin->certificate_pem, admin->key_pem};
    thread_ = std::thread([this] { poll_.run(); });
  }
  ~EmbeddedServer() {
    poll_.post([this] {
      cluster.reset();
      poll_.stop();
    });
    thread_.join();
  }
  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  const std::string& kubeconfig() const { return kubeconfig_; }
  net::ClientOptions client_options() const {
    net::ClientOptions options;
    options.host = "127.0.0.1";
    options.port = cluster->port();
    options.authorities_pem = cluster->authority_pem();
    options.identity = admin_;
    return options;
  }

  // Runs on the cluster's thread; waits for the result.
  template <class F>
  auto on_loop(F f) {
    // Shared: whoever waits may be gone before the promise has been kept to the end.
    auto promise = std::make_shared<std::promise<decltype(f())>>();
    auto result = promise->get_future();
    poll_.post([f = std::move(f), promise]() mutable { promise->set_value(f()); });
    return result.get();
  }

  std::unique_ptr<embedded::Cluster> cluster;  // on the loop only

 private:
  net::Poll poll_;
  services::ServiceLoop loop_{poll_};
  host::SystemRandom random_;
  std::string kubeconfig_;
  net::TlsIdentity admin_;
  std::thread thread_;
};

}  // namespace spillway::test
