#include "host/directory.h"

#include <gtest/gtest.h>

#include "host/book_host.h"
#include "support/flaky_store.h"
#include "support/manual_loop.h"
#include "support/sample_records.h"
#include "support/test_book.h"

namespace spillway::host {
namespace {

using namespace test;
using What = Trouble::What;

class Who : public testing::Test {
 protected:
  void SetUp() override {
    other.start();
    loop.run();
  }
  void start() {
    directory.start();
    log.start();
    own.listen([this](const Commit& commit, const Committed& committed) {
      directory.learn(commit);
      log.learn(commit, committed);
    });
    directory.listen([this](const model::Identity& one) {
      news.push_back(one.name + (one.revoked ? " revoked" : ""));
    });
  }
  void ask(BookHost& broker, market::Command command) {
    bool done = false;
    broker.submit(std::move(command), [&](const Result<market::Answer>& answer) {
      ASSERT_TRUE(answer) << answer.error().message();
      done = true;
    });
    loop.run();
    ASSERT_TRUE(done);
  }
  void admit(BookHost& broker, const std::string& name) {
    const std::string token = "token-" + std::to_string(++tokens);
    ask(broker, market::MakeToken{token, name, {model::Role::consumer}, {}, hours(1)});
    ask(broker, market::Join{token, sample_key(tokens), sample_certificate(tokens),
                             loop.now() + hours(24)});
  }
  bool is_revoked(const std::string& name) {
    const auto known = directory.find(name);
    return known != nullptr && known->revoked.has_value();
  }

  ManualLoop loop;
  FlakyStore store{loop};
  SeededRandom random{7};
  BookHost own{loop, store, random, BookOptions{}};
  BookHost other{loop, store, random, BookOptions{}};
  EventLog log{loop, store};
  Directory directory{loop, store, log};
  std::vector<std::string> news;
  int tokens = 0;
};

TEST_F(Who, LoadsEverybodyPageByPage) {
  MemoryRows::Puts puts;
  for (int n = 0; n < 1200; ++n) {
    puts.emplace_back(market::identity_key(sample_identity(n).name), shared(sample_identity(n)));
  }
  store.rows().commit(puts, {});
  start();
  EXPECT_FALSE(directory.is_ready());
  loop.run();
  EXPECT_TRUE(directory.is_ready());
  EXPECT_EQ(directory.size(), 1200u);
  EXPECT_EQ(*directory.find("edge-77"), sample_identity(77));
  EXPECT_EQ(directory.find("nobody"), nullptr);
  EXPECT_TRUE(news.empty());  // what was there is no news
}

TEST_F(Who, LearnsFromOtherBrokersWithinASecond) {
  start();
  loop.run();
  admit(other, "edge-7");
  loop.run_for(seconds(1));
  ASSERT_NE(directory.find("edge-7"), nullptr);
  ask(other, market::Revoke{"edge-7"});
  EXPECT_FALSE(is_revoked("edge-7"));
  loop.run_for(seconds(1));
  EXPECT_TRUE(is_revoked("edge-7"));
  EXPECT_EQ(news, (std::vector<std::string>{"edge-7", "edge-7 revoked"}));
}

TEST_F(Who, ARevocationOfItsOwnHoldsBeforeItIsAnswered) {
  start();
  loop.run();
  admit(own, "edge-7");
  bool revoked_at_answer = false;
  own.submit(market::Revoke{"edge-7"}, [&](const Result<market::Answer>& answer) {
    revoked_at_answer = answer && is_revoked("edge-7");
  });
  loop.run();
  EXPECT_TRUE(revoked_at_answer);
  loop.run_for(seconds(3));
  EXPECT_EQ(news, (std::vector<std::string>{"edge-7", "edge-7 revoked"}));  // each once
}

// A row that was read before the commit arrives after it.
TEST_F(Who, AnOlderRowDoesNotReplaceANewerOne) {
  start();
  loop.run();
  admit(other, "edge-7");
  store.trouble_loads({});
  loop.run_for(milliseconds(999));
  // The log hears of the joining and loads the row; the answer is slow, and meanwhile we revoke.
  store.trouble_loads({{What::none, milliseconds(500)}});
  loop.run_for(milliseconds(10));
  ask(own, market::Revoke{"edge-7"});
  EXPECT_TRUE(is_revoked("edge-7"));
  for (int i = 0; i < 10; ++i) {
    loop.run_for(milliseconds(100));
    EXPECT_TRUE(is_revoked("edge-7"));
  }
}

TEST_F(Who, LoadsEverybodyAgainAfterAJump) {
  admit(other, "edge-7");
  start();
  loop.run();
  ask(other, market::Revoke{"edge-7"});
  admit(other, "edge-8");
  store.rows().forget_events(store.rows().last_event() + 1);
  loop.run_for(seconds(2));
  EXPECT_TRUE(is_revoked("edge-7"));
  EXPECT_NE(directory.find("edge-8"), nullptr);
}

TEST_F(Who, AFailingStoreIsAskedAgain) {
  admit(other, "edge-7");
  store.trouble_loads({{What::none, {}}, {What::unavailable, {}}, {What::unavailable, {}}});
  start();
  loop.run_for(seconds(1));
  EXPECT_TRUE(directory.is_ready());
  ask(other, market::Revoke{"edge-7"});
  store.trouble_loads({{What::unavailable, {}}});
  loop.run_for(seconds(2));
  EXPECT_TRUE(is_revoked("edge-7"));
}

}  // namespace
}  // namespace spillway::host
