// A whole life of units (cold, warm, released, ended, and their peering after them), cut at every
// deed that it has: each side is killed, and so is the broker, and an API server starts anew,
// before the deed and after it.
#include "demand/node_image.h"
#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

using test::Moment;

class FabricSteps : public FabricTest {
 protected:
  FabricSteps() {
    for (Party* party : {&seller, &buyer}) start(*party);
    live(4);
  }
  static void start(Party& party) {
    FabricOptions options;
    options.warm = seconds(10);
    party.start(options);
  }

  // True: it came to that, though somebody was killed on the way.
  template <class F>
  bool goes_on_to(F is_true) {
    return comes(
        [&] {
          if (mend) mend_it();
          if (!are_up()) return false;
          expect_nothing_sold_twice();
          return is_true();
        },
        1200);
  }
  void mend_it() {
    std::exchange(mend, nullptr)();
    was_cut = true;
  }
  // Each unit that lives has what was bought at most, and nothing else has anything.
  void expect_nothing_sold_twice() {
    for (const model::Node& object : liqo.milan.all(fabric::liqo::k_slices)) {
      const auto slice = fabric::liqo::read_slice(object);
      ASSERT_TRUE(slice) << slice.error().message();
      const auto bought = sold.find(slice->meta.name);
      for (const auto& [resource, amount] : slice->grant.amounts) {
        const bool is_bought = bought != sold.end() && bought->second.contains(resource);
        EXPECT_LE(amount, is_bought ? bought->second.at(resource) : 0)
            << slice->meta.name << " " << resource;
      }
    }
  }
  void expect_granted(const model::Contract& contract) {
    for (const std::string& unit : unit_names(contract)) {
      const auto slice =
          fabric::liqo::read_slice(liqo.milan.ask("GET", slice_path(liqo.milan, unit)).body);
      ASSERT_TRUE(slice) << unit;
      EXPECT_EQ(slice->grant.amounts, sold.at(unit)) << unit;
    }
  }
  model::Contract trade_one() {
    const model::Contract made = trade_units(1);
    for (const std::string& unit : unit_names(made)) {
      sold[unit] = fabric::liqo::amounts_of(demand::as_node_has(made.shape), {});
    }
    return made;
  }
  // Nor tries anything in vain; but who holds a fabric renews its Lease, and the last letter may
  // go once more, under its number: that the broker has it is not saved for its own sake.
  void expect_a_second_run_does_nothing() {
    live(80);  // until nothing is under way
    std::vector<std::string> deeds;
    for (Party* party : {&buyer, &seller}) {
      party->kill();
      party->gate.refuses = [&deeds, party](const net::Request& request) {
        const bool is_lease = request.target.find("/leases/spillway-fabric") != std::string::npos;
        if (request.method != "GET" && !is_lease) {
          deeds.push_back(party->place.name + " " + request.method + " " + request.target);
        }
        return false;
      };
      start(*party);
    }
    ASSERT_TRUE(goes_on_to([&] {
      return buyer.agent->fabric()->status().is_seeing &&
             seller.agent->fabric()->status().is_seeing;
    }));
    live(80);
    for (Party* party : {&buyer, &seller}) party->gate.refuses = {};
    EXPECT_EQ(deeds, std::vector<std::string>());
  }
  // Once what was to be cut is over.
  void settle() {
    if (was_cut) expect_a_second_run_does_nothing();
  }

  // Of an API server that is away nothing can be said.
  bool are_up() {
    const auto is_up = [](test::Place& place) { return place.has("/api/v1/namespaces/default"); };
    return is_up(liqo.rome) && is_up(liqo.milan);
  }
  bool is_up_again() {
    return goes_on_to([] { return true; });
  }
  void release(const model::Contract& contract) {
    const std::string unit = unit_names(contract)[0];
    ASSERT_TRUE(is_up_again());
    liqo.rome.merge(slice_path(liqo.rome, unit),
                    R"({"metadata":{"annotations":{"spillway.dev/end":"now"}}})");
    EXPECT_TRUE(goes_on_to([&] { return !liqo.rome.has(slice_path(liqo.rome, unit)); })) << unit;
  }
  void expect_nothing_left_of(const model::Contract& contract) {
    const std::string unit = unit_names(contract)[0];
    EXPECT_TRUE(goes_on_to([&] { return left_of(unit).empty(); }))
        << (left_of(unit).empty() ? "" : left_of(unit).front());
  }
  bool is_apart() const {
    return seller.agent && buyer.agent && seller.agent->state().fabric.sold_to.empty() &&
           buyer.agent->state().fabric.bought_from.empty();
  }

  void life() {
    const model::Contract cold = trade_one();
    ASSERT_TRUE(goes_on_to([&] { return all_ready(cold); }));
    const model::Contract warm = trade_one();
    ASSERT_TRUE(goes_on_to([&] { return all_ready(warm); }));
    expect_granted(cold);
    expect_granted(warm);
    settle();
    release(cold);
    tell_both(closed(cold), "contract-closed");
    expect_nothing_left_of(cold);
    ASSERT_TRUE(is_up_again());
    EXPECT_TRUE(all_ready(warm));
    tell_both(closed(warm), "contract-closed");
    expect_nothing_left_of(warm);
    ASSERT_TRUE(goes_on_to([&] { return is_apart(); }));
    ASSERT_TRUE(is_up_again());
    for (const fabric::liqo::Kind& kind :
         {fabric::liqo::k_tenants, fabric::liqo::k_identities, fabric::liqo::k_slices}) {
      EXPECT_TRUE(liqo.rome.all(kind).empty() && liqo.milan.all(kind).empty()) << kind.plural;
    }
    settle();
    was_cut = false;
  }
  void cut_every_life_of(const char* who, Party& party) {
    const auto arm = [&](int deed, Moment moment) {
      party.gate.arm(deed, moment, [&] {
        party.gate.close();
        party.store.crashed = true;
        mend = [&] {
          party.kill();
          live(2);
          party.store.crashed = false;
          party.gate.open();
          start(party);
        };
      });
    };
    test::cut_every_life(who, party.gate, arm, [&] { life(); });
  }
  void restart_at_every_deed_of(const char* who, Party& party) {
    // As whatever stands before an API server that is away.
    party.place.cluster.on_cut([](const std::string&, const auto& exchange) {
      exchange->respond({503, {}, {}});
    });
    const auto arm = [&](int deed, Moment moment) {
      party.gate.arm(deed, moment,
                     [&] { mend = [&] { party.place.cluster.restart(seconds(3)); }; });
    };
    test::cut_every_life(who, party.gate, arm, [&] { life(); });
  }
  // The line to the broker, gated: it is away for longer than anybody waits for an answer.
  void cut_every_life_from_broker(const char* who, Party& party) {
    test::DeedGate gate;
    bool is_unheard = false;
    const auto first = party.broker.first;
    party.broker.first = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
      const auto way = gate.note(request);
      is_unheard = way == test::DeedGate::Way::is_unheard;
      if (way == test::DeedGate::Way::is_lost) return test::lost();
      return first(request);
    };
    party.broker.loses = [&](const net::Request&) { return std::exchange(is_unheard, false); };
    const auto arm = [&](int deed, Moment moment) {
      gate.arm(deed, moment, [&] {
        gate.close();
        mend = [&] {
          party.broker.channel.end({Code::unavailable, "broker", "the connection broke", ""});
          live(8);
          gate.open();
        };
      });
    };
    test::cut_every_life(who, gate, arm, [&] { life(); });
  }

  std::function<void()> mend;
  bool was_cut = false;                               // in this life
  std::map<std::string, fabric::liqo::Amounts> sold;  // by unit
};

TEST_F(FabricSteps, ASecondRunDoesNothing) {
  was_cut = true;
  life();
}

TEST_F(FabricSteps, ABuyerKilledAtAnyDeedGoesOn) { cut_every_life_of("the buyer", buyer); }
TEST_F(FabricSteps, ASellerKilledAtAnyDeedGoesOn) { cut_every_life_of("the seller", seller); }
TEST_F(FabricSteps, ABuyersApiServerMayGoAtAnyDeed) {
  restart_at_every_deed_of("the buyer's API server", buyer);
}
TEST_F(FabricSteps, ASellersApiServerMayGoAtAnyDeed) {
  restart_at_every_deed_of("the seller's API server", seller);
}
TEST_F(FabricSteps, ABuyersBrokerKilledAtAnyDeedIsWaitedFor) {
  cut_every_life_from_broker("the buyer's broker", buyer);
}
TEST_F(FabricSteps, ASellersBrokerKilledAtAnyDeedIsWaitedFor) {
  cut_every_life_from_broker("the seller's broker", seller);
}

}  // namespace
}  // namespace spillway::agent
