#include "cluster_home_fixture.h"

namespace spillway::agent {
namespace {

TEST_F(ClusterHomeTest, AWriteThatWasUnderWayBeforeTheClaimIsRefused) {
  put_identity();
  auto a = std::make_unique<Tenant>(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  a->save(state_text(1000));
  loop.run_for(seconds(1));
  const net::Request late = [&] {
    kube::Object object = shelf.objects[k_state];
    return net::Request{"PUT", k_state, {}, model::to_json(object)};
  }();
  a->is_cut = true;
  a.reset();
  Tenant b(loop, log, shelf, "b");
  loop.run_for(seconds(30));
  ASSERT_TRUE(b.is_home());
  EXPECT_EQ(shelf.answer(late).status, 409);
}

TEST_F(ClusterHomeTest, AnAnswerThatIsLostIsFoundOut) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  a.loses_answers = 1;
  a.save(state_text(1000));
  loop.run_for(seconds(1));
  ASSERT_TRUE(a.saved);
  EXPECT_FALSE(*a.saved);  // nobody knows
  a.loses_requests = 1;
  a.save(state_text(2000));
  loop.run_for(seconds(1));
  EXPECT_FALSE(*a.saved);
  a.save(state_text(3000));
  loop.run_for(seconds(1));
  EXPECT_TRUE(*a.saved);
  EXPECT_EQ(shelf.text_of(k_state, ClusterState::k_file), state_text(3000));
  EXPECT_TRUE(a.is_home());
}

TEST_F(ClusterHomeTest, AWriteOfOursThatArrivesLateIsNoReasonToStop) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  std::optional<net::Request> late;
  a.channel.script = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
    const bool is_write = request.method == "PUT" && request.target.starts_with(k_state);
    if (!is_write) return a.answer(request);
    if (!late) {
      late = request;
      return test::lost();
    }
    if (!late->method.empty()) shelf.answer(*late);
    late->method.clear();
    return a.answer(request);
  };
  a.save(state_text(1000));
  loop.run_for(seconds(1));
  ASSERT_FALSE(*a.saved);
  a.save(state_text(2000));
  loop.run_for(seconds(1));
  EXPECT_TRUE(*a.saved);
  EXPECT_EQ(shelf.text_of(k_state, ClusterState::k_file), state_text(2000));
  EXPECT_TRUE(a.is_home());
}

TEST_F(ClusterHomeTest, ForeignLabelsAreNoReasonToStopForeignDataIs) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  a.save(state_text(1000));
  loop.run_for(seconds(1));
  shelf.label(k_state);
  a.save(state_text(2000));
  loop.run_for(seconds(1));
  EXPECT_TRUE(*a.saved);
  EXPECT_EQ(kube::label_in(shelf.objects[k_state], "release"), "2");
  shelf.write(k_state, ClusterState::k_file, "another's");
  a.save(state_text(3000));
  loop.run_for(seconds(1));
  EXPECT_FALSE(*a.saved);
  ASSERT_EQ(a.lost.size(), 1U);
  EXPECT_NE(a.lost[0].message().find("somebody else"), std::string::npos);
  EXPECT_EQ(shelf.text_of(k_state, ClusterState::k_file), "another's");
}

TEST_F(ClusterHomeTest, AStateThatIsTooLargeIsNotSavedAndTheLastOneStays) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  a.save(state_text(1000));
  loop.run_for(seconds(1));
  a.save(std::string(HeldSecret::k_most_bytes + 1, 'x'));
  loop.run_for(seconds(1));
  ASSERT_FALSE(*a.saved);
  EXPECT_NE(a.saved->error().message().find("1048576"), std::string::npos);
  EXPECT_TRUE(a.is_home());
  a.save(state_text(2000));
  loop.run_for(seconds(1));
  EXPECT_TRUE(*a.saved);
}

}  // namespace
}  // namespace spillway::agent
