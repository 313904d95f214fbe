"""A provider whose API server stands still, dies and comes back, on real Liqo: work without identity runs elsewhere in
half a minute, work with identity waits, and each side tells the other by a Lease (docs/fabric.md). With the guard: what the
agents do is honest. Run by tests/e2e/run."""
import base64
import json
import os
import signal
import time
import unittest
import uuid
from pathlib import Path

import test_fabric
from guarded_peering import PREFIX, put_up_guard, take_down_guard
from liqo_objects import AT_BUYER, AT_SELLER, BUYER, SELLER, offloading_of
from on_a_cluster import PATIENCE_SECONDS, call, signal_api_server, work
from processes import eventually

MOST_SECONDS = 30  # from the death of an API server to a replacement that runs
FENCE_SECONDS = 60


class FabricDeath(test_fabric.Fabric):
    OF_CHART = (BUYER,)
    MORE = {"terms": {"lease": "10m", "notice": "5m", "fence": f"{FENCE_SECONDS}s"}}
    test_from_a_purchase_to_nothing = None  # as it is elsewhere

    @classmethod
    def setUpClass(cls):
        kubeconfig = os.environ[f"REALKUBE_KUBECONFIG_{SELLER.upper()}"]
        cls.addClassCleanup(take_down_guard, kubeconfig)
        put_up_guard(kubeconfig)

    def pods(self, app):
        return [one for one in self.items(BUYER, "pods", "-n", self.space, "-l", f"app={app}")
                if "deletionTimestamp" not in one["metadata"]]

    def runs(self, app, where):
        """Where `where` says yes to the name of its node."""
        return [one for one in self.pods(app)
                if one["status"].get("phase") == "Running" and where(one["spec"].get("nodeName", ""))]

    def lease(self):
        return json.loads(self.kubectl(SELLER, "-n", AT_SELLER, "get", "lease", "spillway-buyer", "-o", "json"))

    def offload(self):
        self.space = f"shop-{uuid.uuid4().hex[:6]}"
        self.kubectl(BUYER, "create", "namespace", self.space)
        self.addCleanup(self.kubectl, BUYER, "delete", "namespace", self.space, "--wait=false")
        self.kubectl(BUYER, "create", "-f", "-", stdin=json.dumps(offloading_of(self.space, PREFIX + self.space)))
        self.addCleanup(self.kubectl, BUYER, "-n", self.space, "delete", "namespaceoffloadings", "--all", "--wait=false")
        eventually("limits of the namespace", lambda: json.loads(self.kubectl(
            SELLER, "get", "namespace", PREFIX + self.space, "-o", "json"))["metadata"]["labels"].get(
                "spillway.dev/guard") == "1", PATIENCE_SECONDS)

    def taints(self, node):
        told = json.loads(self.kubectl(BUYER, "get", "node", node, "-o", "json"))
        return {one["key"] for one in told["spec"].get("taints", [])}

    def test_a_buyer_writes_nothing_but_its_renewals(self):
        self.buy(1)
        eventually("a renewal", lambda: "renewTime" in self.lease().get("spec", {}), PATIENCE_SECONDS)
        secret = json.loads(self.kubectl(BUYER, "-n", AT_BUYER, "get", "secret",
                                         f"kubeconfig-controlplane-{SELLER}", "-o", "json"))
        own = Path(self.market.folder) / "control-plane"
        own.write_bytes(base64.b64decode(secret["data"]["kubeconfig"]))
        as_buyer = ("kubectl", f"--kubeconfig={own}", "-n", AT_SELLER)
        told = call(*as_buyer, "patch", "lease", "spillway-buyer", "--type=merge", "-p",
                    json.dumps({"metadata": {"finalizers": ["a/b"]}}), fails=True)
        self.assertIn("R3", told)
        for words in (["get", "leases"], ["delete", "lease", "spillway-buyer"]):
            self.assertIn("forbidden", call(*as_buyer, *words, fails=True).lower())

    def test_work_goes_on_elsewhere_and_with_identity_only_after_the_fence(self):
        contract, nodes = self.buy(1)
        unit = next(iter(nodes))
        self.offload()
        for kind, name in (("Deployment", "web"), ("StatefulSet", "db")):
            self.at_provider(name, unit, lambda kind=kind, name=name: self.kubectl(
                BUYER, "-n", self.space, "create", "-f", "-", stdin=json.dumps(work(kind, name))))

        # It stands still, and goes on before the fence time.
        self.addCleanup(signal_api_server, SELLER, signal.SIGCONT)
        self.dies(unit)
        self.assertTrue(self.runs("db", unit.__eq__))
        signal_api_server(SELLER, signal.SIGCONT)
        eventually("a node as any other", lambda: "spillway.dev/provider-dead" not in self.taints(unit), PATIENCE_SECONDS)
        self.assertTrue(self.runs("db", unit.__eq__))
        self.at_provider("web", unit, lambda: self.kubectl(
            BUYER, "-n", self.space, "delete", "pods", "-l", "app=web", "--wait=false"))

        # Now for longer.
        began = time.monotonic()
        self.dies(unit)
        eventually("db elsewhere", lambda: self.runs("db", lambda node: node and node != unit), FENCE_SECONDS + 90)
        waited = time.monotonic() - began
        print(f"work with identity ran elsewhere {waited:.0f} s after the API server stood still")
        self.assertGreater(waited, FENCE_SECONDS)
        eventually("nothing of the unit here", lambda: not self.left([BUYER]), PATIENCE_SECONDS)

        # Back: a unit again, and no second db.
        signal_api_server(SELLER, signal.SIGCONT)
        eventually("the unit again", lambda: unit in self.ready(), PATIENCE_SECONDS)
        eventually("no guest with identity", lambda: not [
            one for one in self.items(SELLER, "shadowpods.offloading.liqo.io", "-A")
            if one["metadata"]["name"] == "db-0"], PATIENCE_SECONDS)
        eventually("all settled", lambda: self.lease()["metadata"].get("annotations", {}).get(
            "spillway.dev/settled") == str(self.lease()["spec"]["leaseTransitions"]), PATIENCE_SECONDS)

        # Law 3: with nobody there to agree.
        self.kubectl(BUYER, "-n", self.space, "delete", "deployments,statefulsets", "--all")
        eventually("no work", lambda: not self.items(BUYER, "pods", "-n", self.space), PATIENCE_SECONDS)
        signal_api_server(SELLER, signal.SIGSTOP)
        eventually("dead", lambda: "spillway.dev/provider-dead" in self.taints(unit), PATIENCE_SECONDS)
        self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
        began = time.monotonic()
        eventually("nothing left here", lambda: not self.left([BUYER]), PATIENCE_SECONDS)
        print(f"nothing left {time.monotonic() - began:.1f} s after a release from a dead provider")
        signal_api_server(SELLER, signal.SIGCONT)
        eventually("nothing left there", lambda: not self.left([SELLER]), PATIENCE_SECONDS)
        self.buy(1)  # again, at once

    def at_provider(self, name, unit, begin):
        """Nothing else takes it while it begins."""
        own = [one["metadata"]["name"] for one in self.items(BUYER, "nodes", "-l", "liqo.io/type!=virtual-node")]
        self.kubectl(BUYER, "cordon", *own)
        try:
            begin()
            eventually(f"{name} at the provider", lambda: self.runs(name, unit.__eq__), PATIENCE_SECONDS)
        finally:
            self.kubectl(BUYER, "uncordon", *own)

    def dies(self, unit):
        began = time.monotonic()
        signal_api_server(SELLER, signal.SIGSTOP)
        eventually("web elsewhere", lambda: self.runs("web", lambda node: node and node != unit), 2 * MOST_SECONDS)
        took = time.monotonic() - began
        print(f"work without identity ran elsewhere {took:.1f} s after the API server stood still")
        self.assertLess(took, MOST_SECONDS)
        self.assertIn("ToBeDeletedByClusterAutoscaler", self.taints(unit))


if __name__ == "__main__":
    unittest.main()
