// What a watch tells, and in which order.
#include "conformance/raw_watch.h"

namespace spillway::conformance {
namespace {

using kube::k_config_maps;
using Heard = std::vector<std::string>;

class Watching : public ConformanceTest {
 protected:
  RawWatch watching(const std::string& version, const std::string& more = {}) {
    return {cluster_, k_config_maps, space_, "resourceVersion=" + version + more};
  }
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
  RawWatch watch = watching(version);
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
  RawWatch whole = watching(version);
  EXPECT_EQ(whole.next(2), (Heard{"ADDED a", "ADDED b"}));
  RawWatch rest = watching(std::string(kube::version_in(*a)));
  EXPECT_EQ(rest.next(1), (Heard{"ADDED b"}));
}

TEST_F(Watching, WhatComesToMatchIsAddedAndWhatNoLongerDoesIsDeleted) {
  const std::string version = version_now();
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  RawWatch watch = watching(version, "&labelSelector=colour%3Dred");
  label("a", "\"red\"");
  label("a", "\"green\"");
  label("a", "\"red\"");
  ASSERT_TRUE(cluster_.remove(k_config_maps, named("a")));
  EXPECT_EQ(watch.next(4), (Heard{"ADDED a", "DELETED a", "ADDED a", "DELETED a"}));
}

TEST_F(Watching, OtherNamespacesAreNotHeardOf) {
  const std::string version = version_now();
  RawWatch watch = watching(version);
  Object elsewhere = kube::new_object(k_config_maps, "ConfigMap", {"default", space_});
  ASSERT_TRUE(cluster_.create(k_config_maps, elsewhere));
  ASSERT_TRUE(cluster_.remove(k_config_maps, {"default", space_}));
  ASSERT_TRUE(cluster_.create(k_config_maps, config("here")));
  EXPECT_EQ(watch.next(1), (Heard{"ADDED here"}));
}

TEST_F(Watching, AWatchOfEverythingBeginsWithEverything) {
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  RawWatch watch = watching("0", "&fieldSelector=metadata.name%3Da");
  EXPECT_EQ(watch.next(1), (Heard{"ADDED a"}));
}

TEST_F(Watching, EverythingCanHaveItsEndMarked) {
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  label("a", "\"red\"");
  RawWatch watch = watching("",
                            "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                            "&allowWatchBookmarks=true&labelSelector=colour%3Dred");
  EXPECT_EQ(watch.next(2), (Heard{"ADDED a", "BOOKMARK"}));
  EXPECT_EQ(model::text_at(watch.last("BOOKMARK"),
                           {"metadata", "annotations", "k8s.io/initial-events-end"}),
            "true");
  ASSERT_TRUE(cluster_.remove(k_config_maps, named("a")));
  EXPECT_EQ(watch.next(1), (Heard{"DELETED a"}));
}

TEST_F(Watching, AVersionThatIsNoneIsRefused) {
  RawWatch watch = watching("nonsense");
  EXPECT_EQ(watch.status(), 500);  // not 400, which would be better
  EXPECT_EQ(watch.rest(), (Heard{"END"}));
  const std::string all = kube::path_of(k_config_maps, {space_, {}}) + "?resourceVersion=nonsense";
  EXPECT_EQ(cluster_.answer_to(all).status, 400);
}

// Of what was defined only later nothing can be told from the first version on.
TEST_F(Watching, AVersionOfWhichNothingIsKnownAnyMoreHasExpired) {
  const Resource widgets = define_widgets();
  std::string version;
  ASSERT_TRUE(cluster_.list(widgets, {.space = space_}, &version));
  RawWatch old(cluster_, widgets, space_, "resourceVersion=1");
  EXPECT_EQ(old.status(), 200);
  EXPECT_EQ(old.rest(), (Heard{"ERROR 410", "END"}));
  EXPECT_EQ(model::text_at(old.last("ERROR"), {"reason"}), "Expired");
  RawWatch fresh(cluster_, widgets, space_, "resourceVersion=" + version);
  ASSERT_TRUE(cluster_.create(widgets, kube::new_object(widgets, "Widget", named("w"))));
  EXPECT_EQ(fresh.next(1), (Heard{"ADDED w"}));
}

// A bookmark shortly before the end: who begins again there has missed nothing and hears nothing
// twice. Only who asks for bookmarks gets any.
TEST_F(Watching, EndsInGoodOrderWhenItsTimeIsOverWithABookmarkBefore) {
  const std::string version = version_now();
  RawWatch watch = watching(version, "&timeoutSeconds=4&allowWatchBookmarks=true");
  RawWatch plain = watching(version, "&timeoutSeconds=4");
  ASSERT_EQ(watch.status(), 200);
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  ASSERT_EQ(watch.next(1), (Heard{"ADDED a"}));
  const Heard heard = watch.rest();
  ASSERT_GE(heard.size(), 2U);
  EXPECT_EQ(heard.front(), "BOOKMARK");
  EXPECT_EQ(heard.back(), "END");
  EXPECT_GE(watch.lasted(), std::chrono::milliseconds(3500));
  EXPECT_LE(watch.lasted(), std::chrono::milliseconds(6000));
  EXPECT_EQ(plain.rest(), (Heard{"ADDED a", "END"}));

  const Object bookmark = watch.last("BOOKMARK");
  const std::string place(kube::version_in(bookmark));
  EXPECT_TRUE(model::same(
      bookmark,
      parsed(fmt::format(
          R"({{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}}}})",
          place))))
      << model::to_json(bookmark);
  RawWatch again = watching(place);
  ASSERT_TRUE(cluster_.create(k_config_maps, config("b")));
  EXPECT_EQ(again.next(1), (Heard{"ADDED b"}));
}

}  // namespace
}  // namespace spillway::conformance
