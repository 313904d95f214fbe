"""A buyer that is gone, its agent and its API server: the provider ends what is left of it alone, against a Liqo of the
buyer that would put all of it back from memory; and nothing comes back with the buyer. On real Liqo, with the guard. Run
by tests/e2e/run."""
import json
import signal
import time
import unittest

import test_fabric_guarded
from liqo_objects import AT_SELLER, BUYER, SELLER
from on_a_cluster import PATIENCE_SECONDS, signal_api_server
from processes import eventually

AWAY_SECONDS = 3  # without anything of the unit at the provider
LIQO = "/apis/{}.liqo.io/v1beta1/namespaces/{}/{}"


class FabricGone(test_fabric_guarded.FabricWithAGuard):
    TAINTS = []  # which would be one more reason to refuse what comes again
    test_a_guest_runs_with_nothing_applied_by_hand = None  # are tried with a buyer that lives
    test_from_a_purchase_to_nothing = None
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    def places(self):
        """Where something of the unit is at the provider."""
        return {"slice": LIQO.format("authentication", AT_SELLER, "resourceslices"),
                "quota": LIQO.format("offloading", AT_SELLER, "quotas"),
                "record": f"/api/v1/namespaces/{AT_SELLER}/configmaps",
                "ShadowPod": LIQO.format("offloading", self.guests, "shadowpods"),
                "guest": f"/api/v1/namespaces/{self.guests}/pods"}

    def raw(self, path):
        return self.kubectl(SELLER, "get", "--raw", path)

    def is_of_unit(self, one):
        name = one["metadata"]["name"]
        return name == "guest" or self.unit in name or self.unit in one.get("data", {})

    def there(self):
        return [what for what, path in self.places().items()
                if any(map(self.is_of_unit, json.loads(self.raw(path))["items"]))]

    def versions(self):
        return {path: json.loads(self.raw(path))["metadata"]["resourceVersion"] for path in self.places().values()}

    def came_since(self, versions):
        """Also what has gone again: the API server tells all that happened since."""
        told = [json.loads(line) for path, version in versions.items()
                for line in self.raw(f"{path}?watch=true&resourceVersion={version}&timeoutSeconds=2").splitlines()]
        return sorted({f"{one['type']} {one['object']['kind']} {one['object']['metadata']['name']}"
                       for one in told if self.is_of_unit(one["object"])})

    def test_what_it_leaves_ends_without_it_and_does_not_come_back_with_it(self):
        contract, nodes = self.buy(1)
        self.unit = next(iter(nodes))
        self.space, self.guests = self.run_guest(self.unit)

        self.agents[BUYER].kill()
        self.addCleanup(signal_api_server, BUYER, signal.SIGCONT)
        signal_api_server(BUYER, signal.SIGSTOP)
        self.assertEqual(self.there(), list(self.places()))
        self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
        began = time.monotonic()
        eventually("nothing of the unit at the provider", lambda: not self.there(), PATIENCE_SECONDS)
        print(f"nothing of a gone buyer's unit {time.monotonic() - began:.1f} s after its release")

        versions = self.versions()
        time.sleep(AWAY_SECONDS)
        signal_api_server(BUYER, signal.SIGCONT)
        self.agents[BUYER].start()
        eventually("nothing left on either side", lambda: not self.left(), PATIENCE_SECONDS)
        eventually("no guest", lambda: not self.items(BUYER, "pods", "-n", self.space), PATIENCE_SECONDS)
        eventually("its namespace gone", lambda: self.guests not in [
            one["metadata"]["name"] for one in self.items(SELLER, "namespaces")], PATIENCE_SECONDS)
        self.assertEqual(self.came_since(versions), [])


if __name__ == "__main__":
    unittest.main()
