#include "net/poll.h"

#include <array>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace spillway::net {
namespace {

struct Pair {
  Pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0); }
  ~Pair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  void poke() const { EXPECT_EQ(::send(ends[1], "x", 1, MSG_NOSIGNAL), 1); }
  std::array<int, 2> ends{};
};

TEST(Poll, RunsWhatIsPostedByOtherThreadsInOrder) {
  Poll poll;
  std::string seen;
  std::thread other([&] {
    poll.post([&] { seen += 'a'; });
    poll.post([&] { seen += 'b'; });
    poll.stop();
    poll.post([&] { seen += 'c'; });
  });
  other.join();
  poll.run();
  EXPECT_EQ(seen, "abc");
}

TEST(Poll, CanRunAgainAfterItWasStopped) {
  Poll poll;
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    poll.post([&] {
      ++count;
      poll.stop();
    });
    poll.run();
  }
  EXPECT_EQ(count, 3);
}

TEST(Poll, RunsTimersByTimeAndEqualOnesInOrder) {
  Poll poll;
  std::string seen;
  poll.after(milliseconds(20), [&] {
    seen += 'd';
    poll.stop();
  });
  poll.after(milliseconds(5), [&] { seen += 'c'; });
  poll.after(milliseconds(0), [&] { seen += 'a'; });
  poll.after(milliseconds(-5), [&] { seen += 'b'; });
  poll.run();
  EXPECT_EQ(seen, "abcd");
}

TEST(Poll, DoesNotRunTimersOnceStopped) {
  Poll poll;
  bool ran = false;
  poll.after(milliseconds(0), [&] { ran = true; });
  poll.stop();
  poll.run();
  EXPECT_FALSE(ran);
}

TEST(Poll, ReportsReadinessUntilItIsTakenAway) {
  Poll poll;
  const Pair pair;
  int count = 0;
  poll.watch(pair.ends[0], true, false, [&](Ready ready) {
    EXPECT_TRUE(ready.readable);
    EXPECT_FALSE(ready.writable);
    if (++count == 3) {
      poll.unwatch(pair.ends[0]);
      poll.stop();
    }
  });
  pair.poke();
  poll.run();
  EXPECT_EQ(count, 3);
}

TEST(Poll, ShowsAHangUpAsBothEvenIfNothingIsAskedFor) {
  Poll poll;
  auto pair = std::make_unique<Pair>();
  const int fd = ::dup(pair->ends[0]);
  poll.watch(fd, false, false, [&](Ready ready) {
    EXPECT_TRUE(ready.readable && ready.writable);
    poll.unwatch(fd);
    poll.stop();
  });
  ::close(pair->ends[1]);
  pair->ends[1] = ::dup(pair->ends[0]);
  poll.run();
  ::close(fd);
}

TEST(Poll, ForgetsEventsOfWhatWasUnwatchedInTheSameBatch) {
  Poll poll;
  const Pair first;
  const Pair second;
  int count = 0;
  // Whichever comes first takes the other away: one of them is heard, once.
  const auto rival = [&](int self, int other) {
    return [&poll, &count, self, other](Ready) {
      ++count;
      poll.unwatch(self);
      poll.unwatch(other);
      poll.post([&poll] { poll.stop(); });
    };
  };
  poll.watch(first.ends[0], true, false, rival(first.ends[0], second.ends[0]));
  poll.watch(second.ends[0], true, false, rival(second.ends[0], first.ends[0]));
  first.poke();
  second.poke();
  poll.run();
  EXPECT_EQ(count, 1);
}

TEST(Poll, DoesNotTakeANewDescriptorForTheOldOneOfItsNumber) {
  Poll poll;
  const Pair first;
  const Pair second;
  bool confused = false;
  std::array<int, 2> fresh{-1, -1};
  int reused = -1;
  const auto replace = [&](int self, int other) {
    return [&, self, other](Ready) {
      if (reused >= 0) return;
      // The other's event is still in the batch; its number gets a new owner, which is not ready.
      poll.unwatch(self);
      poll.unwatch(other);
      reused = other;
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fresh.data()), 0);
      EXPECT_EQ(::dup2(fresh[0], other), other);
      poll.watch(other, true, false, [&](Ready) { confused = true; });
      poll.after(milliseconds(5), [&] { poll.stop(); });
    };
  };
  poll.watch(first.ends[0], true, false, replace(first.ends[0], second.ends[0]));
  poll.watch(second.ends[0], true, false, replace(second.ends[0], first.ends[0]));
  first.poke();
  second.poke();
  poll.run();
  EXPECT_FALSE(confused);
  poll.unwatch(reused);
  ::close(fresh[0]);
  ::close(fresh[1]);
}

TEST(Poll, LetsAWatcherDestroyWhatItBelongsTo) {
  Poll poll;
  const Pair pair;
  struct Owner {
    std::string name = "a name that is long enough to be on the heap";
  };
  auto owner = std::make_shared<Owner>();
  std::string seen;
  poll.watch(pair.ends[0], true, false, [&poll, &seen, &pair, owner](Ready) {
    poll.unwatch(pair.ends[0]);
    seen = owner->name;
    poll.stop();
  });
  owner.reset();
  pair.poke();
  poll.run();
  EXPECT_EQ(seen, "a name that is long enough to be on the heap");
}

}  // namespace
}  // namespace spillway::net
