"""The clusters themselves: before anything of ours is blamed, they work. Run by tests/e2e/run."""
import json
import queue
import subprocess
import threading
import time
import unittest

from on_a_cluster import PATIENCE_SECONDS, REALKUBE, OnACluster, call

CLUSTERS = ("consumer", "provider")


class Smoke(OnACluster):
    """The same for every cluster."""

    def test_a_deployment_runs_on_the_played_nodes(self):
        self.kubectl("-n", self.namespace, "create", "deployment", "web", "--image=none",
                     "--replicas=5")
        self.kubectl("-n", self.namespace, "rollout", "status", "deployment/web",
                     f"--timeout={PATIENCE_SECONDS - 5}s")
        pods = json.loads(self.kubectl("-n", self.namespace, "get", "pods", "-o", "json"))["items"]
        self.assertEqual([pod["status"]["phase"] for pod in pods], ["Running"] * 5)
        self.assertEqual({pod["spec"]["nodeName"] for pod in pods},
                         {f"{self.cluster}-1", f"{self.cluster}-2"})

    def test_a_stranger_is_denied(self):
        config = call(REALKUBE, "user", self.cluster, "stranger").strip()
        denied = call("kubectl", f"--kubeconfig={config}", "get", "pods", fails=True)
        self.assertIn('User "stranger" cannot list resource "pods"', denied)

    def test_what_a_role_allows_is_allowed_and_no_more(self):
        config = call(REALKUBE, "user", self.cluster, "reader").strip()
        self.kubectl("-n", self.namespace, "create", "role", "reader", "--verb=list",
                     "--resource=pods")
        self.kubectl("-n", self.namespace, "create", "rolebinding", "reader", "--role=reader",
                     "--user=reader")
        deadline = time.monotonic() + PATIENCE_SECONDS  # RBAC follows its own watch
        while True:
            try:
                call("kubectl", f"--kubeconfig={config}", "-n", self.namespace, "get", "pods")
                break
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
        call("kubectl", f"--kubeconfig={config}", "-n", "default", "get", "pods", fails=True)

    def test_a_watch_tells_of_every_change_in_order(self):
        lines = self.watch("configmaps")
        name = "watched"
        self.kubectl("-n", self.namespace, "create", "configmap", name)
        self.kubectl("-n", self.namespace, "label", "configmap", name, "changed=yes")
        self.kubectl("-n", self.namespace, "delete", "configmap", name)
        seen = []
        while len(seen) < 3:
            event = json.loads(lines.get(timeout=PATIENCE_SECONDS))
            if event["object"]["metadata"]["name"] == name:
                seen.append(event["type"])
        self.assertEqual(seen, ["ADDED", "MODIFIED", "DELETED"])

    def watch(self, resource):
        """Every namespace has a first configmap of its own, so that a watch speaks once it stands."""
        process = subprocess.Popen(
            ["kubectl", f"--kubeconfig={self.kubeconfig}", "-n", self.namespace, "get", "--raw",
             f"/api/v1/namespaces/{self.namespace}/{resource}?watch=true"],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lines = queue.Queue()
        threading.Thread(target=lambda: [lines.put(line) for line in process.stdout],
                         daemon=True).start()
        self.assertIn("kube-root-ca.crt", lines.get(timeout=PATIENCE_SECONDS))
        return lines


for cluster_name in CLUSTERS:
    title = cluster_name.capitalize()
    globals()[title] = type(title, (Smoke, unittest.TestCase), {"cluster": cluster_name})

if __name__ == "__main__":
    unittest.main()
