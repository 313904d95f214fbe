"""Pods that really run: on the kubelet of the cluster `real`. Run by tests/e2e/run."""
import json
import unittest

from on_a_cluster import PATIENCE_SECONDS, OnACluster, call

IMAGE = "realkube.local/busybox:1"
SERVE = "echo started; mkdir /www; echo here >/www/index.html; exec httpd -f -p 8080 -h /www"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


class RealPods(OnACluster, unittest.TestCase):
    cluster = "real"

    def setUp(self):
        super().setUp()
        self.in_namespace("wait", "--for=create", "serviceaccount/default",
                          f"--timeout={PATIENCE_SECONDS - 5}s")
        self.in_namespace("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
            "spec": {"terminationGracePeriodSeconds": 1, "containers": [
                {"name": "web", "image": IMAGE, "command": ["sh", "-c", SERVE],
                 "resources": {"requests": {"cpu": "50m", "memory": "16Mi"}}}]}}))
        self.in_namespace("wait", "--for=condition=Ready", "pod/web",
                          f"--timeout={PATIENCE_SECONDS - 5}s")

    def in_namespace(self, *arguments, **more):
        return self.kubectl("-n", self.namespace, *arguments, **more)

    def test_its_words_are_in_the_log_and_a_command_runs_in_it(self):
        self.assertEqual(self.in_namespace("logs", "web"), "started\n")
        self.assertEqual(self.in_namespace("exec", "web", "--", "cat", "/www/index.html"), "here\n")

    def test_it_is_reached_by_its_address(self):
        address = self.in_namespace("get", "pod", "web", "-o", "jsonpath={.status.podIP}")
        self.assertEqual(call("curl", "-sS", "--max-time", "10", f"http://{address}:8080/"), "here\n")

    def test_it_reaches_the_api_server_by_the_service_address_and_is_known_there(self):
        ask = (f'wget -q -O- --no-check-certificate --header "Authorization: Bearer $(cat {ACCOUNT}/token)"'
               ' "https://$KUBERNETES_SERVICE_HOST/api/v1/namespaces/default/pods" 2>&1')
        self.assertIn("403", self.in_namespace("exec", "web", "--", "sh", "-c", f"{ask} || true"))
        self.kubectl("create", "clusterrolebinding", self.namespace, "--clusterrole=view",
                     f"--serviceaccount={self.namespace}:default")
        self.addCleanup(self.kubectl, "delete", "clusterrolebinding", self.namespace)
        self.in_namespace("exec", "web", "--", "sh", "-c",
                          f"for try in $(seq 100); do {ask} | grep PodList && exit; done; exit 1")

    def test_it_ends_when_it_is_deleted(self):
        self.in_namespace("delete", "pod", "web", f"--timeout={PATIENCE_SECONDS - 5}s")
        self.in_namespace("get", "pod", "web", fails=True)


if __name__ == "__main__":
    unittest.main()
