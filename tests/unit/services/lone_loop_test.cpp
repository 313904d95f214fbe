#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "services/service_loop.h"

namespace spillway::services {
namespace {

TEST(LoneLoop, RunsWhatIsPostedInOrderOnItsThread) {
  LoneLoop loop;
  std::vector<int> order;
  std::thread::id where;
  for (int i = 0; i < 100; ++i) loop.post([&order, i] { order.push_back(i); });
  loop.post([&] {
    where = std::this_thread::get_id();
    loop.stop();
  });
  std::thread runner([&] { loop.run(); });
  const auto runner_id = runner.get_id();
  runner.join();
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(where, runner_id);
}

TEST(LoneLoop, LosesNothingThatManyThreadsPost) {
  constexpr int k_threads = 4;
  constexpr int k_each = 2000;
  LoneLoop loop;
  std::vector<std::vector<int>> seen(k_threads);  // touched by the loop's thread alone
  int left = k_threads * k_each;
  std::vector<std::thread> threads;
  for (int t = 0; t < k_threads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < k_each; ++i) {
        loop.post([&, t, i] {
          seen[static_cast<size_t>(t)].push_back(i);
          if (--left == 0) loop.stop();
        });
      }
    });
  }
  loop.run();
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : seen) {
    EXPECT_EQ(one.size(), static_cast<size_t>(k_each));
    EXPECT_TRUE(std::is_sorted(one.begin(), one.end())) << "each thread's in its order";
  }
}

TEST(LoneLoop, TimersComeInTheirOrderNotEarly) {
  LoneLoop loop;
  std::vector<int> order;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::chrono::steady_clock::duration> took;
  const auto note = [&](int number) {
    order.push_back(number);
    took.push_back(std::chrono::steady_clock::now() - start);
  };
  loop.after(milliseconds(20), [&] {
    note(3);
    loop.stop();
  });
  loop.after(milliseconds(5), [&] { note(1); });
  loop.after(milliseconds(5), [&] { note(2); });
  loop.after({}, [&] { note(0); });
  loop.run();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
  EXPECT_GE(took.at(1), std::chrono::milliseconds(5));
  EXPECT_GE(took.at(3), std::chrono::milliseconds(20));
}

TEST(LoneLoop, ATimerThatIsSetWhileItWaitsIsNotMissed) {
  LoneLoop loop;
  bool came = false;
  loop.after(hours(1), [] { FAIL() << "nobody waits that long"; });
  loop.post([&] {
    loop.after(milliseconds(1), [&] {
      came = true;
      loop.stop();
    });
  });
  loop.run();
  EXPECT_TRUE(came);
}

TEST(LoneLoop, WhatIsQueuedWhenItStopsStillRunsTimersDoNot) {
  LoneLoop loop;
  std::vector<int> ran;
  loop.after({}, [&] { ran.push_back(9); });
  loop.post([&] { ran.push_back(1); });
  loop.stop();
  loop.post([&] {
    ran.push_back(2);
    loop.post([&] { ran.push_back(3); });
  });
  loop.run();
  EXPECT_EQ(ran, (std::vector{1, 2, 3}));
}

TEST(LoneLoop, StopsFromAnotherThread) {
  LoneLoop loop;
  std::thread runner([&] { loop.run(); });
  loop.stop();
  runner.join();
}

TEST(LoneLoop, KeepsTheWallClocksTime) {
  LoneLoop loop;
  const auto wall = [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  };
  const int64_t before = wall();
  const Instant now = loop.now();
  EXPECT_GE(now.ms, before);
  EXPECT_LE(now.ms, wall());
}

}  // namespace
}  // namespace spillway::services
