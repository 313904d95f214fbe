"""Agents, broker and API servers that die in the middle of a purchase and of its end, with a peering and without one, on
real Liqo: all of it converges, nothing is left, and nothing is sold twice. A sample of what tests/property/embedded tries
at every step. Run by tests/e2e/run."""
import itertools
import signal
import time
import unittest

import test_fabric
from liqo_objects import BUYER, SELLER
from on_a_cluster import PATIENCE_SECONDS, kill_api_server, signal_api_server
from processes import eventually

MOMENTS = (0, 0.15, 0.3, 0.6, 1.0)  # seconds after both have signed, and after the release
AWAY_SECONDS = 2


class FabricKills(test_fabric.Fabric):
    """With a peering that stays, and API servers that take their time."""
    test_from_a_purchase_to_nothing = None  # are tried without kills
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    def kill_agents(self, *sides):
        for side in sides:
            self.agents[side].kill()
        for side in sides:
            self.agents[side].start()

    def kill_broker(self):
        self.market.broker.kill()
        self.market.start_broker()

    def fail_api_server(self, side):
        """Nobody is answered for a while."""
        signal_api_server(side, signal.SIGSTOP)
        try:
            time.sleep(AWAY_SECONDS)
        finally:
            signal_api_server(side, signal.SIGCONT)

    def begin(self):
        pass

    def deaths(self):
        return {"the buyer's agent": lambda: self.kill_agents(BUYER),
                "the seller's agent": lambda: self.kill_agents(SELLER),
                "both agents": lambda: self.kill_agents(BUYER, SELLER),
                "the broker": self.kill_broker,
                "the buyer's API server": lambda: self.fail_api_server(BUYER),
                "the seller's API server": lambda: self.fail_api_server(SELLER)}

    def test_whoever_dies_all_comes_right(self):
        for (who, die), moment in zip(self.deaths().items(), itertools.cycle(MOMENTS)):
            with self.subTest(who=who, moment=moment):
                self.begin()
                contract = self.hold(2)
                time.sleep(moment)
                die()
                units = {f"sw-{contract}-{number}" for number in range(2)}
                eventually("units that are Ready", lambda u=units: u <= set(self.ready()), PATIENCE_SECONDS)
                self.assertEqual(set(self.ready()), units)
                self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
                time.sleep(moment)
                die()
                eventually("nothing left", lambda: not self.left(), PATIENCE_SECONDS)


class FabricKillsOfNoPeering(FabricKills):
    """It is made anew for each purchase and then taken apart; and API servers that are killed."""
    AGENT = ("--fabric-warm", "0s")

    def setUp(self):
        super().setUp()
        contract, _ = self.buy(1)  # what an earlier test left warm is now theirs to take apart
        self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])

    def begin(self):
        eventually("no peering", self.is_parted, 3 * PATIENCE_SECONDS)

    def fail_api_server(self, side):
        kill_api_server(side)

    def test_whoever_dies_all_comes_right(self):
        super().test_whoever_dies_all_comes_right()
        self.begin()


if __name__ == "__main__":
    unittest.main()
