"""What tests on the two clusters with Liqo share, `buyer` and `seller`: kubectl on either, nodes that were bought, what
is left of them."""
import json
import os

from liqo_objects import BUYER, SELLER, SLICES, SPACES, let_liqo_read_templates
from on_a_cluster import call

OF_UNITS = ("nodes", "virtualnodes.offloading.liqo.io", SLICES, "quotas.offloading.liqo.io",
            "shadowpods.offloading.liqo.io", "leases", "secrets")
OF_PEERING = ("identities.authentication.liqo.io", "renews.authentication.liqo.io", "tenants.authentication.liqo.io",
              "namespacemaps.offloading.liqo.io", "secrets")


class TwoClusters:
    """To be mixed with unittest.TestCase."""

    def find_clusters(self):
        self.kubeconfigs = {side: os.environ[f"REALKUBE_KUBECONFIG_{side.upper()}"] for side in (BUYER, SELLER)}
        for side, kubeconfig in self.kubeconfigs.items():
            let_liqo_read_templates(kubeconfig)
            # Whoever was here before is gone for good: others may have the fabric.
            self.kubectl(side, "delete", "lease", "spillway-fabric", "-n", "liqo", "--ignore-not-found")

    def kubectl(self, side, *words, **more):
        return call("kubectl", f"--kubeconfig={self.kubeconfigs[side]}", *words, **more)

    def items(self, side, kind, *words):
        return json.loads(self.kubectl(side, "get", kind, "-o", "json", *words))["items"]

    def virtual_nodes(self, side, ready):
        """Those whose Ready says that, by name."""
        return {node["metadata"]["name"]: node
                for node in self.items(side, "nodes", "-l", "liqo.io/type=virtual-node")
                if any(one["type"] == "Ready" and one["status"] == ready
                       for one in node.get("status", {}).get("conditions", []))}

    def ready(self, side=BUYER):
        return self.virtual_nodes(side, "True")

    def left(self, sides=(BUYER, SELLER)):
        """Everything of units there."""
        return [f"{side} {kind} {one['metadata']['name']}" for side in sides for kind in OF_UNITS
                for one in self.items(side, kind, *([] if kind == "nodes" else ["-A"]))
                if "sw-" in one["metadata"]["name"] and "kube-node-lease" != one["metadata"].get("namespace")]

    def is_parted(self):
        """Whether nothing is left of the peering; what is, if not."""
        left = [f"{side} {kind} {one['metadata']['name']}" for side in SPACES for kind in OF_PEERING
                for one in self.items(side, kind, "-n", SPACES[side])]
        if left:
            raise AssertionError(f"there is {left}")
        return True
