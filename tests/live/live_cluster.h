// An embedded cluster on a thread of its own, served over TLS, and an administrator in it.
#pragma once

#include <memory>
#include <string>

#include "base/check.h"
#include "embedded/cluster.h"
#include "kube/session.h"
#include "live/federation.h"
#include "pki/private_file.h"

namespace spillway::test {

class LiveCluster {
 public:
  // Its kubeconfig goes into that file.
  explicit LiveCluster(const std::string& kubeconfig) {
    const Status opened = thread_.run([&]() -> Status {
      cluster_ = std::make_unique<embedded::Cluster>(loop_, random_);
      SPILLWAY_TRY(cluster_->listen(thread_.poll()));
      const auto text = cluster_->kubeconfig();
      if (!text) return tl::unexpected(text.error());
      SPILLWAY_TRY(pki::write_private(kubeconfig, *text));
      const auto access = kube::read_wire_kubeconfig(*text);
      if (!access) return tl::unexpected(access.error());
      auto session = kube::Session::open(thread_.poll(), loop_, random_, *access);
      if (!session) return tl::unexpected(session.error());
      session_ = std::move(*session);
      return {};
    });
    SPILLWAY_CHECK(opened.has_value(), opened ? "" : opened.error().message());
  }
  ~LiveCluster() {
    thread_.run([this] {
      session_.reset();
      cluster_.reset();
      return true;
    });
  }
  LiveCluster(const LiveCluster&) = delete;
  LiveCluster& operator=(const LiveCluster&) = delete;

  PollThread& thread() { return thread_; }
  // On that thread only.
  embedded::Cluster& cluster() { return *cluster_; }
  kube::Api& api() { return session_->api(); }

 private:
  PollThread thread_;
  services::ServiceLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  std::unique_ptr<embedded::Cluster> cluster_;
  std::unique_ptr<kube::Session> session_;
};

}  // namespace spillway::test
