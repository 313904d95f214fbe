// Remote: another cluster's API, as a Secret of this one says to reach it. What it does to us
// (slow, dead, refusing) is what it would do to any client.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "embedded/liqo/setting.h"
#include "kube/api.h"

namespace spillway::embedded::liqo {

kube::Resource resource_of(const codec::Kind& kind);

// The kubeconfig in a Secret; empty: there is none.
std::string kubeconfig_in(const Setting& setting, const Key& secret);

class Remote {
 public:
  static Result<std::unique_ptr<Remote>> open(const Setting& setting,
                                              const std::string& kubeconfig);

  kube::Api& api() { return *api_; }
  const std::string& kubeconfig() const { return kubeconfig_; }
  const std::string& space() const { return space_; }  // of the kubeconfig's context
  const std::string& server() const { return server_; }
  // Whether it lives; `then` is called once, after check_timeout at the latest.
  void check(std::function<void(bool is_alive)> then);

 private:
  explicit Remote(const Setting& setting) : setting_(setting) {}

  const Setting& setting_;
  std::string kubeconfig_;
  std::string space_;
  std::string server_;
  std::unique_ptr<net::Channel> channel_;
  std::unique_ptr<kube::Api> api_;
  host::Lifeline lifeline_;
};

}  // namespace spillway::embedded::liqo
