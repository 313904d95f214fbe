"""Clusters that somebody has peered by liqoctl, and members of a federation that have their Liqo ids: nothing of that peering
is ours to change. Run by tests/e2e/run."""
import test_fabric
from liqo_objects import BUYER, SELLER, SLICES
from on_a_cluster import PATIENCE_SECONDS, call
from processes import eventually

BY_HAND = "somebody has peered with that Liqo id by hand"
OF_PEERING = {BUYER: "identities.authentication.liqo.io", SELLER: "tenants.authentication.liqo.io"}


class PeeredByHand(test_fabric.Fabric):
    AGENT = ("--fabric-warm", "0s")
    test_from_a_purchase_to_nothing = None
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    def setUp(self):
        super().setUp()
        eventually("no peering of before", lambda: not self.made_by_hand(), 3 * PATIENCE_SECONDS)

    def liqoctl(self, *words):
        return call("liqoctl", *words, f"--kubeconfig={self.kubeconfigs[BUYER]}",
                    f"--remote-kubeconfig={self.kubeconfigs[SELLER]}")

    def made_by_hand(self):
        """Whatever somebody else would be in the place of, if it were made anew."""
        return {(side, kind, one["metadata"]["name"]): one["metadata"]["uid"]
                for side in (BUYER, SELLER) for kind in (OF_PEERING[side], SLICES)
                for one in self.items(side, kind, "-A")}

    def test_it_stays_as_it_is_and_what_is_bought_waits_for_its_end(self):
        self.liqoctl("peer", "--networking-disabled", "--cpu", "2", "--memory", "4Gi", "--pods", "20")
        self.addCleanup(lambda: self.made_by_hand() and self.liqoctl("unpeer", "--skip-confirm"))
        eventually("its node", lambda: list(self.ready()) == [SELLER], PATIENCE_SECONDS)
        before = self.made_by_hand()
        self.assertGreaterEqual(len(before), 4)

        contract = self.hold(1)
        eventually("the provider's word of it", lambda: self.agents[SELLER].says(BY_HAND), PATIENCE_SECONDS)
        told = self.kubectl(SELLER, "get", "events", "-A", "-o", "jsonpath={.items[*].message}")
        self.assertIn(BY_HAND, told)
        self.assertEqual(self.made_by_hand(), before)
        self.assertEqual(list(self.ready()), [SELLER])

        self.liqoctl("unpeer", "--skip-confirm")
        eventually("what was bought", lambda: list(self.ready()) == [f"sw-{contract}-0"], 3 * PATIENCE_SECONDS)
        self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
        eventually("nothing left", lambda: not self.left() and not self.made_by_hand(), PATIENCE_SECONDS)
