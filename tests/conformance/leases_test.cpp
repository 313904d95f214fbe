// One active holder, by a Lease of the cluster.
#include "conformance/cluster_under_test.h"
#include "kube/lease.h"

namespace spillway::conformance {
namespace {

struct Candidate {
  std::promise<void> held;
  std::promise<void> lost;
  std::unique_ptr<kube::Lease> lease;
};

class Leases : public ConformanceTest {
 protected:
  void enter(Candidate& candidate, const std::string& holder) {
    cluster_.thread().run([&] {
      candidate.lease =
          std::make_unique<kube::Lease>(cluster_.api(),
                                        kube::LeaseOptions{.name = named("one"),
                                                           .holder = holder,
                                                           .lasts = seconds(3),
                                                           .margin = seconds(1),
                                                           .renew = milliseconds(300)},
                                        kube::LeaseCalls{[&] { candidate.held.set_value(); },
                                                         [&] { candidate.lost.set_value(); }});
      candidate.lease->start();
      return true;
    });
  }
  void leave(Candidate& candidate) {
    cluster_.thread().run([&] {
      candidate.lease.reset();
      return true;
    });
  }
  static bool happens(std::promise<void>& promise) {
    return promise.get_future().wait_for(k_patience) == std::future_status::ready;
  }
};

TEST_F(Leases, PassToTheNextWhenTheirHolderIsSilent) {
  Candidate first;
  Candidate second;
  enter(first, "first");
  ASSERT_TRUE(happens(first.held));
  enter(second, "second");
  leave(first);  // without a word, as one that was killed
  EXPECT_TRUE(happens(second.held));
  leave(second);
}

TEST_F(Leases, PassToTheNextAtOnceWhenTheyAreGivenUp) {
  Candidate first;
  Candidate second;
  enter(first, "first");
  ASSERT_TRUE(happens(first.held));
  enter(second, "second");
  cluster_.thread().ask<bool>([&](auto then) { first.lease->release([then] { then(true); }); });
  EXPECT_TRUE(happens(second.held));
  leave(first);
  leave(second);
}

}  // namespace
}  // namespace spillway::conformance
