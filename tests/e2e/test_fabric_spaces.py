"""A policy and a purchase are all that it takes for work to leave, to a provider with the guard; nothing leaves with it
that does not say so, unless the policy trusts the provider. Run by tests/e2e/run."""
import json
import os
import unittest
import uuid

import test_fabric
from guarded_peering import PREFIX, put_up_guard, take_down_guard
from liqo_objects import AT_BUYER, BUYER, SELLER
from on_a_cluster import PATIENCE_SECONDS
from processes import eventually

AMOUNTS = {"cpu": "100m", "memory": "64Mi"}
ALLOWED = {"liqo.io/allow-reflection": "true"}


class FabricSpaces(test_fabric.Fabric):
    OF_CHART = (BUYER,)
    POLICY = {"namespaces": []}
    test_from_a_purchase_to_nothing = None  # are tried without a policy
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    @classmethod
    def setUpClass(cls):
        kubeconfig = os.environ[f"REALKUBE_KUBECONFIG_{SELLER.upper()}"]
        cls.addClassCleanup(take_down_guard, kubeconfig)
        put_up_guard(kubeconfig)

    def setUp(self):
        super().setUp()
        self.space = f"shop-{uuid.uuid4().hex[:6]}"
        self.there = PREFIX + self.space
        self.kubectl(BUYER, "create", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.space}}))
        self.addCleanup(self.kubectl, BUYER, "delete", "namespace", self.space, "--wait=false")

    def create(self, thing):
        self.kubectl(BUYER, "-n", self.space, "create", "-f", "-", stdin=json.dumps(thing))

    def names(self, side, kind, space):
        return {one["metadata"]["name"] for one in self.items(side, kind, "-n", space)}

    def fill(self):
        """A Deployment that fits no node of the cluster; of Secrets and ConfigMaps one that may leave, and one that may
        not."""
        container = {"name": "main", "image": "none", "resources": {"requests": AMOUNTS, "limits": AMOUNTS}}
        self.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                     "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
                         "metadata": {"labels": {"app": "web"}},
                         "spec": {"nodeSelector": {"disk": "ssd"}, "containers": [container]}}}})
        for kind, data in (("Secret", "stringData"), ("ConfigMap", "data")):
            for name, annotations in (("kept", {}), ("listed", ALLOWED)):
                self.create({"apiVersion": "v1", "kind": kind, data: {"word": name},
                             "metadata": {"name": f"{kind.lower()}-{name}", "annotations": annotations}})

    def pods(self):
        return self.items(BUYER, "pods", "-n", self.space)

    def tolerates(self, pod):
        return any(one.get("key") == "virtual-node.liqo.io/not-allowed"
                   for one in pod["spec"].get("tolerations", []))

    def leaves(self, *words):
        return json.loads(self.market.spillway("leaves", self.space, "--kubeconfig", self.kubeconfigs[BUYER],
                                               "-o", "json", *words))

    def offloaded(self):
        return self.names(BUYER, "namespaceoffloadings", self.space) == {"offloading"}

    def is_running_there(self):
        phases = [one["status"].get("phase") for one in self.items(SELLER, "pods", "-n", self.there)]
        return phases == ["Running"] and self.pods()[0]["status"]["phase"] == "Running"

    def check_agreement(self):
        """`leaves` tells what the provider has, no more and no less; its own root certificate aside."""
        told = self.leaves()["providers"]
        self.assertEqual([one["provider"] for one in told], [SELLER])
        self.assertEqual(told[0]["namespace"], self.there)
        for kinds, at in ((("Secret", "Token"), "secrets"), (("ConfigMap",), "configmaps"), (("Pod",), "pods")):
            wanted = {one["there"] for one in told[0]["objects"] if one["leaves"] and one["kind"] in kinds}
            eventually(f"{at} as told: {wanted}", lambda at=at, wanted=wanted: wanted == self.names(
                SELLER, at, self.there) - {"kube-root-ca.crt"}, PATIENCE_SECONDS)

    def end(self, contract):
        self.kubectl(BUYER, "-n", self.space, "delete", "deployment", "web")
        eventually("no pods", lambda: not self.pods(), PATIENCE_SECONDS)
        self.set_policy({"namespaces": []})
        eventually("no longer offloaded", lambda: not self.offloaded(), PATIENCE_SECONDS)
        eventually("its twin gone", lambda: self.there not in self.names(SELLER, "namespaces", "default"),
                   PATIENCE_SECONDS)
        self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
        eventually("nothing left", lambda: not self.left(), PATIENCE_SECONDS)
        eventually("no template left", lambda: not self.items(
            BUYER, "vkoptionstemplates.offloading.liqo.io", "-n", AT_BUYER), PATIENCE_SECONDS)

    def test_work_that_waited_leaves_by_policy_and_purchase_alone(self):
        self.fill()
        complaint = self.market.spillway("leaves", self.space, "--kubeconfig", self.kubeconfigs[BUYER], fails=True)
        self.assertIn("not offloaded", complaint)
        eventually("a pod that finds no node", lambda: [
            one for one in self.pods() if any(c.get("reason") == "Unschedulable" for c in one["status"].get("conditions", []))],
            PATIENCE_SECONDS)
        self.assertFalse(self.tolerates(self.pods()[0]))

        self.set_policy({"namespaces": [self.space]})
        eventually("an offloading", self.offloaded, PATIENCE_SECONDS)
        eventually("the toleration, in place", lambda: self.tolerates(self.pods()[0]), PATIENCE_SECONDS)
        pod = self.pods()[0]["metadata"]
        eventually("an event", lambda: [one for one in self.items(BUYER, "events", "-n", self.space)
                                        if one["reason"] == "Fabric" and one["involvedObject"]["uid"] == pod["uid"]],
                   PATIENCE_SECONDS)

        contract, nodes = self.buy(1)
        virtual_node = self.items(BUYER, "virtualnodes.offloading.liqo.io", "-n", AT_BUYER)[0]
        self.assertEqual(virtual_node["spec"]["vkOptionsTemplateRef"]["name"], "spillway-listed")
        eventually("the work, there", self.is_running_there, PATIENCE_SECONDS)
        self.assertEqual(self.pods()[0]["metadata"]["uid"], pod["uid"])
        self.assertIn(self.pods()[0]["spec"]["nodeName"], nodes)

        eventually("what may leave", lambda: "secret-listed" in self.names(SELLER, "secrets", self.there),
                   PATIENCE_SECONDS)
        self.check_agreement()
        self.assertEqual(self.names(SELLER, "secrets", self.there), {"secret-listed"})

        # What may leave later, leaves; what may no longer, is taken back.
        self.kubectl(BUYER, "-n", self.space, "annotate", "secret", "secret-kept", "liqo.io/allow-reflection=true")
        self.kubectl(BUYER, "-n", self.space, "annotate", "secret", "secret-listed", "liqo.io/allow-reflection-")
        self.check_agreement()
        self.end(contract)

    def test_whoever_is_trusted_gets_everything(self):
        self.set_policy({"namespaces": [self.space], "trusted": {"clusters": ["milan"]}})
        eventually("an offloading", self.offloaded, PATIENCE_SECONDS)
        self.fill()
        contract, _ = self.buy(1)
        eventually("the work, there", self.is_running_there, PATIENCE_SECONDS)
        eventually("all that it has", lambda: {"secret-kept", "secret-listed"} <= self.names(
            SELLER, "secrets", self.there), PATIENCE_SECONDS)
        self.end(contract)


if __name__ == "__main__":
    unittest.main()
