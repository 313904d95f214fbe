// A client of an embedded cluster over TLS, on the cluster's own thread, and an hour that can be
// moved.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "kube/watch.h"
#include "live/live_cluster.h"
#include "support/temporary_folder.h"
#include "support/text.h"

namespace spillway::kube {

// Real, but for the hour.
class ShiftedLoop final : public host::Loop {
 public:
  explicit ShiftedLoop(net::Poll& poll) : loop_(poll) {}
  Instant now() override { return loop_.now() + shift; }
  void post(host::Task task) override { loop_.post(std::move(task)); }
  void after(Duration delay, host::Task task) override { loop_.after(delay, std::move(task)); }

  Duration shift = {};

 private:
  services::ServiceLoop loop_;
};

class ClientTest : public testing::Test {
 protected:
  ~ClientTest() override {
    thread_.run([this] {
      watch_.reset();
      session_.reset();
      return true;
    });
  }

  void open(const Access& access) {
    thread_.run([&] {
      session_ = Session::open(thread_.poll(), loop_, random_, access).value();
      return true;
    });
  }
  embedded::Cluster& cluster() { return live_.cluster(); }
  // As somebody with a token of the cluster's.
  Access without_identity() const {
    Access access = admin_;
    access.identity.reset();
    return access;
  }
  std::string token() {
    return thread_.run([this] { return cluster().issue_token("ada", {"system:masters"}); });
  }
  Status look() {
    const auto told = thread_.ask<Result<Object>>([this](auto then) {
      session_->api().get(k_namespaces, {"", "default"}, then);
    });
    return told ? Status() : tl::unexpected(told.error());
  }
  void fault(const embedded::Fault& fault) {
    thread_.run([&] {
      cluster().faults().add(fault);
      return true;
    });
  }

  test::TemporaryFolder folder_;
  test::LiveCluster live_;
  test::PollThread& thread_ = live_.thread();
  const Access admin_ = live_.admin();
  ShiftedLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace spillway::kube
