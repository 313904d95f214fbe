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
#include "live/federation.h"

namespace spillway::conformance {

using kube::Name;
using kube::Object;
using kube::Resource;

// Long enough for a busy machine; nobody waits that long for what works.
inline constexpr std::chrono::seconds k_patience{30};

class ClusterUnderTest {
 public:
  static ClusterUnderTest& get();
  ~ClusterUnderTest();

  kube::Api& api() { return session_->api(); }
  test::PollThread& thread() { return thread_; }

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
  Result<std::vector<Object>> list(const Resource& resource, const kube::Wanted& wanted);

  // Watches until the predicate holds; the object is null when there is none. False: it did not
  // within k_patience.
  using Predicate = std::function<bool(const Object*)>;
  bool wait_until(const Resource& resource, const Name& name, const Predicate& holds);
  bool wait_gone(const Resource& resource, const Name& name) {
    return wait_until(resource, name, [](const Object* object) { return object == nullptr; });
  }

 private:
  struct Embedded;
  ClusterUnderTest();

  test::PollThread thread_;
  services::ServiceLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  std::unique_ptr<Embedded> embedded_;
  std::unique_ptr<kube::Session> session_;
};

// With a namespace of its own, which goes with the test, and nodes of its own if it makes any.
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
  bool wait_running(const std::string& pod);
  bool wait_unschedulable(const std::string& pod);

  ClusterUnderTest& cluster_ = ClusterUnderTest::get();
  std::string space_;
  std::vector<std::string> nodes_;
};

Object parsed(const std::string& json);

}  // namespace spillway::conformance
