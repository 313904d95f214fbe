#include "kube/api.h"

#include <gtest/gtest.h>

#include "host/random.h"
#include "model/json.h"
#include "support/manual_loop.h"
#include "support/scripted_channel.h"

namespace spillway::kube {
namespace {

net::Response answer(int status, std::string body, net::Headers headers = {}) {
  return {status, std::move(headers), std::move(body)};
}

net::Response refusal(int status, const std::string& reason, const std::string& more = {}) {
  return answer(status,
                fmt::format(R"({{"kind":"Status","code":{},"reason":"{}","message":"no: {}"{}}})",
                            status, reason, reason, more));
}

class ApiTest : public testing::Test {
 protected:
  test::ManualLoop loop_;
  host::SeededRandom random_{7};
  test::ScriptedChannel channel_{loop_};
  Api api_{loop_, random_, channel_, {}};
  std::vector<net::Response> answers_;  // in turn; the last one again and again
  size_t next_ = 0;

  void SetUp() override {
    channel_.script = [this](const net::Request&) -> std::optional<Result<net::Response>> {
      const net::Response& told = answers_.at(std::min(next_++, answers_.size() - 1));
      if (told.status == 0) return test::lost();
      return told;
    };
  }

  template <class T>
  Then<T> into(std::optional<Result<T>>& place) {
    return [&place](Result<T> told) { place = std::move(told); };
  }

  Result<Object> get(Duration wait = minutes(2)) {
    std::optional<Result<Object>> told;
    api_.get(k_pods, {"default", "web"}, into(told));
    loop_.run_for(wait);
    return told.value();
  }
};

const net::Response k_lost{0, {}, {}};

TEST_F(ApiTest, AsksWhereTheObjectIs) {
  answers_ = {answer(200, R"({"metadata":{"name":"web"}})")};
  EXPECT_EQ(name_in(get().value()), "web");
  EXPECT_EQ(channel_.asked[0].request.target, "/api/v1/namespaces/default/pods/web");
  EXPECT_EQ(path_of(k_leases, {"a b", "x"}, "status"),
            "/apis/coordination.k8s.io/v1/namespaces/a%20b/leases/x/status");
  EXPECT_EQ(path_of(k_nodes, {"ignored", "n"}), "/api/v1/nodes/n");
  EXPECT_EQ(path_of(k_pods, {}), "/api/v1/pods");
}

TEST_F(ApiTest, SaysWhatARefusalMeans) {
  const std::vector<std::pair<net::Response, Code>> meanings = {
      {refusal(400, "BadRequest"), Code::invalid}, {refusal(401, "Unauthorized"), Code::denied},
      {refusal(403, "Forbidden"), Code::denied},   {refusal(404, "NotFound"), Code::not_found},
      {refusal(409, "Conflict"), Code::contended}, {refusal(409, "AlreadyExists"), Code::conflict},
      {refusal(410, "Expired"), Code::gone},       {refusal(422, "Invalid"), Code::invalid},
      {answer(404, "<html>"), Code::not_found},
  };
  for (const auto& [response, code] : meanings) {
    answers_ = {response};
    next_ = 0;
    const auto told = get();
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().code, code) << response.status;
    EXPECT_EQ(told.error().thing, "pods default/web");
  }
  EXPECT_EQ(channel_.asked.size(), meanings.size());  // none of these is tried again
}

TEST_F(ApiTest, DoubtsThatWhatSendsUsElsewhereIsAnApiServer) {
  answers_ = {answer(302, "Found")};
  EXPECT_EQ(get().error().message(),
            "pods default/web: it was answered with 302 \"Found\"; look whether this is an API "
            "server");
}

TEST_F(ApiTest, TriesAgainWhatMayGoWellLater) {
  answers_ = {k_lost, refusal(500, "InternalError"), refusal(503, "ServiceUnavailable"),
              answer(200, "{}")};
  EXPECT_TRUE(get());
  EXPECT_EQ(channel_.asked.size(), 4U);
}

TEST_F(ApiTest, GivesUpWhenItsPatienceEnds) {
  answers_ = {refusal(500, "InternalError")};
  const auto told = get();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::unavailable);
  EXPECT_LT(channel_.asked.size(), 40U);
  EXPECT_LE(channel_.asked.back().at - channel_.asked.front().at, seconds(30));
}

TEST_F(ApiTest, TellsOfEveryTryThatIsNotTheLastAndGivesUpInTime) {
  std::vector<std::string> told;
  Api api{loop_, random_, channel_,
          ApiOptions{.patience = seconds(5),
                     .on_retry = [&](const Error& why) { told.push_back(why.message()); }}};
  answers_ = {refusal(500, "InternalError"), k_lost};
  std::optional<Result<Object>> got;
  const Instant begun = loop_.now();
  std::optional<Instant> ended;
  api.get(k_pods, {"default", "web"}, [&](Result<Object> answer) {
    got = std::move(answer);
    ended = loop_.now();
  });
  loop_.run_for(minutes(1));
  ASSERT_TRUE(got && !*got);
  EXPECT_LE(*ended - begun, seconds(5));
  EXPECT_EQ(told.size() + 1, channel_.asked.size());
  EXPECT_EQ(told.front(), "pods default/web: no: InternalError; try again");
  EXPECT_EQ(told.back(), got->error().message());
}

TEST_F(ApiTest, WaitsAsLongAsItIsAskedTo) {
  answers_ = {answer(429, "{}", {{"Retry-After", "7"}}), answer(200, "{}")};
  EXPECT_TRUE(get());
  EXPECT_GE(channel_.asked[1].at - channel_.asked[0].at, seconds(7));
}

TEST_F(ApiTest, DoesNotCreateTwice) {
  answers_ = {k_lost, answer(201, "{}")};
  std::optional<Result<Object>> told;
  api_.create(k_pods, new_object(k_pods, "Pod", {"default", "web"}), into(told));
  loop_.run_for(minutes(1));
  EXPECT_FALSE(told.value());
  EXPECT_EQ(channel_.asked.size(), 1U);
  // Who was turned away before anything was done may come again.
  answers_ = {refusal(429, "TooManyRequests"), answer(201, "{}")};
  next_ = 0;
  api_.create(k_pods, new_object(k_pods, "Pod", {"default", "web"}), into(told));
  loop_.run_for(minutes(1));
  EXPECT_TRUE(told.value());
  EXPECT_EQ(channel_.asked.size(), 3U);
}

TEST_F(ApiTest, AnEvictionThatABudgetForbidsIsNotForcedByRepetition) {
  answers_ = {
      refusal(429, "TooManyRequests", R"(,"details":{"causes":[{"reason":"DisruptionBudget"}]})")};
  std::optional<Result<void>> told;
  api_.evict({"default", "web"}, into(told));
  loop_.run_for(minutes(1));
  EXPECT_EQ(told.value().error().code, Code::taken);
  EXPECT_EQ(channel_.asked.size(), 1U);
  EXPECT_EQ(channel_.asked[0].request.target, "/api/v1/namespaces/default/pods/web/eviction");
}

TEST_F(ApiTest, ChangesAgainWhenSomebodyWasFaster) {
  int puts = 0;
  channel_.script = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
    if (request.method == "GET") {
      return answer(200, R"({"metadata":{"name":"web","namespace":"default"},"n":1})");
    }
    if (++puts < 3) return refusal(409, "Conflict");
    return answer(200, request.body);
  };
  std::optional<Result<Object>> told;
  api_.change(
      k_pods, {"default", "web"},
      [](Object& object) -> Status {
        model::put(object, "n", model::integer_node(model::integer_at(object, {"n"}) + 1));
        return {};
      },
      into(told));
  loop_.run_for(minutes(1));
  ASSERT_TRUE(told.value());
  EXPECT_EQ(model::integer_at(**told, {"n"}), 2);
  EXPECT_EQ(puts, 3);
}

TEST_F(ApiTest, ListsInPagesAndBeginsAnewWhenThePlaceIsLost) {
  answers_ = {
      answer(200, R"({"metadata":{"resourceVersion":"5","continue":"c1"},"items":[{"a":1}]})"),
      refusal(410, "Expired"),
      answer(200, R"({"metadata":{"resourceVersion":"9","continue":"c2"},"items":[{"a":2}]})"),
      answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[{"a":3},{"a":4}]})"),
  };
  std::vector<int64_t> seen;
  std::optional<Result<std::string>> told;
  api_.list(
      k_pods, {.labels = "app=web"},
      [&](const ListPage& page) {
        if (page.is_first) seen.clear();
        for (const Object& item : page.items) seen.push_back(model::integer_at(item, {"a"}));
      },
      into(told));
  loop_.run_for(seconds(1));
  EXPECT_EQ(told.value().value(), "9");
  EXPECT_EQ(seen, (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(channel_.asked[0].request.target, "/api/v1/pods?labelSelector=app%3Dweb&limit=250");
  EXPECT_NE(channel_.asked[3].request.target.find("continue=c2"), std::string::npos);
}

class Tokens : public TokenSource {
 public:
  std::vector<std::string> tokens = {"old", "new"};
  void get(Then then) override { then(tokens.front()); }
  void forget() override { tokens.erase(tokens.begin()); }
};

TEST_F(ApiTest, AsksForAnotherTokenOnce) {
  auto tokens = std::make_shared<Tokens>();
  Api api(loop_, random_, channel_, {.tokens = tokens});
  answers_ = {refusal(401, "Unauthorized"), answer(200, "{}")};
  std::optional<Result<Object>> told;
  api.get(k_nodes, {"", "n"}, into(told));
  loop_.run_for(seconds(1));
  EXPECT_TRUE(told.value());
  EXPECT_EQ(*net::find_header(channel_.asked[0].request.headers, "Authorization"), "Bearer old");
  EXPECT_EQ(*net::find_header(channel_.asked[1].request.headers, "Authorization"), "Bearer new");
}

TEST_F(ApiTest, AnswersThatAreNoObjectsAreErrors) {
  for (const std::string body : {"", "[]", "{", "\"x\"", "\xff"}) {
    answers_ = {answer(200, body)};
    next_ = 0;
    EXPECT_FALSE(get()) << body;
  }
}

}  // namespace
}  // namespace spillway::kube
