"""fabric.dead_s: the API server of a provider stands still while it has work of its buyer. Standing still is the slower
death to find: connections stay open, and nothing is refused."""
import signal
import time

from liqo_objects import AT_BUYER, BUYER, SELLER, offloading_of
from on_a_cluster import PATIENCE_SECONDS, signal_api_server, work
from processes import eventually

from fabric.access import path_of

SPACE, APP = "bench-death", "web"
REMOTE = f"sw{len(BUYER)}-{BUYER}-{SPACE}"
DEAD_TAINT = "spillway.dev/provider-dead"
LONGEST_SECONDS = 120  # a virtual kubelet tells once a minute that its node is Ready again
LOOK_SECONDS = 0.05


class Death:
    def __init__(self, ours):
        self.ours, self.api = ours, ours.apis[BUYER]
        self.contract = ours.buy()[0]
        self.unit = f"sw-{self.contract}-0"
        self.own = [one["metadata"]["name"] for one in self.api.items("nodes")
                    if one["metadata"].get("labels", {}).get("liqo.io/type") != "virtual-node"]
        self.api.create("namespaces", {"metadata": {"name": SPACE}})
        self.api.create("namespaceoffloadings", offloading_of(SPACE, REMOTE))
        eventually("the namespace at the provider", self.is_mapped, PATIENCE_SECONDS)
        self.at_provider(lambda: self.api.create("deployments", self.named(work("Deployment", APP))))

    def named(self, thing):
        thing["metadata"]["namespace"] = SPACE
        return thing

    def is_mapped(self):
        return any(REMOTE in str(one.get("status", {})) for one in self.api.items("namespacemaps", AT_BUYER))

    def running(self):
        """Nodes of pods that run and stay."""
        return [one["spec"]["nodeName"] for one in self.api.items("pods", SPACE)
                if one["status"].get("phase") == "Running" and "deletionTimestamp" not in one["metadata"]]

    def cordon(self, is_cordoned):
        for node in self.own:
            self.api.merge(path_of("nodes", name=node), {"spec": {"unschedulable": is_cordoned}})

    def at_provider(self, begin):
        """Nothing else takes it while it begins."""
        self.cordon(True)
        try:
            begin()
            eventually("work at the provider", self.is_at_provider, LONGEST_SECONDS)
        finally:
            self.cordon(False)

    def is_at_provider(self):
        if self.running() == [self.unit]:
            return True
        pods = [(one["spec"].get("nodeName"), one["status"].get("phase"), one["metadata"].get("deletionTimestamp"),
                 one["status"].get("conditions", [{}])[-1].get("message")) for one in self.api.items("pods", SPACE)]
        node = self.api.call("GET", path_of("nodes", name=self.unit))
        raise AssertionError(f"pods: {pods}; taints of the node: {node['spec'].get('taints')}")

    def is_closed(self):
        node = self.api.call("GET", path_of("nodes", name=self.unit))
        return any(one["key"] == DEAD_TAINT for one in node["spec"].get("taints", []))

    def one(self):
        """Seconds from the death until the work runs elsewhere. Afterwards all is as before."""
        began = time.monotonic()
        signal_api_server(SELLER, signal.SIGSTOP)
        try:
            eventually("work elsewhere", lambda: any(node in self.own for node in self.running()),
                       LONGEST_SECONDS, LOOK_SECONDS)
            took = time.monotonic() - began
        finally:
            signal_api_server(SELLER, signal.SIGCONT)
        eventually("a provider that is alive again", lambda: not self.is_closed(), LONGEST_SECONDS)
        self.at_provider(lambda: self.api.call("DELETE", path_of("pods", SPACE)))
        return took

    def close(self):
        self.api.remove(path_of("deployments", SPACE, APP))
        eventually("no work", lambda: not self.api.items("pods", SPACE), LONGEST_SECONDS)
        self.api.remove(path_of("namespaceoffloadings", SPACE, "offloading"))
        self.api.remove(path_of("namespaces", name=SPACE))
        self.ours.release_all([self.contract])
