// The cluster that the conformance suite is run on: a real one, when
// SPILLWAY_CONFORMANCE_KUBECONFIG names its kubeconfig, else an embedded one in this process. Tests
// cannot tell which, and must not try: where the two differ, the embedded one is wrong.
//
// Verbs wait for their answers here; what comes about later is waited for by watching, never by
// asking again and again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "kube/api.h"
#include "kube/session.h"
#include "kube/watch.h"
#include "live/live_cluster.h"

namespace spillway::conformance {

using kube::Name;
using kube::Object;
using kube::Resource;

// Some ten times what a real cluster needs on two busy cores, and less than the periods after which
// one looks again at what it has missed: what comes about only then is too late.
inline constexpr std::chrono::seconds k_patience{10};
// A namespace of a real cluster goes in steps, with five seconds between some of them.
inline constexpr std::chrono::seconds k_patience_with_namespaces{30};

class ClusterUnderTest {
 public:
  static ClusterUnderTest& get();
  ~ClusterUnderTest();

  kube::Api& api() { return session_->api(); }
  test::PollThread& thread() { return thread_; }
  host::Loop& loop() { return loop_; }
  host::Random& random() { return random_; }
  // For what Api has no verb for; all on thread().
  net::Channel& channel() { return session_->channel(); }
  net::Request get(std::string target) const;

  net::Response answer_to(const std::string& target);
  Result<Object> read(const Resource& resource, const Name& name);
  Result<Object> create(const Resource& resource, const Object& object);
  Result<Object> replace(const Resource& resource, const Object& object);
  Result<Object> replace_status(const Resource& resource, const Object& object);
  Result<Object> patch(const Resource& resource, const Name& name, kube::PatchKind kind,
                       const std::string& json, std::string_view subresource = {});
  Result<Object> apply(const Resource& resource, const Object& object, bool force,
                       const std::string& manager);
  Status remove(const Resource& resource, const Name& name, const kube::RemoveAsked& asked = {});
  Status evict(const Name& pod);
  Result<std::vector<Object>> list(const Resource& resource, const kube::Wanted& wanted,
                                   std::string* version = nullptr);

  // Watches until the predicate holds; the object is null when there is none. False: it did not
  // in that time.
  using Predicate = std::function<bool(const Object*)>;
  bool wait_until(const Resource& resource, const Name& name, const Predicate& holds,
                  std::chrono::seconds patience = k_patience);
  bool wait_gone(const Resource& resource, const Name& name,
                 std::chrono::seconds patience = k_patience) {
    return wait_until(
        resource, name, [](const Object* object) { return object == nullptr; }, patience);
  }

 private:
  ClusterUnderTest();

  std::unique_ptr<test::LiveCluster> embedded_;  // null: a real one
  kube::Access access_;
  test::PollThread thread_;
  services::ServiceLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  std::unique_ptr<kube::Session> session_;
};

// With a namespace of its own, which goes with the test, and nodes and a kind of its own if it
// makes any.
class ConformanceTest : public testing::Test {
 protected:
  ConformanceTest();
  ~ConformanceTest() override;

  Name named(const std::string& name) const { return {space_, name}; }
  // "10 cpu, 16Gi, 20 pods" unless told otherwise; the test's pods go there and nowhere else.
  std::string add_node(const std::string& cpu = "10", const std::string& more_spec = "{}");
  Object pod(const std::string& name, const std::string& cpu = "100m",
             const std::string& more_spec = "{}") const;
  Object config(const std::string& name, const std::string& value = "1") const;
  Resource define_widgets();
  bool wait_running(const std::string& pod);
  bool wait_unschedulable(const std::string& pod);

  ClusterUnderTest& cluster_ = ClusterUnderTest::get();
  std::string space_;
  std::vector<std::string> nodes_;
  std::vector<std::string> definitions_;
};

Object parsed(const std::string& json);

}  // namespace spillway::conformance
