"""Contracts become nodes also where the provider has the guard: the agents' own traffic is honest, and guests run there
with nothing applied by hand (docs/fabric-rules.md). Run by tests/e2e/run."""
import json
import os
import unittest
import uuid

import test_fabric
from guarded_peering import PREFIX, put_up_guard, take_down_guard
from liqo_objects import BUYER, SELLER, offloading_of
from on_a_cluster import PATIENCE_SECONDS
from processes import eventually

AMOUNTS = {"cpu": "100m", "memory": "64Mi"}


class FabricWithAGuard(test_fabric.Fabric):
    OF_CHART = (SELLER,)
    TAINTS = [{"key": "dedicated", "value": "market", "effect": "NoSchedule"}]  # which guests may tolerate, then

    @classmethod
    def setUpClass(cls):
        kubeconfig = os.environ[f"REALKUBE_KUBECONFIG_{SELLER.upper()}"]
        cls.addClassCleanup(take_down_guard, kubeconfig)
        put_up_guard(kubeconfig)

    def create(self, side, thing):
        self.kubectl(side, "create", "-f", "-", stdin=json.dumps(thing))

    def get(self, side, *words):
        return json.loads(self.kubectl(side, "get", "-o", "json", *words))

    def offload(self, space):
        """The name of its twin."""
        self.kubectl(BUYER, "create", "namespace", space)
        self.addCleanup(self.kubectl, BUYER, "delete", "namespace", space, "--wait=false")
        self.create(BUYER, offloading_of(space, PREFIX + space))
        self.addCleanup(self.kubectl, BUYER, "-n", space, "delete", "namespaceoffloadings", "--all", "--wait=false")
        return PREFIX + space

    def is_limited(self, space):
        labels = self.get(SELLER, "namespace", space)["metadata"]["labels"]
        return labels.get("spillway.dev/guard") == "1"

    def pods_granted(self, space):
        return self.get(SELLER, "-n", space, "resourcequota", "spillway-guests")["spec"]["hard"]["pods"]

    def run_guest(self, node):
        """The names of its namespace and of that one's twin, once both sides see it run."""
        space = f"shop-{uuid.uuid4().hex[:6]}"
        guests = self.offload(space)
        eventually("limits of the namespace", lambda: self.is_limited(guests), PATIENCE_SECONDS)
        self.create(BUYER, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "guest", "namespace": space},
            "spec": {"nodeSelector": {"kubernetes.io/hostname": node},
                     "tolerations": [{"key": one["key"], "operator": "Exists"} for one in self.TAINTS],
                     "containers": [{"name": "main", "image": "none",
                                     "resources": {"requests": AMOUNTS, "limits": AMOUNTS}}]}})
        for side, where in ((BUYER, space), (SELLER, guests)):
            eventually(f"a guest that runs, seen by the {side}", lambda side=side, where=where: self.get(
                side, "-n", where, "pod", "guest")["status"]["phase"] == "Running", PATIENCE_SECONDS)
        return space, guests

    def test_a_guest_runs_with_nothing_applied_by_hand(self):
        contract, nodes = self.buy(1)
        space, guests = self.run_guest(next(iter(nodes)))
        self.assertEqual(self.pods_granted(guests), "20")

        # What somebody changes is put right; what is right is left alone.
        self.kubectl(SELLER, "-n", guests, "patch", "resourcequota", "spillway-guests", "--type=merge",
                     "-p", json.dumps({"spec": {"hard": {"pods": "1000"}}}))
        eventually("the quota as it was granted", lambda: self.pods_granted(guests) == "20", PATIENCE_SECONDS)
        self.kubectl(SELLER, "-n", guests, "delete", "networkpolicy", "spillway-guests")
        eventually("the network policy again", lambda: self.get(
            SELLER, "-n", guests, "networkpolicy", "spillway-guests") and self.is_limited(guests), PATIENCE_SECONDS)
        objects = ("limitranges,networkpolicies", "-n", guests)
        # A change of one is followed by a look at all of them: were they not as wanted, they would be written again.
        versions = [one["metadata"]["resourceVersion"] for one in self.items(SELLER, *objects)]
        self.kubectl(SELLER, "-n", guests, "patch", "resourcequota", "spillway-guests", "--type=merge",
                     "-p", json.dumps({"spec": {"hard": {"pods": "30"}}}))
        eventually("the quota as it was granted", lambda: self.pods_granted(guests) == "20", PATIENCE_SECONDS)
        self.assertEqual(versions, [one["metadata"]["resourceVersion"] for one in self.items(SELLER, *objects)])

        self.kubectl(BUYER, "-n", space, "delete", "pod", "guest", "--wait=false")
        self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
        eventually("nothing left", lambda: not self.left(), PATIENCE_SECONDS)
        eventually("its namespace gone", lambda: guests not in [
            one["metadata"]["name"] for one in self.items(SELLER, "namespaces")], PATIENCE_SECONDS)


if __name__ == "__main__":
    unittest.main()
