// A whole life of units (cold, warm, released, and their peering after them) on embedded clusters
// with Liqo, cut at every deed that it has: the driver is killed there, or an API server starts
// anew, before the deed and after it.
#include "integration/driver/driver_fixture.h"

namespace spillway::driver {
namespace {

using test::Moment;

class DriverSteps : public DriverTest {
 protected:
  // True: it came to that, though something was cut on the way.
  template <class F>
  bool goes_on_to(F is_true) {
    return comes(
        [&] {
          if (mend) std::exchange(mend, nullptr)();
          return is_true();
        },
        6000);
  }
  // Asked until it is acknowledged, as a caller would.
  bool ask_for(const std::string& method, const std::string& target, const std::string& body = {}) {
    return goes_on_to([&] { return ask(method, target, body).status / 100 == 2; });
  }
  void come_to_ready(const std::string& unit) {
    ASSERT_TRUE(ask_for("PUT", "/v1/units/" + unit, order_of()));
    ASSERT_TRUE(goes_on_to([&] { return step_of(unit) == "ready"; })) << step_of(unit);
    ASSERT_TRUE(goes_on_to([&] { return is_ready(*liqos.buyer, unit); }));
  }
  void end(const std::string& unit) {
    ASSERT_TRUE(ask_for("DELETE", "/v1/units/" + unit));
    ASSERT_TRUE(goes_on_to([&] { return step_of(unit) == "gone"; })) << step_of(unit);
    ASSERT_TRUE(goes_on_to([&] { return left_of(unit).empty(); })) << left_of(unit).front();
  }
  bool is_apart() {
    for (embedded::Cluster* cluster : {liqos.buyer.get(), liqos.seller.get()}) {
      for (const auto& kind : {fabric::liqo::k_tenants, fabric::liqo::k_identities}) {
        if (!liqos.list(*cluster, kind).empty()) return false;
      }
    }
    return true;
  }

  void life() {
    const std::string cold = unit_of(++lives, 1);
    const std::string warm = unit_of(lives, 2);
    come_to_ready(cold);
    come_to_ready(warm);
    end(cold);
    EXPECT_TRUE(goes_on_to([&] { return is_ready(*liqos.buyer, warm); }));
    end(warm);
    const std::string peering = "/v1/peerings/rome/milan";
    ASSERT_TRUE(goes_on_to(
        [&] { return ask("DELETE", peering).status == 404 || ask("GET", peering).status == 404; }));
    ASSERT_TRUE(goes_on_to([&] { return is_apart(); }));
  }
  void cut_driver_at_every_deed_on(const char* cluster) {
    test::DeedGate& gate = gates[cluster];
    const auto arm = [&](int deed, Moment moment) {
      gate.arm(deed, moment, [&] {
        for (auto& [name, one] : gates) one.close();
        store.crashed = true;
        mend = [&] {
          kill();
          for (auto& [name, one] : gates) one.open();
          start();
        };
      });
    };
    test::cut_every_life("the driver", gate, arm, [&] { life(); });
  }
  void restart_at_every_deed(const char* name, embedded::Cluster& cluster) {
    test::DeedGate& gate = gates[name];
    const auto arm = [&](int deed, Moment moment) {
      gate.arm(deed, moment, [&] { mend = [&] { cluster.restart(seconds(3)); }; });
    };
    test::cut_every_life(name, gate, arm, [&] { life(); });
  }

  std::function<void()> mend;
  int lives = 0;
};

TEST_F(DriverSteps, ADriverKilledAtAnyDeedAtTheConsumerGoesOn) {
  cut_driver_at_every_deed_on("rome");
}
TEST_F(DriverSteps, ADriverKilledAtAnyDeedAtTheProviderGoesOn) {
  cut_driver_at_every_deed_on("milan");
}
TEST_F(DriverSteps, AConsumersApiServerMayGoAtAnyDeed) {
  restart_at_every_deed("rome", *liqos.buyer);
}
TEST_F(DriverSteps, AProvidersApiServerMayGoAtAnyDeed) {
  restart_at_every_deed("milan", *liqos.seller);
}

}  // namespace
}  // namespace spillway::driver
