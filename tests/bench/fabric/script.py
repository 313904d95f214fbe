"""The same objects as the fabric's machines make, in the right order, by a script that is both sides at once: no relay,
no signatures between the parties, nothing written down, one open connection to each API server. What it needs is all
Liqo's work; what the fabric needs beyond is its own share. It waits by watching, as the fabric does."""
import base64
import tempfile
import time
import uuid

from liqo_objects import AT_BUYER, AT_SELLER, BUYER, SELLER, TAG, grant_of, slice_of
from on_a_cluster import call

from fabric.access import path_of
from fabric.journal import accepted, authenticated, ready
from fabric.signing import Signer

RESOURCES = {"cpu": "2", "memory": "4Gi", "pods": "20"}
PEER_LABEL = "liqo.io/remote-cluster-id"
RECORD = "script-units"  # not the agents' own name for it: what has no contract they take down
LIQO_TAINT = {"key": "virtual-node.liqo.io/not-allowed", "value": "true", "effect": "NoExecute"}


def meta(name, space, peer, **labels):
    return {"name": name, "namespace": space, "labels": {PEER_LABEL: peer, **labels}}


def tenant_namespace(name, peer):
    modes = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("audit", "enforce", "warn")}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": name, "labels": {PEER_LABEL: peer, "liqo.io/tenant-namespace": "true", **modes}}}


def virtual_node_of(unit):
    return {"apiVersion": "offloading.liqo.io/v1beta1", "kind": "VirtualNode",
            "metadata": meta(unit, AT_BUYER, SELLER),
            "spec": {"clusterID": SELLER, "createNode": True, "disableNetworkCheck": True,
                     "kubeconfigSecretRef": {"name": f"kubeconfig-resourceslice-{unit}"},
                     "labels": {"disk": "ssd"}}}


def node_of(unit):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": unit, "labels": {"liqo.io/type": "virtual-node"}},
            "spec": {"providerID": f"script://{unit}", "taints": [LIQO_TAINT]}}


class Script:
    def __init__(self, journal, apis):
        self.journal, self.apis, self.units = journal, apis, []
        keys = apis[BUYER].call("GET", path_of("secrets", "liqo", "authentication-keys"))["data"]
        self.pem = base64.b64decode(keys["privateKey"]).decode()
        self.public_key = keys["publicKey"]
        self.signer = Signer(self.pem)
        self.control_plane = self.request("liqo.io", BUYER)

    def request(self, organization, name):
        """Made before the time that is measured begins."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(self.pem)
            file.flush()
            text = call("openssl", "req", "-new", "-key", file.name, "-subj", f"/O={organization}/CN={name}")
        return base64.b64encode(text.encode()).decode()

    def new_unit(self):
        unit = f"script-{uuid.uuid4().hex[:12]}"
        self.units.append(unit)
        return unit, self.request(BUYER, f"{unit}-{TAG}")

    def cold(self):
        """Seconds until a slice is accepted, and until its node is Ready; from no peering at all."""
        unit, request = self.new_unit()
        buyer, seller, mark = self.apis[BUYER], self.apis[SELLER], self.journal.mark()
        began = time.monotonic()
        seller.begin("POST", path_of("namespaces"), tenant_namespace(AT_SELLER, BUYER))
        buyer.begin("POST", path_of("namespaces"), tenant_namespace(AT_BUYER, SELLER))
        seller.end(), buyer.end()
        seller.create("secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": meta(
            "liqo-nonce", AT_SELLER, BUYER, **{"liqo.io/nonce": "true"})})
        seller.create("configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "data": {unit: request},
                                     "metadata": {"name": RECORD, "namespace": AT_SELLER}})
        self.shake_hands(mark)
        return self.carry(unit, request, mark, began)

    def shake_hands(self, mark):
        nonce = base64.b64decode(self.thing("a nonce", mark, lambda event: (
            event.side, event.kind, event.name) == (SELLER, "secrets", "liqo-nonce")
            and event.thing.get("data", {}).get("nonce"))["data"]["nonce"])
        self.apis[SELLER].create("tenants", {
            "apiVersion": "authentication.liqo.io/v1beta1", "kind": "Tenant", "metadata": meta(BUYER, AT_SELLER, BUYER),
            "spec": {"clusterID": BUYER, "publicKey": self.public_key, "csr": self.control_plane,
                     "signature": base64.b64encode(self.signer.sign(nonce)).decode()}})
        tenant = self.thing("an answered Tenant", mark, lambda event: (
            event.side, event.kind) == (SELLER, "tenants") and event.thing.get("status", {}).get("authParams"))
        self.apis[BUYER].create("identities", {
            "apiVersion": "authentication.liqo.io/v1beta1", "kind": "Identity",
            "metadata": meta(f"controlplane-{SELLER}", AT_BUYER, SELLER),
            "spec": {"clusterID": SELLER, "type": "ControlPlane", "authParams": tenant["status"]["authParams"],
                     "namespace": AT_SELLER}})

    def warm(self):
        """The same, with a peering that is there: recorded first, as a guard wants it."""
        unit, request = self.new_unit()
        mark, began = self.journal.mark(), time.monotonic()
        self.apis[SELLER].merge(path_of("configmaps", AT_SELLER, RECORD), {"data": {unit: request}})
        return self.carry(unit, request, mark, began)

    def carry(self, unit, request, mark, began):
        made = slice_of(unit, request)
        made["metadata"]["annotations"]["liqo.io/create-virtual-node"] = "false"
        self.apis[BUYER].create("resourceslices", made)
        is_granted = has_node = False
        accepted_at = None
        for event in self.journal.since(mark, f"{unit} by script"):
            what = (event.side, event.kind, event.name)
            if what == (SELLER, "resourceslices", unit) and not is_granted and authenticated(event.thing):
                is_granted = True
                self.grant(unit, event.thing)
            elif what == (BUYER, "secrets", f"kubeconfig-resourceslice-{unit}") and not has_node:
                has_node = True
                self.make_node(unit)
            elif what == (BUYER, "resourceslices", unit) and not accepted_at and accepted(event.thing):
                accepted_at = event.moment - began
            elif what == (BUYER, "nodes", unit) and ready(event.thing):
                return accepted_at, event.moment - began
        return None

    def grant(self, unit, replica):
        self.apis[SELLER].merge(path_of("resourceslices", AT_SELLER, unit) + "/status", grant_of(replica, RESOURCES))

    def make_node(self, unit):
        self.apis[BUYER].create("virtualnodes", virtual_node_of(unit))
        self.apis[BUYER].merge(path_of("resourceslices", AT_BUYER, unit),
                               {"metadata": {"annotations": {"liqo.io/create-virtual-node": "true"}}})
        self.apis[BUYER].create("nodes", node_of(unit), fine=(409,))

    def thing(self, what, mark, test):
        return next(event.thing for event in self.journal.since(mark, what) if test(event))

    def take_down(self):
        """Slices first: who has no identity any more cannot take down their copies."""
        mark, units = self.journal.mark(), list(self.units)
        self.units.clear()
        for unit in units:
            self.apis[BUYER].remove(path_of("resourceslices", AT_BUYER, unit))
        self.journal.gone(BUYER, [(kind, unit) for unit in units
                                  for kind in ("resourceslices", "virtualnodes", "nodes")], mark)
        self.apis[BUYER].remove(path_of("identities", AT_BUYER, f"controlplane-{SELLER}"))
        self.apis[SELLER].remove(path_of("tenants", AT_SELLER, BUYER))
