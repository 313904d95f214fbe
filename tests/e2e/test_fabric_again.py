"""A peering that is taken apart leaves nothing that stands in the way of the next one, on real Liqo without the guard:
there Liqo copies more of a peering to the provider, and has to take it back. Run by tests/e2e/run."""
import os

import test_fabric
from liqo_objects import AT_SELLER, BUYER, SELLER
from on_a_cluster import PATIENCE_SECONDS
from processes import eventually

COPIES_RENEWS = os.environ.get("LIQO", "") != "1.1"  # which renews control planes by another way


class FabricAgain(test_fabric.Fabric):
    AGENT = ("--fabric-warm", "0s")
    test_from_a_purchase_to_nothing = None  # are tried with a peering that stays
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    def copied_renews(self):
        return [one["metadata"]["name"] for one in self.items(SELLER, "renews.authentication.liqo.io", "-n", AT_SELLER)
                if one["metadata"]["labels"].get("liqo.io/replicated") == "true"]

    def test_peered_again_within_seconds(self):
        for _ in range(3):
            contract, _ = self.buy(1)
            if COPIES_RENEWS:
                copied = eventually("a copied Renew", self.copied_renews, PATIENCE_SECONDS)
                self.assertEqual(copied, [f"controlplane-{SELLER}"])
            self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
            eventually("nothing left of the peering", self.is_parted, PATIENCE_SECONDS)
