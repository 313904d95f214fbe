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
  explicit LiveCluster(const embedded::ClusterOptions& options = {}) {
    const Status opened = thread_.run([&]() -> Status {
      cluster_ = std::make_unique<embedded::Cluster>(loop_, random_, options);
      SPILLWAY_TRY(cluster_->listen(thread_.poll()));
      auto text = cluster_->kubeconfig();
      if (!text) return tl::unexpected(text.error());
      kubeconfig_ = std::move(*text);
      auto access = kube::read_wire_kubeconfig(kubeconfig_);
      if (!access) return tl::unexpected(access.error());
      admin_ = std::move(*access);
      session_ = open(admin_);
      return {};
    });
    SPILLWAY_CHECK(opened.has_value(), opened ? "" : opened.error().message());
  }
  // The administrator's kubeconfig goes into that file.
  explicit LiveCluster(const std::string& kubeconfig) : LiveCluster() {
    const Status kept = pki::write_private(kubeconfig, kubeconfig_);
    SPILLWAY_CHECK(kept.has_value(), kept ? "" : kept.error().message());
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
  const kube::Access& admin() const { return admin_; }
  const std::string& kubeconfig() const { return kubeconfig_; }  // the administrator's
  // On that thread only; what is opened there ends there.
  embedded::Cluster& cluster() { return *cluster_; }
  kube::Api& api() { return session_->api(); }
  std::unique_ptr<kube::Session> open(const kube::Access& access) {
    auto session = kube::Session::open(thread_.poll(), loop_, random_, access);
    SPILLWAY_CHECK(session.has_value(), session ? "" : session.error().message());
    return std::move(*session);
  }

 private:
  PollThread thread_;
  services::ServiceLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  std::unique_ptr<embedded::Cluster> cluster_;
  std::string kubeconfig_;
  kube::Access admin_;
  std::unique_ptr<kube::Session> session_;
};

}  // namespace spillway::test
