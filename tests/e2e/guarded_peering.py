"""A peering of `buyer` with a `seller` that has the guard, a unit, a namespace with guests; and the buyer's own
credentials, to try with what a buyer may not do."""
import base64
import json
import os
import tempfile
import unittest
import uuid
from pathlib import Path

from liqo_objects import (AT_BUYER, AT_SELLER, BUYER, SELLER, SLICES, certificate_request, grant_of,
                          offloading_of, slice_of)
from market import SPILLWAY
from on_a_cluster import PATIENCE_SECONDS, call
from processes import eventually

PREFIX = f"sw{len(BUYER)}-{BUYER}-"
POLICIES, BINDINGS = "validatingadmissionpolicies", "validatingadmissionpolicybindings"


def put_up_guard(kubeconfig):
    call("kubectl", f"--kubeconfig={kubeconfig}", "apply", "-f", "-", stdin=call(SPILLWAY, "fabric", "guard"))


def take_down_guard(kubeconfig):
    """Switched off, not deleted: an API server that has lost its last binding with a parameter reads none anew."""
    kubectl = ("kubectl", f"--kubeconfig={kubeconfig}")
    for name in call(*kubectl, "get", BINDINGS, "-l", "spillway.dev/guard", "-o", "name").split():
        call(*kubectl, "patch", name, "--type=merge", "-p", json.dumps({"spec": {"validationActions": ["Audit"]}}))


class GuardedPeering(unittest.TestCase):
    """One for all tests of a class. Refusals must be ours: each names the rule, and what refused."""
    REFUSED_BY = "ValidatingAdmissionPolicy 'spillway-"

    @classmethod
    def setUpClass(cls):
        cls.kubeconfigs = {side: os.environ[f"REALKUBE_KUBECONFIG_{side.upper()}"] for side in (BUYER, SELLER)}
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        mark = uuid.uuid4().hex[:6]
        cls.unit, cls.other = f"unit-{mark}", f"other-{mark}"
        cls.space = f"shop-{mark}"
        cls.guests = PREFIX + cls.space
        cls.addClassCleanup(cls.take_down)
        cls.put_up_guard()
        cls.peer()
        cls.buy()
        cls.guests = cls.offload(cls.space, pods=20)
        cls.unit_access = cls.access(f"kubeconfig-resourceslice-{cls.unit}", "unit")
        cls.access_of_control_plane = cls.access(f"kubeconfig-controlplane-{SELLER}", "control-plane")

    @classmethod
    def take_down(cls):
        spaces = [one["metadata"]["namespace"] for one in cls.items(BUYER, "namespaceoffloadings", "-A")]
        for space in spaces:
            cls.kubectl(BUYER, "-n", space, "delete", "pods", "--all", "--wait=false")
        if spaces:
            cls.liqoctl("unoffload", "namespace", *spaces, "--skip-confirm")
        cls.liqoctl("unpeer", "--skip-confirm", both=True)
        cls.kubectl(BUYER, "delete", "namespace", cls.space, *spaces, "--ignore-not-found", "--wait=false")
        cls.take_down_guard()

    @classmethod
    def put_up_guard(cls):
        put_up_guard(cls.kubeconfigs[SELLER])

    @classmethod
    def take_down_guard(cls):
        take_down_guard(cls.kubeconfigs[SELLER])

    @classmethod
    def kubectl(cls, side, *words, **more):
        return call("kubectl", f"--kubeconfig={cls.kubeconfigs[side]}", *words, **more)

    @classmethod
    def liqoctl(cls, *words, both=False):
        remote = [f"--remote-kubeconfig={cls.kubeconfigs[SELLER]}"] if both else []
        call("liqoctl", *words, f"--kubeconfig={cls.kubeconfigs[BUYER]}", *remote)

    @classmethod
    def get(cls, side, *words):
        return json.loads(cls.kubectl(side, "get", "-o", "json", *words))

    @classmethod
    def items(cls, side, *words):
        return cls.get(side, *words)["items"]

    @classmethod
    def create(cls, side, thing):
        cls.kubectl(side, "create", "-f", "-", stdin=json.dumps(thing))

    @classmethod
    def peer(cls):
        cls.liqoctl("authenticate", both=True)
        eventually("the control plane's access", lambda: cls.get(
            BUYER, "-n", AT_BUYER, "secret", f"kubeconfig-controlplane-{SELLER}"), PATIENCE_SECONDS)
        # An agent writes it; without, no map of namespaces is let in.
        cls.kubectl(SELLER, "annotate", "namespace", AT_SELLER, f"spillway.dev/provider={SELLER}", "--overwrite")

    @classmethod
    def buy(cls):
        """Recorded at the seller, then made by the buyer, then granted."""
        cls.keys = cls.get(BUYER, "-n", "liqo", "secret", "authentication-keys")["data"]
        cls.requests = {name: certificate_request(cls.keys, name) for name in (cls.unit, cls.other)}
        cls.kubectl(SELLER, "apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "spillway-units", "namespace": AT_SELLER}, "data": cls.requests}))
        cls.create(BUYER, slice_of(cls.unit, cls.requests[cls.unit]))

        def authenticated():
            replica = cls.get(SELLER, "-n", AT_SELLER, SLICES, cls.unit)
            return any(one["type"] == "Authentication" for one in
                       replica.get("status", {}).get("conditions", [])) and replica
        replica = eventually("a copy of the slice", authenticated, PATIENCE_SECONDS)
        cls.kubectl(SELLER, "-n", AT_SELLER, "patch", SLICES, cls.unit, "--subresource=status", "--type=merge",
                    "-p", json.dumps(grant_of(replica, {"cpu": "2", "memory": "4Gi", "pods": "20"})))
        eventually("the unit's node", lambda: any(
            one["type"] == "Ready" and one["status"] == "True"
            for one in cls.get(BUYER, "node", cls.unit)["status"]["conditions"]), PATIENCE_SECONDS)

    @classmethod
    def offload(cls, space, pods=None):
        """The name of its twin; with its limits, unless `pods` is none."""
        cls.kubectl(BUYER, "create", "namespace", space)
        cls.create(BUYER, offloading_of(space, PREFIX + space))
        eventually("a twin of the namespace", lambda: cls.get(SELLER, "namespace", PREFIX + space),
                   PATIENCE_SECONDS)
        eventually("rights there", lambda: cls.items(SELLER, "-n", PREFIX + space, "rolebindings"),
                   PATIENCE_SECONDS)
        if pods is not None:
            cls.guard(PREFIX + space, pods)
        return PREFIX + space

    @classmethod
    def guard(cls, space, pods):
        text = call(SPILLWAY, "fabric", "guard", "--namespace", space, "--buyer", BUYER, "--pods", pods,
                    "--cpu", "2", "--memory", "4Gi", "--tolerable", "spillway.io/bought")
        # Liqo made the namespace, and did not say so in the way of kubectl apply.
        cls.kubectl(SELLER, "apply", "--server-side", "-f", "-", stdin=text)
        # Kinds that were defined a moment ago take longest.
        eventually("a quota that counts", lambda: cls.counts_all(cls.get(
            SELLER, "-n", space, "resourcequota", "spillway-guests")), 2 * PATIENCE_SECONDS)

    @staticmethod
    def counts_all(quota):
        return set(quota["spec"]["hard"]) <= set(quota.get("status", {}).get("used", {}))

    @classmethod
    def access(cls, secret, name):
        found = eventually(secret, lambda: cls.get(BUYER, "-n", AT_BUYER, "secret", secret), PATIENCE_SECONDS)
        path = cls.folder / name
        path.write_bytes(base64.b64decode(found["data"]["kubeconfig"]))
        return path

    def passes(self, access, thing):
        call("kubectl", f"--kubeconfig={access}", "create", "--dry-run=server", "--validate=false", "-f", "-",
             stdin=json.dumps(thing))

    def refuses(self, access, thing, rule):
        said = call("kubectl", f"--kubeconfig={access}", "create", "--validate=false", "-f", "-",
                    stdin=json.dumps(thing), fails=True)
        self.assertIn(rule, said)
        self.assertIn(self.REFUSED_BY, said)

    def refuses_patch(self, access, rule, *words, patch):
        said = call("kubectl", f"--kubeconfig={access}", "patch", *words, "--type=merge", "-p", json.dumps(patch),
                    fails=True)
        self.assertIn(rule, said)
        self.assertIn(self.REFUSED_BY, said)
