"""The guard where an API server has no policies: the same rules, tried in the same way, with an agent that answers its
webhook (docs/fabric-rules.md). Run by tests/e2e/run."""
import json
import os
import subprocess
import unittest

import test_fabric_guarded
import test_guard
from guard_webhook import WEBHOOK, ByWebhook, Webhook
from liqo_objects import BUYER, SELLER
from market import SPILLWAY
from on_a_cluster import PATIENCE_SECONDS, call
from processes import eventually


class GuardByWebhook(ByWebhook, test_guard.Guard):
    def test_a_check_tells_what_is_enforced(self):
        check = (SPILLWAY, "fabric", "guard", "--check", "--kubeconfig", self.kubeconfigs[SELLER])
        self.assertRegex(call(*check), r"^enforced by a webhook, which an agent must answer; Liqo v1\.")
        doctor = subprocess.run([SPILLWAY, "doctor", "--dir", self.folder / "nobody", *check[-2:]], text=True,
                                capture_output=True, check=False, timeout=PATIENCE_SECONDS).stdout
        self.assertRegex(doctor, r"✓ guard +enforced by a webhook")
        self.assertIn("not enforced", call(*check[:-1], self.kubeconfigs[BUYER], fails=True))

        def set_policy(policy):
            self.kubectl(SELLER, "patch", WEBHOOK, "spillway-guard", "--type=json", "-p", json.dumps(
                [{"op": "replace", "path": "/webhooks/2/failurePolicy", "value": policy}]))
        self.addCleanup(set_policy, "Fail")
        set_policy("Ignore")
        self.assertIn("partly enforced: of the 4 entries of the webhook spillway-guard only 3 are",
                      call(*check, fails=True))

    def test_whom_the_api_server_trusts_is_put_right(self):
        def bundles():
            return {one["clientConfig"].get("caBundle")
                    for one in self.get(SELLER, WEBHOOK, "spillway-guard")["webhooks"]}
        before = bundles()
        self.assertEqual(len(before), 1)
        self.kubectl(SELLER, "patch", WEBHOOK, "spillway-guard", "--type=json", "-p", json.dumps(
            [{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]))
        eventually("the authority again", lambda: bundles() == before, PATIENCE_SECONDS)

    def test_while_nobody_answers_buyers_write_nothing_and_others_all(self):
        self.addCleanup(eventually, "an answer again", self.webhook.is_asked, PATIENCE_SECONDS)
        self.agent.stop()
        self.addCleanup(self.agent.start)
        said = call("kubectl", f"--kubeconfig={self.unit_access}", "create", "-f", "-", fails=True,
                    stdin=json.dumps(self.service()))
        self.assertIn("failed calling webhook", said)
        said = call("kubectl", f"--kubeconfig={self.access_of_control_plane}", "create", "--validate=false", "-f", "-",
                    fails=True, stdin=json.dumps(self.slice()))
        self.assertIn("failed calling webhook", said)
        for kind in ("configmap", "secret"):
            words = ("generic",) if kind == "secret" else ()
            for space in ("default", "liqo-tenant-" + BUYER):
                self.kubectl(SELLER, "-n", space, "create", kind, *words, "anybodys", "--dry-run=server")
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "anybodys"}}
        self.kubectl(SELLER, "-n", "liqo-tenant-" + BUYER, "create", "--dry-run=server", "-f", "-",
                     stdin=json.dumps(lease))


class FabricWithAWebhook(test_fabric_guarded.FabricWithAGuard):
    """The agents' own traffic is honest by this guard, too."""
    VALUES = test_fabric_guarded.FabricWithAGuard.VALUES + ",agent.fabricGuard=webhook"

    @classmethod
    def setUpClass(cls):
        cls.webhook = Webhook(os.environ[f"REALKUBE_KUBECONFIG_{SELLER.upper()}"])
        cls.addClassCleanup(cls.webhook.take_down)
        cls.webhook.put_up()

    def agent(self, side):
        self.AGENT = self.webhook.words if side == SELLER else ()
        return super().agent(side)

    def setUp(self):
        super().setUp()
        eventually("a webhook that is asked", self.webhook.is_asked, PATIENCE_SECONDS)


if __name__ == "__main__":
    unittest.main()
