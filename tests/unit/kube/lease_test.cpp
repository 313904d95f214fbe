#include "kube/lease.h"

#include <gtest/gtest.h>

#include "model/json.h"
#include "support/manual_loop.h"
#include "support/scripted_channel.h"

namespace spillway::kube {
namespace {

// One Lease object behind any number of channels.
struct Record {
  std::optional<Object> lease;
  int version = 0;

  net::Response answer(const net::Request& request) {
    if (request.method == "GET") {
      if (!lease) return {404, {}, R"({"kind":"Status","code":404})"};
      return {200, {}, model::to_json(*lease)};
    }
    auto body = model::parse_json(request.body).value();
    if (request.method == "POST" && lease) {
      return {409, {}, R"({"kind":"Status","code":409,"reason":"AlreadyExists"})"};
    }
    if (request.method == "PUT" && version_in(body) != version_in(*lease)) {
      return {409, {}, R"({"kind":"Status","code":409,"reason":"Conflict"})"};
    }
    model::put(model::ensure(body, {"metadata"}), "resourceVersion",
               model::text_node(std::to_string(++version)));
    lease = body;
    return {200, {}, model::to_json(body)};
  }
};

struct Candidate {
  Candidate(test::ManualLoop& loop, Record& record, const std::string& name)
      : channel(loop),
        api(loop, random, channel, {.patience = seconds(5)}),
        lease(api, {.name = {"spillway", "agent"}, .holder = name},
              {[this] { ++held; }, [this] { ++lost; }}) {
    channel.script =
        [this, &record](const net::Request& request) -> std::optional<Result<net::Response>> {
      if (is_cut) return test::lost();
      return record.answer(request);
    };
    lease.start();
  }
  host::SeededRandom random{3};
  test::ScriptedChannel channel;
  Api api;
  bool is_cut = false;
  int held = 0;
  int lost = 0;
  Lease lease;
};

class LeaseTest : public testing::Test {
 protected:
  test::ManualLoop loop_;
  Record record_;

  // Never two at a time, at any step.
  void run_watching(Candidate& a, Candidate& b, Duration time) {
    for (int64_t step = 0; step < time.ms; step += 100) {
      loop_.run_for(milliseconds(100));
      ASSERT_FALSE(a.lease.is_held() && b.lease.is_held());
    }
  }
};

TEST_F(LeaseTest, OneOfManyHoldsIt) {
  Candidate a(loop_, record_, "a");
  Candidate b(loop_, record_, "b");
  run_watching(a, b, minutes(5));
  EXPECT_EQ(a.held + b.held, 1);
  EXPECT_EQ(a.lost + b.lost, 0);
  EXPECT_TRUE(a.lease.is_held() || b.lease.is_held());
}

TEST_F(LeaseTest, AHolderThatIsCutOffCountsItselfOutBeforeAnotherTakesOver) {
  Candidate a(loop_, record_, "a");
  loop_.run_for(seconds(1));
  Candidate b(loop_, record_, "b");
  run_watching(a, b, minutes(1));
  ASSERT_TRUE(a.lease.is_held());
  a.is_cut = true;
  run_watching(a, b, minutes(1));
  EXPECT_EQ(a.lost, 1);
  EXPECT_TRUE(b.lease.is_held());
  a.is_cut = false;
  run_watching(a, b, minutes(1));
  EXPECT_TRUE(b.lease.is_held());
  EXPECT_EQ(a.lease.holder(), "b");
}

TEST_F(LeaseTest, WhoGivesItUpIsFollowedAtOnce) {
  Candidate a(loop_, record_, "a");
  loop_.run_for(seconds(1));
  Candidate b(loop_, record_, "b");
  loop_.run_for(seconds(10));
  bool is_done = false;
  a.lease.release([&] { is_done = true; });
  loop_.run_for(seconds(4));
  EXPECT_TRUE(is_done);
  EXPECT_TRUE(b.lease.is_held());
  EXPECT_FALSE(a.lease.is_held());
}

TEST_F(LeaseTest, TimesWrittenInTheRecordMeanNothing) {
  Candidate a(loop_, record_, "a");
  loop_.run_for(seconds(1));
  Candidate b(loop_, record_, "b");
  loop_.run_for(seconds(1));
  model::put(model::ensure(*record_.lease, {"spec"}), "renewTime",
             model::text_node("2001-01-01T00:00:00.000000Z"));
  run_watching(a, b, seconds(30));
  EXPECT_TRUE(a.lease.is_held());
  EXPECT_EQ(b.held, 0);
}

}  // namespace
}  // namespace spillway::kube
