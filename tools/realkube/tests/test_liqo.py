"""What is read from Liqo's chart and from its pods, and what becomes of it."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from clusters import binaries, layout, lifecycle, liqo, shell, virtual_kubelets  # noqa: E402

CHART = """---
# Source: liqo/templates/one.yaml
apiVersion: v1
kind: ConfigMap
data:
  kind: no kind of ours
---
apiVersion: batch/v1
kind: Job
metadata:
  annotations:
    "helm.sh/hook": pre-delete
---

---
apiVersion: apps/v1
kind: Deployment
"""
POD = {
    "metadata": {"name": "vk-unit-1", "namespace": "liqo-tenant-b"},
    "spec": {"serviceAccountName": "unit", "containers": [{
        "args": ["--node-ip=$(POD_IP)", "--nodename=unit", "--odd=$(NOBODY)"],
        "env": [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "VIRTUALNODE_NAME", "value": "unit"}]}]},
    "status": {"phase": "Running"}}


class ACluster(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cluster = layout.State(folder.name).add("a", 2, liqo="1.1")


class Chart(ACluster):
    def test_documents_are_told_apart_and_hooks_are_left_out(self):
        self.assertEqual([kind for kind, _ in liqo.documents(CHART)], ["ConfigMap", "Deployment"])

    def test_arguments_have_no_references_left(self):
        deployment = {"spec": {"template": {"spec": {"containers": [
            {"args": ["--cluster-id=$(CLUSTER_ID)", "--liqo-namespace=$(POD_NAMESPACE)", "--plain"]}]}}}}
        self.assertEqual(liqo.arguments(deployment, self.cluster),
                         ["--cluster-id=a", "--liqo-namespace=liqo", "--plain"])

    def test_a_reference_that_nobody_resolves_is_no_argument(self):
        deployment = {"spec": {"template": {"spec": {"containers": [{"args": ["$(ELSE)"]}]}}}}
        with self.assertRaises(KeyError):
            liqo.arguments(deployment, self.cluster)

    def test_the_webhook_is_reached_at_the_clusters_own_address(self):
        service, endpoints = liqo.service(self.cluster)
        self.assertNotIn("selector", service["spec"])  # its endpoints would be taken away again
        self.assertEqual(endpoints["endpoints"][0]["addresses"], [self.cluster.address])


class Record(ACluster):
    def test_a_later_run_knows_of_liqo_and_of_its_programs(self):
        again = self.cluster.state.cluster("a")
        self.assertEqual(again.liqo, "1.1")
        self.assertLessEqual(set(liqo.PROGRAMS), set(lifecycle.programs_of(again)))
        self.assertIn("with Liqo 1.1", lifecycle.describe_nodes(again))


class Versions(unittest.TestCase):
    def test_each_has_programs_of_the_same_names_from_a_folder_of_its_own(self):
        usual, older = ({one.name: one for one in binaries.with_liqo(version)} for version in binaries.LIQO)
        self.assertEqual({*usual} - {*older}, {"liqoctl"})
        for name in liqo.PARTS:
            self.assertNotEqual(binaries.folder_of(usual[name].module), binaries.folder_of(older[name].module))

    def test_each_folder_pins_the_version_that_it_is_named_by(self):
        for version, folder in binaries.LIQO.items():
            text = (binaries.HERE / folder / "go.mod").read_text()
            self.assertTrue(binaries.pinned(text, liqo.MODULE).startswith(f"v{version}."))

    def test_an_older_one_is_built_only_when_it_is_asked_for(self):
        self.assertFalse([one for one in binaries.chosen([]) if one.module in binaries.OLDER])
        self.assertEqual({one.module for one in binaries.chosen(["liqo-1.1"])}, {"liqo-1.1"})
        with self.assertRaises(shell.Trouble):
            binaries.chosen(["liqo-0.9"])


class VirtualKubelets(ACluster):
    def test_the_command_is_the_pods_own_at_the_clusters_address(self):
        words = virtual_kubelets.command_of(POD, self.cluster, "/bin/vk", "/some/kubeconfig", 10300)
        self.assertEqual(words, ["/bin/vk", f"--node-ip={self.cluster.address}", "--nodename=unit",
                                 "--odd=$(NOBODY)", "--home-kubeconfig=/some/kubeconfig",
                                 "--listen-port=10300"])

    def test_the_environment_is_the_containers(self):
        self.assertEqual(virtual_kubelets.environment_of(POD, self.cluster),
                         {"POD_IP": self.cluster.address, "POD_NAME": "vk-unit-1",
                          "VIRTUALNODE_NAME": "unit"})

    def test_only_pods_that_run_and_stay_are_wanted(self):
        self.assertTrue(virtual_kubelets.is_wanted(POD))
        self.assertFalse(virtual_kubelets.is_wanted({**POD, "status": {"phase": "Pending"}}))
        going = {**POD, "metadata": {**POD["metadata"], "deletionTimestamp": "now"}}
        self.assertFalse(virtual_kubelets.is_wanted(going))


if __name__ == "__main__":
    unittest.main()
