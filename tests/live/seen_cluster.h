// A cluster that some other process is, seen by its API.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/liqo/names.h"
#include "kube/session.h"
#include "live/federation.h"
#include "services/autoscaler/node_document.h"

namespace spillway::test {

class SeenCluster {
 public:
  explicit SeenCluster(const std::string& kubeconfig) {
    thread_.run([&] {
      const auto access = kube::read_access(kubeconfig);
      EXPECT_TRUE(access) << kubeconfig;
      if (!access) return false;
      auto session = kube::Session::open(thread_.poll(), loop_, random_, *access);
      if (session) session_ = std::move(*session);
      return session_ != nullptr;
    });
  }
  ~SeenCluster() {
    thread_.run([this] {
      session_.reset();
      return true;
    });
  }
  SeenCluster(const SeenCluster&) = delete;
  SeenCluster& operator=(const SeenCluster&) = delete;

  std::vector<kube::Object> list(const kube::Resource& kind, const std::string& labels) {
    using Objects = std::vector<kube::Object>;
    return thread_.ask<Objects>([&](std::function<void(Objects)> then) {
      const auto all = std::make_shared<Objects>();
      session_->api().list(
          kind, {.labels = labels},
          [all](kube::ListPage page) {
            if (page.is_first) all->clear();
            all->insert(all->end(), page.items.begin(), page.items.end());
          },
          [all, then](const Result<std::string>&) { then(*all); });
    });
  }

 private:
  PollThread thread_;
  services::ServiceLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  std::unique_ptr<kube::Session> session_;
};

// Of virtual nodes that are Ready.
inline std::vector<std::string> provider_ids(SeenCluster& buyer) {
  std::vector<std::string> ids;
  for (const kube::Object& node :
       buyer.list(kube::k_nodes, fmt::format("{}={}", fabric::liqo::k_node_type_label,
                                             fabric::liqo::k_virtual_node_type))) {
    if (!autoscaler::is_ready(node)) continue;
    ids.emplace_back(model::text_at(node, {"spec", "providerID"}));
  }
  return ids;
}

}  // namespace spillway::test
