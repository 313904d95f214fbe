#include "supply/view.h"

#include "unit/supply/objects.h"

namespace spillway::supply {
namespace {

model::Resources own_on(const View& view, std::string_view node) {
  const auto at = view.places().find(node);
  return at == view.places().end() ? model::Resources{} : at->second.own.sum();
}

TEST(View, SumsOwnPodsByNode) {
  View view;
  view.put(plain_node("n1"));
  view.put(bound_pod("a/1", "n1", requests(500, 1)));
  view.put(bound_pod("a/2", "n1", requests(250, 2, {{"nvidia.com/gpu", 1}})));
  EXPECT_EQ(own_on(view, "n1"),
            (model::Resources{750, 3 * k_gib, 2, 0, {}, {{"nvidia.com/gpu", 1}}}));
  view.remove_pod("a/2");
  view.remove_pod("a/2");
  EXPECT_EQ(own_on(view, "n1"), (model::Resources{500, k_gib, 1, 0, {}, {}}));
}

TEST(View, TakesTheLastRowOfAPod) {
  View view;
  view.put(bound_pod("a/1", "n1", requests(500, 1)));
  view.put(bound_pod("a/1", "n1", requests(700, 1)));
  EXPECT_EQ(own_on(view, "n1").cpu_millis, 700);
  view.put(bound_pod("a/1", "n2", requests(700, 1)));
  EXPECT_EQ(own_on(view, "n1"), model::Resources{});
  EXPECT_EQ(own_on(view, "n2").cpu_millis, 700);
  PodRow over = bound_pod("a/1", "n2", requests(700, 1));
  over.state = PodState::over;
  view.put(over);
  EXPECT_TRUE(view.places().empty());
  EXPECT_EQ(view.pods(), 0U);
}

TEST(View, KeepsOnePlacementForPodsOfAKind) {
  View view;
  const auto wait = [&view](const std::string& key, int64_t cpu, const std::string& zone) {
    PodRow row;
    row.key = key;
    row.state = PodState::pending;
    row.requests = requests(cpu, 1);
    row.placement = std::make_shared<const Placement>(Placement{{{"zone", zone}}, {}, {}});
    view.put(std::move(row));
    return view.waiting().at(key).placement;
  };
  std::weak_ptr<const Placement> first = wait("a/1", 500, "a");
  EXPECT_EQ(wait("a/2", 500, "a"), first.lock());
  EXPECT_NE(wait("a/3", 500, "b"), first.lock());
  view.remove_pod("a/1");
  EXPECT_EQ(view.waiting().at("a/2").placement, first.lock());
  view.remove_pod("a/2");
  EXPECT_TRUE(first.expired()) << "nobody waits like that any more";
  EXPECT_EQ(view.waiting().at("a/3").placement->selector.front().value, "b");
}

TEST(View, KeepsPodsOfANodeThatIsNotThere) {
  View view;
  view.put(bound_pod("a/1", "n1", requests(500, 1)));
  view.put(plain_node("n1"));
  EXPECT_EQ(own_on(view, "n1").cpu_millis, 500);
  view.remove_node("n1");
  EXPECT_FALSE(view.places().at("n1").row);
  view.put(plain_node("n1"));
  EXPECT_EQ(own_on(view, "n1").cpu_millis, 500);
  view.remove_node("n1");
  view.remove_pod("a/1");
  EXPECT_TRUE(view.places().empty());
}

TEST(View, KeepsNothingOfGuests) {
  View view;
  PodRow guest = bound_pod("a/1", "n1", requests(500, 1));
  view.put(guest);
  guest.guest = true;
  view.put(guest);
  EXPECT_EQ(view.pods(), 0U);
  EXPECT_TRUE(view.places().empty());
}

TEST(View, MovesAPendingPodToItsNode) {
  View view;
  view.put(pending_pod("a/1", requests(500, 1)));
  EXPECT_EQ(view.waiting().size(), 1U);
  view.put(bound_pod("a/1", "n1", requests(500, 1)));
  EXPECT_TRUE(view.waiting().empty());
  EXPECT_EQ(view.pods(), 1U);
}

TEST(View, RemembersWhatCannotBeReadAndWhere) {
  View view;
  PodRow bad = bound_pod("a/1", "n1", {});
  bad.problem = "cpu: negative";
  view.put(bad);
  EXPECT_EQ(view.places().at("n1").unreadable.size(), 1U);
  bad.node.clear();
  view.put(bad);
  EXPECT_TRUE(view.places().empty());
  EXPECT_EQ(view.lost().size(), 1U);
  view.put(bound_pod("a/1", "n1", requests(1, 0)));
  EXPECT_TRUE(view.lost().empty());
}

TEST(View, ForgetsWhatANewListDoesNotHave) {
  View view =
      known_view({plain_node("n1"), plain_node("n2")},
                 {bound_pod("a/1", "n1", requests(1, 0)), pending_pod("a/2", requests(1, 0)),
                  bound_pod("a/3", "n2", requests(5, 0))});
  view.replace_nodes({plain_node("n2")});
  view.replace_pods({bound_pod("a/3", "n2", requests(7, 0))});
  EXPECT_EQ(view.places().size(), 1U);
  EXPECT_EQ(own_on(view, "n2").cpu_millis, 7);
  EXPECT_EQ(view.pods(), 1U);
}

TEST(View, IsKnownOnceBothListsAre) {
  View view;
  view.replace_nodes({});
  EXPECT_FALSE(view.is_known());
  view.set_pods_known();
  EXPECT_TRUE(view.is_known());
}

// Ten thousand pods that ask for everything there could be: sums must neither wrap nor end us.
TEST(View, SumsAbsurdRequestsAndTakesThemAwayAgain) {
  View view;
  for (int i = 0; i < 10'000; ++i) {
    view.put(bound_pod(fmt::format("a/{}", i), "n1",
                       {model::k_max_amount,
                        model::k_max_amount,
                        model::k_max_amount,
                        {{"example.com/x", model::k_max_amount}}}));
  }
  EXPECT_EQ(own_on(view, "n1").cpu_millis, model::k_max_amount);
  EXPECT_TRUE(validate(own_on(view, "n1")));
  for (int i = 1; i < 10'000; ++i) view.remove_pod(fmt::format("a/{}", i));
  view.put(bound_pod("a/0", "n1", requests(3, 0)));
  EXPECT_EQ(own_on(view, "n1"), (model::Resources{3, 0, 1, 0, {}, {}}));
}

}  // namespace
}  // namespace spillway::supply
