"""Two clusters that sell to each other, on real Liqo, with the guard on both: each way has contracts and limits of its
own, and ends without touching the other. Run by tests/e2e/run."""
import os
import unittest

import test_fabric
from guarded_peering import put_up_guard, take_down_guard
from liqo_objects import BUYER, SELLER, SLICES, SPACES
from on_a_cluster import PATIENCE_SECONDS
from processes import eventually


class FabricBothWays(test_fabric.Fabric):
    ROLES = {BUYER: "provider,consumer", SELLER: "provider,consumer"}
    AGENT = ("--fabric-warm", "0s")  # a way that is not used any more is taken apart at once
    test_from_a_purchase_to_nothing = None  # are tried one way
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    @classmethod
    def setUpClass(cls):
        for side in (BUYER, SELLER):
            kubeconfig = os.environ[f"REALKUBE_KUBECONFIG_{side.upper()}"]
            cls.addClassCleanup(take_down_guard, kubeconfig)
            put_up_guard(kubeconfig)

    def kinds(self, side, kind):
        return {one["metadata"]["name"]: one for one in self.items(side, kind, "-n", SPACES[side])}

    def one_way(self, buyer, seller):
        """What carries what `buyer` has bought: names and uids, on both sides."""
        seen = [(side, kind, name, one["metadata"]["uid"]) for side, kind in (
            (buyer, "identities.authentication.liqo.io"), (seller, "tenants.authentication.liqo.io"),
            (buyer, "virtualnodes.offloading.liqo.io"), (seller, "quotas.offloading.liqo.io"))
            for name, one in self.kinds(side, kind).items()]
        return sorted(seen)

    def test_each_way_ends_without_the_other(self):
        there, nodes = self.buy(1)
        back, more = self.buy(2, side=SELLER)
        self.assertEqual({node["spec"]["providerID"] for node in more.values()},
                         {f"spillway://{back}/{number}" for number in range(2)})
        both = {side: self.one_way(side, SELLER if side == BUYER else BUYER) for side in (BUYER, SELLER)}
        self.assertTrue(all(both.values()))

        # Limits each way: nobody is granted what the other way has bought.
        for side, contract, units in ((SELLER, there, 1), (BUYER, back, 2)):
            granted = [name for name, one in self.kinds(side, SLICES).items()
                       if one["metadata"]["labels"].get("liqo.io/replicated") == "true"]
            self.assertEqual(sorted(granted), [f"sw-{contract}-{number}" for number in range(units)])

        # One way ends: Identity and Tenant of it go, the other way is as it was.
        self.market.spillway("contracts", "release", there, "--dir", self.identities[BUYER])
        eventually("one way gone", lambda: not self.one_way(BUYER, SELLER), PATIENCE_SECONDS)
        eventually("nothing left of its unit", lambda: not [one for one in self.left() if there in one], PATIENCE_SECONDS)
        self.assertEqual(self.one_way(SELLER, BUYER), both[SELLER])
        self.assertEqual(set(self.ready(SELLER)), set(more))

        # It comes again beside the other, and then that one ends.
        again, nodes = self.buy(1)
        self.market.spillway("contracts", "release", back, "--dir", self.identities[SELLER])
        eventually("the other way gone", lambda: not self.one_way(SELLER, BUYER), PATIENCE_SECONDS)
        self.assertEqual(set(self.ready()), set(nodes))
        self.market.spillway("contracts", "release", again, "--dir", self.identities[BUYER])
        eventually("nothing left", lambda: not self.left() and not self.one_way(BUYER, SELLER), PATIENCE_SECONDS)


if __name__ == "__main__":
    unittest.main()
