"""The guard by webhook: an agent of the seller that answers, and the configuration by which its API server asks it."""
import json
import socket
from datetime import datetime, timezone
from urllib.parse import urlsplit

from guarded_peering import take_down_guard
from liqo_objects import SELLER
from market import SPILLWAY, Market
from on_a_cluster import PATIENCE_SECONDS, call
from processes import eventually, free_port

WEBHOOK, EARLY_WEBHOOK = "validatingwebhookconfiguration", "mutatingwebhookconfiguration"
LEASE = "spillway-fabric"


def kubectl(kubeconfig, *words, **more):
    return call("kubectl", f"--kubeconfig={kubeconfig}", *words, **more)


def own_address(kubeconfig):
    """Ours, as that cluster's API server sees it: the way back of what leads there."""
    server = json.loads(kubectl(kubeconfig, "config", "view", "-o", "json"))["clusters"][0]["cluster"]["server"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((urlsplit(server).hostname, 9))
        return probe.getsockname()[0]


class Webhook:
    """Where an agent is to listen, and the configuration that leads there. The agent adds whom to trust."""

    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig
        self.address, self.port = own_address(kubeconfig), free_port()
        self.words = ("--fabric-webhook-listen", f"{self.address}:{self.port}", "--fabric-webhook-name", self.address)

    def put_up(self):
        take_down_guard(self.kubeconfig)  # of the policies: what refuses is the webhook
        kubectl(self.kubeconfig, "apply", "-f", "-", stdin=call(
            SPILLWAY, "fabric", "guard", "--webhook", f"https://{self.address}:{self.port}"))

    def is_asked(self):
        """Nobody may make a ShadowPod there, the administrator neither: an API server takes a moment to know it."""
        said = kubectl(self.kubeconfig, "create", "--dry-run=server", "--validate=false", "-f", "-", fails=True,
                       stdin=json.dumps({"apiVersion": "offloading.liqo.io/v1beta1", "kind": "ShadowPod",
                                         "metadata": {"name": "probe", "namespace": "default"},
                                         "spec": {"pod": {"containers": [{"name": "main", "image": "none"}]}}}))
        return "R5: guests start when their namespace has its limits" in said and "admission webhook" in said

    def take_down(self):
        for kind in (WEBHOOK, EARLY_WEBHOOK):
            kubectl(self.kubeconfig, "delete", kind, "spillway-guard", "--ignore-not-found")


class ByWebhook:
    """To be mixed with GuardedPeering. The peering is liqoctl's: the agent answers, and has no fabric to hold."""
    REFUSED_BY = 'guard.spillway.dev" denied the request: spillway-'
    market = webhook = None

    @classmethod
    def put_up_guard(cls):
        kubeconfig = cls.kubeconfigs[SELLER]
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        kubectl(kubeconfig, "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": LEASE, "namespace": "liqo"},
            "spec": {"holderIdentity": "a test", "leaseDurationSeconds": 36000, "acquireTime": now, "renewTime": now}}))
        cls.market = Market(cls.folder / "market")
        cls.webhook = Webhook(kubeconfig)
        cls.agent = cls.market.program("agent-seller", "agent", "--dir", cls.market.join("milan", "provider"),
                                       "--kubeconfig", kubeconfig, "--fabric", "liqo", *cls.webhook.words)
        cls.agent.start()
        cls.webhook.put_up()
        eventually("a webhook that is asked", cls.webhook.is_asked, PATIENCE_SECONDS)

    @classmethod
    def take_down_guard(cls):
        if cls.webhook:
            cls.webhook.take_down()
        if cls.market:
            cls.market.close()
        cls.kubectl(SELLER, "-n", "liqo", "delete", "lease", LEASE, "--ignore-not-found")
