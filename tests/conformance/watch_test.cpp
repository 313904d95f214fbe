// What a watch tells, and in which order.
#include <mutex>

#include "conformance/cluster_under_test.h"

namespace spillway::conformance {
namespace {

using kube::k_config_maps;

// The stream as it comes, without the machine that takes it up again.
class RawWatch {
 public:
  RawWatch(ClusterUnderTest& cluster, const kube::Wanted& wanted, const std::string& version)
      : cluster_(cluster) {
    cluster_.thread().run([&] {
      net::StreamCalls calls;
      calls.on_head = [this](const net::Response& head) { status_ = head.status; };
      calls.on_bytes = [this](std::string_view bytes) {
        lines_.feed(bytes, [this](std::string_view line) {
          take(parsed(std::string(line)));
          return true;
        });
      };
      calls.on_end = [this](const Error&) { note("END"); };
      cluster_.api().watch(k_config_maps, wanted, version, minutes(5), std::move(calls),
                           [this](auto reading) { reading_ = std::move(reading); });
      return true;
    });
  }
  ~RawWatch() {
    cluster_.thread().run([&] {
      reading_.reset();
      return true;
    });
  }

  // "ADDED a", "MODIFIED a", …: the next so many, bookmarks left out.
  std::vector<std::string> next(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, k_patience, [&] { return heard_.size() >= count; });
    return std::exchange(heard_, {});
  }

 private:
  void take(const Object& change) {
    const std::string type(model::text_at(change, {"type"}));
    if (type == "BOOKMARK") return;
    if (type == "ERROR") {
      return note(fmt::format("ERROR {}", model::integer_at(change, {"object", "code"})));
    }
    const std::string_view name = model::text_at(change, {"object", "metadata", "name"});
    if (name == "kube-root-ca.crt") return;  // every namespace is given one, at its own time
    note(fmt::format("{} {}", type, name));
  }
  void note(std::string what) {
    const std::lock_guard lock(mutex_);
    heard_.push_back(std::move(what));
    changed_.notify_all();
  }

  ClusterUnderTest& cluster_;
  kube::Lines lines_;
  std::unique_ptr<net::Reading> reading_;
  int status_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> heard_;
};

using Heard = std::vector<std::string>;

class Watching : public ConformanceTest {
 protected:
  std::string version_now() {
    const auto made = cluster_.create(k_config_maps, config("before"));
    return std::string(kube::version_in(*made));
  }
  void label(const std::string& name, const std::string& value) {
    const auto done =
        cluster_.patch(k_config_maps, named(name), kube::PatchKind::merge,
                       fmt::format(R"({{"metadata":{{"labels":{{"colour":{}}}}}}})", value));
    ASSERT_TRUE(done) << done.error().message();
  }
};

TEST_F(Watching, TellsEveryChangeAfterTheVersionInOrder) {
  const std::string version = version_now();
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  RawWatch watch(cluster_, {.space = space_}, version);
  label("a", "\"red\"");
  ASSERT_TRUE(cluster_.create(k_config_maps, config("b")));
  ASSERT_TRUE(cluster_.remove(k_config_maps, named("a")));
  EXPECT_EQ(watch.next(4), (Heard{"ADDED a", "MODIFIED a", "ADDED b", "DELETED a"}));
}

TEST_F(Watching, BeginsAgainWhereItIsAskedTo) {
  const std::string version = version_now();
  const auto a = cluster_.create(k_config_maps, config("a"));
  ASSERT_TRUE(a);
  ASSERT_TRUE(cluster_.create(k_config_maps, config("b")));
  RawWatch whole(cluster_, {.space = space_}, version);
  EXPECT_EQ(whole.next(2), (Heard{"ADDED a", "ADDED b"}));
  RawWatch rest(cluster_, {.space = space_}, std::string(kube::version_in(*a)));
  EXPECT_EQ(rest.next(1), (Heard{"ADDED b"}));
}

TEST_F(Watching, WhatComesToMatchIsAddedAndWhatNoLongerDoesIsDeleted) {
  const std::string version = version_now();
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  RawWatch watch(cluster_, {.space = space_, .labels = "colour=red"}, version);
  label("a", "\"red\"");
  label("a", "\"green\"");
  label("a", "\"red\"");
  ASSERT_TRUE(cluster_.remove(k_config_maps, named("a")));
  EXPECT_EQ(watch.next(4), (Heard{"ADDED a", "DELETED a", "ADDED a", "DELETED a"}));
}

TEST_F(Watching, OtherNamespacesAreNotHeardOf) {
  const std::string version = version_now();
  RawWatch watch(cluster_, {.space = space_}, version);
  Object elsewhere = kube::new_object(k_config_maps, "ConfigMap", {"default", space_});
  ASSERT_TRUE(cluster_.create(k_config_maps, elsewhere));
  ASSERT_TRUE(cluster_.remove(k_config_maps, {"default", space_}));
  ASSERT_TRUE(cluster_.create(k_config_maps, config("here")));
  EXPECT_EQ(watch.next(1), (Heard{"ADDED here"}));
}

TEST_F(Watching, AWatchOfEverythingBeginsWithEverything) {
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  RawWatch watch(cluster_, {.space = space_, .fields = "metadata.name=a"}, "0");
  EXPECT_EQ(watch.next(1), (Heard{"ADDED a"}));
}

TEST_F(Watching, AVersionThatIsNoneIsRefused) {
  RawWatch watch(cluster_, {.space = space_}, "nonsense");
  EXPECT_EQ(watch.next(1), (Heard{"END"}));
}

}  // namespace
}  // namespace spillway::conformance
