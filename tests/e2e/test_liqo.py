"""Liqo itself, on the clusters `buyer` and `seller`: before anything of ours is blamed, it works.
Run by tests/e2e/run."""
import json
import os
import unittest
import uuid

from on_a_cluster import PATIENCE_SECONDS, call
from processes import eventually

BUYER, SELLER = "buyer", "seller"


class Liqo(unittest.TestCase):
    def setUp(self):
        self.kubeconfigs = {side: os.environ[f"REALKUBE_KUBECONFIG_{side.upper()}"]
                            for side in (BUYER, SELLER)}
        self.namespace = f"e2e-{uuid.uuid4().hex[:8]}"

    def kubectl(self, side, *words, **more):
        return call("kubectl", f"--kubeconfig={self.kubeconfigs[side]}", *words, **more)

    def liqoctl(self, *words, both=True):
        remote = [f"--remote-kubeconfig={self.kubeconfigs[SELLER]}"] if both else []
        return call("liqoctl", *words, f"--kubeconfig={self.kubeconfigs[BUYER]}", *remote)

    def items(self, side, kind, *words):
        return json.loads(self.kubectl(side, "get", kind, "-o", "json", *words))["items"]

    def virtual_nodes(self, ready=None):
        """Names; all, or those whose condition Ready has that status."""
        return [node["metadata"]["name"]
                for node in self.items(BUYER, "nodes", "-l", "liqo.io/type=virtual-node")
                if ready is None or any(one["type"] == "Ready" and one["status"] == ready
                                        for one in node["status"]["conditions"])]

    def test_a_peering_by_liqoctl_from_the_handshake_to_nothing(self):
        self.liqoctl("peer", "--networking-disabled", "--cpu", "2", "--memory", "4Gi", "--pods", "20")
        self.addCleanup(self.kubectl, BUYER, "delete", "namespace", self.namespace,
                        "--ignore-not-found", "--wait=false")
        eventually("a virtual node that is Ready", lambda: self.virtual_nodes(ready="True") == [SELLER],
                   PATIENCE_SECONDS)

        self.kubectl(BUYER, "create", "namespace", self.namespace)
        self.liqoctl("offload", "namespace", self.namespace, both=False)
        self.run_a_guest()

        self.liqoctl("unoffload", "namespace", self.namespace, "--skip-confirm", both=False)
        self.liqoctl("unpeer", "--skip-confirm")
        self.assertEqual(self.virtual_nodes(), [])
        self.assertEqual(self.items(SELLER, "tenants", "-A"), [])
        self.assertEqual(self.items(SELLER, "quotas", "-A"), [])
        eventually("nothing of the guest left", lambda: not self.items(SELLER, "shadowpods", "-A"),
                   PATIENCE_SECONDS)

    def run_a_guest(self):
        """Running at the buyer, because it runs on a node of the seller."""
        self.kubectl(BUYER, "create", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "guest", "namespace": self.namespace},
            "spec": {"nodeSelector": {"liqo.io/type": "virtual-node"},
                     "containers": [{"name": "main", "image": "none",
                                     "resources": {"requests": {"cpu": "100m"}}}]}}))
        eventually("a guest that runs", lambda: self.kubectl(
            BUYER, "-n", self.namespace, "get", "pod", "guest",
            "-o", "jsonpath={.status.phase}") == "Running", PATIENCE_SECONDS)
        there = json.loads(self.kubectl(SELLER, "-n", f"{self.namespace}-{BUYER}", "get", "pod", "guest",
                                        "-o", "json"))
        self.assertEqual(there["status"]["phase"], "Running")
        self.assertIn(there["spec"]["nodeName"], {f"{SELLER}-1", f"{SELLER}-2"})
        self.assertEqual(there["metadata"]["labels"]["liqo.io/creator-user"].rsplit("-", 1)[0], SELLER)


if __name__ == "__main__":
    unittest.main()
