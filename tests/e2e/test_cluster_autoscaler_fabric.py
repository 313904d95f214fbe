"""The unmodified Cluster Autoscaler over real Liqo: what it asks for is bought and becomes a virtual node that its pods run
on, one that was kept as a spare where there is one; and it goes on when a provider dies. Run by tests/e2e/run with every
binary of CLUSTER_AUTOSCALER_BIN, on the clusters `buyer` and `seller`."""
import json
import os
import signal
import unittest
import uuid

import test_fabric
from autoscaling import SCALE_SECONDS, Scalers, deployment, with_every_binary
from guarded_peering import put_up_guard, take_down_guard
from liqo_objects import BUYER, SELLER
from on_a_cluster import PATIENCE_SECONDS, signal_api_server
from papers import make_papers
from processes import eventually

FROZEN = "Cluster is not ready for autoscaling"
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"


class FabricScaling(Scalers):
    POLICY = {"namespaces": []}
    VALUES = Scalers.VALUES + ",autoscaler.backEnd=liqo,agent.enabled=true,agent.fabric=liqo"
    test_from_a_purchase_to_nothing = None  # are tried without an autoscaler
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    @classmethod
    def setUpClass(cls):
        kubeconfig = os.environ[f"REALKUBE_KUBECONFIG_{SELLER.upper()}"]
        cls.addClassCleanup(take_down_guard, kubeconfig)
        put_up_guard(kubeconfig)

    def setUp(self):
        super().setUp()
        self.folder, self.home = self.market.folder, self.identities[BUYER]
        self.addCleanup(self.keep_logs)
        self.kubeconfig = self.kubeconfigs[BUYER]
        self.papers = make_papers(self.folder / "papers")
        self.namespace = f"shop-{uuid.uuid4().hex[:6]}"
        self.at_home("create", "namespace", self.namespace)
        self.addCleanup(self.at_home, "delete", "namespace", self.namespace, "--wait=false")
        self.set_policy({"namespaces": [self.namespace]})

    def at_home(self, *words, **more):
        return self.kubectl(BUYER, *words, **more)

    def start(self, *more):
        self.autoscaler = self.start_autoscaler("--backend", "liqo", *more, seen="autoscaler started")
        self.cluster_autoscaler = self.start_cluster_autoscaler(self.autoscaler)

    def work(self, replicas):
        """Pods that none of the cluster's own nodes will do for."""
        self.at_home("-n", self.namespace, "apply", "-f", "-",
                     stdin=json.dumps(deployment("work", replicas, nodeSelector={"disk": "ssd"})))

    def keep_spares(self, units):
        """The file of the policy, which the autoscaler reads again when it changes."""
        file = self.folder / "recommender-policy.yaml"
        file.write_text(json.dumps({"noun": "recommender-policy", "version": 1, "currency": "EUR",
                                    "spares": {"units": units, "groups": 1, "idle": "1h", "unready": 3}}))
        return file

    def spares(self):
        return set(self.virtual_nodes(BUYER, "False"))

    def taints(self, node):
        told = json.loads(self.at_home("get", "node", node, "-o", "json"))
        return {one["key"] for one in told["spec"].get("taints", [])}

    def all_is_given_back(self):
        self.work(0)
        eventually("nothing left", lambda: not self.left(), SCALE_SECONDS)
        self.assertNotIn(FROZEN, self.cluster_autoscaler.text())
        self.assertNotIn("forbidden", self.autoscaler.text().lower())

    def test_pending_pods_run_at_a_provider_and_what_is_idle_is_given_back(self):
        self.start()
        self.work(4)
        self.all_run(4)
        self.nodes_are_what_is_held(2)
        self.assertEqual({pod["spec"]["nodeName"] for pod in self.running()}, set(self.ready()))
        self.assertEqual(len(self.items(SELLER, "shadowpods.offloading.liqo.io", "-A")), 4)
        self.work(2)  # one of the two is drained, if each has lost one
        self.nodes_are_what_is_held(1)
        self.all_run(2)
        self.all_is_given_back()

    def test_a_spare_is_what_it_gets_and_another_is_kept_for_the_next(self):
        self.start("--policy", self.keep_spares(1))
        spare = eventually("a spare", self.spares, PATIENCE_SECONDS)
        self.work(2)
        self.all_run(2)
        self.assertEqual(set(self.ready()), spare)
        another = eventually("another spare", self.spares, PATIENCE_SECONDS)
        self.assertNotEqual(another, spare)
        self.keep_spares(0)
        eventually("no spare", lambda: not self.spares(), PATIENCE_SECONDS)
        self.assertEqual(set(self.ready()), spare)
        self.all_is_given_back()

    def test_a_dead_providers_node_is_being_deleted_also_after_a_restart(self):
        self.start()
        self.work(2)
        self.all_run(2)
        unit = next(iter(self.ready()))
        self.addCleanup(signal_api_server, SELLER, signal.SIGCONT)
        signal_api_server(SELLER, signal.SIGSTOP)
        eventually("a node that is being deleted", lambda: TO_BE_DELETED in self.taints(unit), PATIENCE_SECONDS)

        # Whatever is being deleted when it starts is a leftover of its own, it thinks.
        self.cluster_autoscaler.kill()
        self.cluster_autoscaler.forget()
        self.cluster_autoscaler.start()
        eventually("the taint taken away", lambda: self.cluster_autoscaler.says(
            f"Successfully released {TO_BE_DELETED} on node {unit}"), PATIENCE_SECONDS, 0.02)
        eventually("the taint again", lambda: TO_BE_DELETED in self.taints(unit), PATIENCE_SECONDS)

        signal_api_server(SELLER, signal.SIGCONT)
        eventually("a node as any other", lambda: not self.taints(unit) & {TO_BE_DELETED, "spillway.dev/provider-dead"},
                   PATIENCE_SECONDS)
        self.all_run(2)
        self.all_is_given_back()


with_every_binary(globals(), FabricScaling, base=test_fabric.Fabric)

if __name__ == "__main__":
    unittest.main()
