// What becomes of objects: versions, conflicts, deletion, ownership of fields.
#include "conformance/cluster_under_test.h"

namespace spillway::conformance {
namespace {

using kube::k_config_maps;
using kube::k_namespaces;
using kube::PatchKind;
using model::text_at;

class Objects : public ConformanceTest {
 protected:
  std::string value_of(const std::string& name) {
    const auto read = cluster_.read(k_config_maps, named(name));
    return read ? std::string(text_at(*read, {"data", "value"})) : read.error().message();
  }
};

TEST_F(Objects, WhatIsCreatedIsThereWithAnIdentityOfItsOwn) {
  const auto made = cluster_.create(k_config_maps, config("a"));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_FALSE(kube::uid_in(*made).empty());
  EXPECT_FALSE(kube::version_in(*made).empty());
  EXPECT_FALSE(text_at(*made, {"metadata", "creationTimestamp"}).empty());
  const auto read = cluster_.read(k_config_maps, named("a"));
  ASSERT_TRUE(read);
  EXPECT_TRUE(model::same(*made, *read));
}

TEST_F(Objects, NothingIsCreatedTwiceOrWithoutItsNamespace) {
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  EXPECT_EQ(cluster_.create(k_config_maps, config("a")).error().code, Code::conflict);
  Object lost = config("b");
  model::put(model::ensure(lost, {"metadata"}), "namespace", model::text_node("there-is-none"));
  EXPECT_EQ(cluster_.create(k_config_maps, lost).error().code, Code::not_found);
  EXPECT_EQ(cluster_.read(k_config_maps, named("b")).error().code, Code::not_found);
}

TEST_F(Objects, ABadNameIsRefused) {
  for (const std::string& name :
       std::vector<std::string>{"A", "-a", "a_b", std::string(254, 'a')}) {
    const auto made = cluster_.create(k_config_maps, config(name));
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, Code::invalid) << made.error().message();
  }
}

TEST_F(Objects, AChangeOfAnOldStateIsRefused) {
  const auto first = cluster_.create(k_config_maps, config("a", "1"));
  ASSERT_TRUE(first);
  Object newer = *first;
  model::put(model::ensure(newer, {"data"}), "value", model::text_node("2"));
  const auto second = cluster_.replace(k_config_maps, newer);
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_NE(kube::version_in(*first), kube::version_in(*second));
  EXPECT_EQ(cluster_.replace(k_config_maps, newer).error().code, Code::contended);
  EXPECT_EQ(value_of("a"), "2");
}

TEST_F(Objects, AChangeThatChangesNothingMakesNoVersion) {
  const auto made = cluster_.create(k_config_maps, config("a"));
  ASSERT_TRUE(made);
  const auto again = cluster_.replace(k_config_maps, *made);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(kube::version_in(*made), kube::version_in(*again));
}

TEST_F(Objects, WritersThatReadFirstLoseNothing) {
  ASSERT_TRUE(cluster_.create(k_config_maps, config("count", "0")));
  constexpr int k_writers = 8;
  std::vector<std::promise<Result<Object>>> done(k_writers);
  cluster_.thread().run([&] {
    for (auto& promise : done) {
      cluster_.api().change(
          k_config_maps, named("count"),
          [](Object& object) -> Status {
            const int value = std::stoi(std::string(text_at(object, {"data", "value"})));
            model::put(model::ensure(object, {"data"}), "value",
                       model::text_node(std::to_string(value + 1)));
            return {};
          },
          [&promise](Result<Object> told) { promise.set_value(std::move(told)); });
    }
    return true;
  });
  for (auto& promise : done) {
    const auto told = promise.get_future().get();
    EXPECT_TRUE(told) << told.error().message();
  }
  EXPECT_EQ(value_of("count"), std::to_string(k_writers));
}

TEST_F(Objects, PatchesChangeTheirPartOnly) {
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  ASSERT_TRUE(cluster_.patch(k_config_maps, named("a"), PatchKind::merge,
                             R"({"data":{"other":"x"},"metadata":{"labels":{"l":"1"}}})"));
  ASSERT_TRUE(cluster_.patch(k_config_maps, named("a"), PatchKind::json,
                             R"([{"op":"replace","path":"/data/value","value":"9"}])"));
  const auto seen = cluster_.patch(k_config_maps, named("a"), PatchKind::strategic,
                                   R"({"data":{"other":null,"third":"y"}})");
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_TRUE(model::same(*model::look(*seen, {"data"}), parsed(R"({"third":"y","value":"9"})")))
      << model::to_json(*seen);
  EXPECT_EQ(kube::label_in(*seen, "l"), "1");
  EXPECT_EQ(cluster_
                .patch(k_config_maps, named("a"), PatchKind::json,
                       R"([{"op":"test","path":"/data/value","value":"8"}])")
                .error()
                .code,
            Code::invalid);
}

TEST_F(Objects, AppliedFieldsBelongToWhoAppliedThem) {
  Object ours = config("a", "ours");
  ASSERT_TRUE(cluster_.apply(k_config_maps, ours, false, "us"));
  Object theirs = config("a", "theirs");
  const auto refused = cluster_.apply(k_config_maps, theirs, false, "them");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::contended) << refused.error().message();
  EXPECT_EQ(value_of("a"), "ours");
  ASSERT_TRUE(cluster_.apply(k_config_maps, theirs, true, "them"));
  EXPECT_EQ(value_of("a"), "theirs");
  // What one applies no more, and nobody else has, goes.
  Object empty = kube::new_object(k_config_maps, "ConfigMap", named("a"));
  ASSERT_TRUE(cluster_.apply(k_config_maps, empty, false, "them"));
  EXPECT_EQ(value_of("a"), "");
}

TEST_F(Objects, DeletingAnotherOfThatNameIsRefused) {
  ASSERT_TRUE(cluster_.create(k_config_maps, config("a")));
  const auto wrong = cluster_.remove(k_config_maps, named("a"), {.uid = "another"});
  EXPECT_EQ(wrong.error().code, Code::contended) << wrong.error().message();
  EXPECT_TRUE(cluster_.remove(k_config_maps, named("a")));
  EXPECT_EQ(cluster_.remove(k_config_maps, named("a")).error().code, Code::not_found);
}

TEST_F(Objects, AFinalizerKeepsWhatIsDeletedUntilItIsTakenOff) {
  Object kept = config("a");
  model::merge(model::ensure(kept, {"metadata"}),
               parsed(R"({"finalizers":["spillway.test/hold"]})"));
  ASSERT_TRUE(cluster_.create(k_config_maps, kept));
  ASSERT_TRUE(cluster_.remove(k_config_maps, named("a")));
  const auto read = cluster_.read(k_config_maps, named("a"));
  ASSERT_TRUE(read);
  EXPECT_TRUE(kube::is_being_deleted(*read));
  ASSERT_TRUE(cluster_.patch(k_config_maps, named("a"), PatchKind::merge,
                             R"({"metadata":{"finalizers":null}})"));
  EXPECT_EQ(cluster_.read(k_config_maps, named("a")).error().code, Code::not_found);
}

TEST_F(Objects, WhatIsOwnedGoesWithItsOwner) {
  const auto owner = cluster_.create(k_config_maps, config("owner"));
  ASSERT_TRUE(owner);
  Object owned = config("owned");
  model::merge(model::ensure(owned, {"metadata"}),
               parsed(fmt::format(R"({{"ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap",
                                       "name":"owner","uid":"{}"}}]}})",
                                  kube::uid_in(*owner))));
  ASSERT_TRUE(cluster_.create(k_config_maps, owned));
  ASSERT_TRUE(cluster_.remove(k_config_maps, named("owner"), {.propagation = "Background"}));
  EXPECT_TRUE(cluster_.wait_gone(k_config_maps, named("owned")));
}

TEST_F(Objects, ANamespaceTakesWhatIsInItAlong) {
  const std::string other = space_ + "-2";
  ASSERT_TRUE(
      cluster_.create(k_namespaces, kube::new_object(k_namespaces, "Namespace", {"", other})));
  Object inside = kube::new_object(k_config_maps, "ConfigMap", {other, "a"});
  ASSERT_TRUE(cluster_.create(k_config_maps, inside));
  ASSERT_TRUE(cluster_.remove(k_namespaces, {"", other}));
  EXPECT_TRUE(cluster_.wait_gone(k_config_maps, {other, "a"}, k_patience_with_namespaces));
  EXPECT_TRUE(cluster_.wait_gone(k_namespaces, {"", other}, k_patience_with_namespaces));
}

TEST_F(Objects, LongListsComeInPagesWithNothingTwiceOrMissing) {
  constexpr int k_count = kube::Api::k_page + 30;
  std::vector<std::promise<Result<Object>>> done(k_count);
  cluster_.thread().run([&] {
    for (int i = 0; i < k_count; ++i) {
      cluster_.api().create(k_config_maps, config(fmt::format("c{}", i)),
                            [&done, i](Result<Object> told) {
                              done[static_cast<size_t>(i)].set_value(std::move(told));
                            });
    }
    return true;
  });
  for (auto& promise : done) ASSERT_TRUE(promise.get_future().get());
  const auto all = cluster_.list(k_config_maps, {.space = space_, .fields = {}});
  ASSERT_TRUE(all);
  std::set<std::string> names;
  for (const Object& one : *all) {
    if (kube::name_in(one).starts_with("c")) names.emplace(kube::name_in(one));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(k_count));
}

// As it all was when the first page was asked for, whatever happens between the pages.
TEST_F(Objects, APageGoesOnWhereTheLastOneEnded) {
  const auto make = [&](const std::string& name) {
    Object made = config(name);
    model::merge(model::ensure(made, {"metadata"}), parsed(R"({"labels":{"in":"pages"}})"));
    ASSERT_TRUE(cluster_.create(k_config_maps, made));
  };
  for (const std::string name : {"a", "b", "c", "d", "e"}) make(name);
  const std::string all =
      kube::path_of(k_config_maps, {space_, {}}) + "?labelSelector=in%3Dpages&limit=2";
  const auto names_in = [](const Object& page) {
    std::string names;
    for (const Object& one : model::items_at(page, {"items"})) names += kube::name_in(one);
    return names;
  };
  const Object first = parsed(cluster_.answer_to(all).body);
  EXPECT_EQ(names_in(first), "ab");
  make("bb");
  ASSERT_TRUE(cluster_.remove(k_config_maps, named("d")));
  const auto after = [&](const Object& page) {
    const std::string token(text_at(page, {"metadata", "continue"}));
    EXPECT_FALSE(token.empty());
    return parsed(cluster_.answer_to(all + "&continue=" + net::escape_segment(token)).body);
  };
  const Object second = after(first);
  EXPECT_EQ(names_in(second), "cd");
  const Object third = after(second);
  EXPECT_EQ(names_in(third), "e");
  EXPECT_EQ(text_at(third, {"metadata", "continue"}), "");
  EXPECT_EQ(kube::version_in(first), kube::version_in(third));
}

TEST_F(Objects, APageThatIsNoneIsRefused) {
  for (const std::string name : {"a", "b"}) {
    ASSERT_TRUE(cluster_.create(k_config_maps, config(name)));
  }
  const std::string all = kube::path_of(k_config_maps, {space_, {}}) + "?limit=1";
  EXPECT_EQ(cluster_.answer_to(all + "&continue=nonsense").status, 400);
  const Object page = parsed(cluster_.answer_to(all).body);
  const std::string token(text_at(page, {"metadata", "continue"}));
  const std::string next = all + "&continue=" + net::escape_segment(token);
  EXPECT_EQ(cluster_.answer_to(next).status, 200);
  EXPECT_EQ(cluster_.answer_to(next + "&resourceVersion=1").status, 400);
}

TEST_F(Objects, ListsHaveWhatWasAskedForOnly) {
  Object red = config("red");
  model::merge(model::ensure(red, {"metadata"}), parsed(R"({"labels":{"colour":"red"}})"));
  ASSERT_TRUE(cluster_.create(k_config_maps, red));
  ASSERT_TRUE(cluster_.create(k_config_maps, config("plain")));
  const std::vector<std::pair<kube::Wanted, std::string>> cases = {
      {{.space = space_, .labels = "colour=red"}, "red"},
      {{.space = space_, .labels = "colour in (red,green)"}, "red"},
      {{.space = space_, .fields = "metadata.name=plain"}, "plain"},
      {{.space = space_, .labels = "!colour", .fields = "metadata.name=plain"}, "plain"},
  };
  for (const auto& [wanted, name] : cases) {
    const auto found = cluster_.list(k_config_maps, wanted);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_EQ(found->size(), 1U) << wanted.labels << wanted.fields;
    EXPECT_EQ(kube::name_in(found->front()), name);
  }
}

TEST_F(Objects, OfKindsThatAreDefinedLater) {
  const Resource widgets = define_widgets();
  Object widget = kube::new_object(widgets, "Widget", named("w"));
  model::merge(widget, parsed(R"({"spec":{"deep":[{"er":1}]},"status":{"phase":"mine"}})"));
  const auto made = cluster_.create(widgets, widget);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(model::look(*made, {"status"}), nullptr);  // the status has a door of its own
  EXPECT_EQ(model::integer_at(*made, {"metadata", "generation"}), 1);

  Object changed = *made;
  model::put(model::ensure(changed, {"status"}), "phase", model::text_node("Ready"));
  model::put(model::ensure(changed, {"spec"}), "ignored", model::integer_node(1));
  const auto with_status = cluster_.replace_status(widgets, changed);
  ASSERT_TRUE(with_status) << with_status.error().message();
  EXPECT_EQ(text_at(*with_status, {"status", "phase"}), "Ready");
  EXPECT_EQ(model::look(*with_status, {"spec", "ignored"}), nullptr);
  EXPECT_EQ(model::integer_at(*with_status, {"metadata", "generation"}), 1);

  Object other = *with_status;
  model::put(model::ensure(other, {"spec"}), "size", model::integer_node(2));
  model::put(model::ensure(other, {"status"}), "phase", model::text_node("Lost"));
  const auto with_spec = cluster_.replace(widgets, other);
  ASSERT_TRUE(with_spec) << with_spec.error().message();
  EXPECT_EQ(text_at(*with_spec, {"status", "phase"}), "Ready");
  EXPECT_EQ(model::integer_at(*with_spec, {"metadata", "generation"}), 2);
}

}  // namespace
}  // namespace spillway::conformance
