"""Broker, agent and autoscaler installed from the chart, with the chart's own rights, on the kubelet of the cluster
`real`. Run by tests/e2e/run, which has loaded the image."""
import json
import os
import tempfile
import time
import unittest
from pathlib import Path

from on_a_cluster import PATIENCE_SECONDS, OnACluster, call
from papers import make_papers

CHART = Path(__file__).resolve().parent.parent.parent / "deploy" / "charts" / "spillway"
SPILLWAY = "/usr/bin/spillway"
IDENTITY = ("--dir", "/data/broker/operator", "--broker", "https://127.0.0.1:7443")
# All that is free, in units that fit anything; played nodes are not for sale.
VALUES = {
    "image": {"pullPolicy": "Never"},
    "broker": {"enabled": True, "storage": {"persistent": False}},
    # A price and a country that are not what they were once helm has read them.
    "agent": {"policy": """
        noun: policy
        version: 1
        ladder: [{name: tiny, shape: {cpu: 100m, memory: 64Mi, pods: 1}}]
        price: {currency: EUR, cpu_hour: 0.00005}
        place: {latitude: 59.91, longitude: 10.75, country: NO}
        visibility: everyone
        """},
}
TLS = {"serverSecret": "calls", "clientCaSecret": "callers"}


def millis(text):
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


class Installed(OnACluster, unittest.TestCase):
    cluster = "real"

    def setUp(self):
        super().setUp()
        self.helm("install", "e2e", CHART, "-f", "-", stdin=json.dumps(VALUES))
        self.addCleanup(self.helm, "uninstall", "e2e", "--ignore-not-found")
        address = self.get("pod", "e2e-broker-0", "{.status.podIP}")
        token = self.as_operator("token", "create", "--cluster", "site", "--roles", "provider,consumer",
                                 "-o", "plain")
        self.helm("upgrade", "e2e", CHART, "--reuse-values", "-f", "-", stdin=json.dumps({
            "agent": {"enabled": True, "join": {"broker": f"https://{address}:7443",
                                                "token": token.split()[-1]}}}))

    def helm(self, verb, *arguments, **more):
        waiting = () if verb == "uninstall" else ("--wait", f"--timeout={PATIENCE_SECONDS - 5}s")
        return call(os.environ["HELM"], f"--kubeconfig={self.kubeconfig}", "-n", self.namespace,
                    verb, *arguments, *waiting, **more)

    def in_namespace(self, *arguments, **more):
        return self.kubectl("-n", self.namespace, *arguments, **more)

    def get(self, kind, name, what):
        return self.in_namespace("get", kind, name, "-o", f"jsonpath={what}")

    def as_operator(self, *words):
        return self.in_namespace("exec", "e2e-broker-0", "-c", "broker", "--", SPILLWAY, *words, *IDENTITY)

    def eventually(self, what):
        """What a question answers, as soon as it answers anything. Each question takes a process and its time."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            answer = what()
            if answer:
                return answer
        raise AssertionError("it did not come about in time")

    def holder(self):
        """The pod of the active agent."""
        return self.get("lease", "e2e-agent", "{.spec.holderIdentity}").rpartition("_")[0]

    def free_millis(self):
        """Of real nodes: what can be allocated less what pods ask for, as the scheduler counts."""
        nodes = {node["metadata"]["name"]: node for node in
                 json.loads(self.kubectl("get", "nodes", "-o", "json"))["items"]}
        free = sum(millis(node["status"]["allocatable"]["cpu"]) for node in nodes.values())
        for pod in json.loads(self.kubectl("get", "pods", "-A", "-o", "json"))["items"]:
            if pod["spec"].get("nodeName") in nodes and pod["status"]["phase"] in ("Pending", "Running"):
                free -= max(sum(millis(one.get("resources", {}).get("requests", {}).get("cpu", "0"))
                                for one in pod["spec"]["containers"]),
                            *(millis(one.get("resources", {}).get("requests", {}).get("cpu", "0"))
                              for one in pod["spec"].get("initContainers", [])), 0)
        return free

    def sold_millis(self):
        pools = json.loads(self.as_operator("pools", "-o", "json"))["pools"]
        return sum(millis(str(row["pool"]["capacity"]["cpu"])) for row in pools)

    def test_the_agent_joins_by_token_and_offers_what_is_free_and_may_do_no_more_than_it_must(self):
        self.eventually(lambda: "tiny" in self.as_operator("offers", "--all"))
        self.eventually(lambda: self.sold_millis() == self.free_millis() > 0)
        self.check_rights()
        self.check_pods()

    def test_another_agent_goes_on_when_the_active_one_is_gone_and_upgrades_lose_nothing(self):
        first = self.eventually(self.holder)
        self.eventually(lambda: "tiny" in self.as_operator("offers", "--all"))
        identity = self.get("secret", "e2e-agent-identity", "{.data.key\\.pem}")
        self.assertTrue(identity)
        self.in_namespace("delete", "pod", first, "--wait=false")
        second = self.eventually(lambda: (lambda name: name if name != first else "")(self.holder()))
        address = self.eventually(lambda: self.get("pod", second, "{.status.podIP}"))
        self.eventually(lambda: "spillway_agent_connected 1" in
                        call("curl", "-sS", "--max-time", "10", f"http://{address}:8080/metrics"))
        self.helm("upgrade", "e2e", CHART, "--reuse-values", "--set", "agent.resources.requests.cpu=60m")
        self.assertEqual(self.get("secret", "e2e-agent-identity", "{.data.key\\.pem}"), identity)
        self.helm("uninstall", "e2e")
        self.assertEqual(self.get("secret", "e2e-agent-identity", "{.data.key\\.pem}"), identity)
        self.kubectl("get", "clusterrole", f"{self.namespace}-e2e-agent", fails=True)
        self.helm("install", "e2e", CHART, "-f", "-", stdin=json.dumps({
            **VALUES, "agent": {"enabled": True}}))
        self.assertEqual(self.get("secret", "e2e-agent-identity", "{.data.key\\.pem}"), identity)
        self.eventually(lambda: self.get("lease", "e2e-agent", "{.spec.holderIdentity}"))

    def test_the_autoscaler_shows_what_is_on_sale_and_may_do_no_more_than_it_must(self):
        self.install_autoscaler()
        self.eventually(lambda: self.of_autoscaler("spillway_autoscaler_groups") > 0)
        self.check_autoscalers_rights()
        identity = self.get("secret", "e2e-autoscaler-identity", "{.data.key\\.pem}")
        first = self.autoscaler()["metadata"]["name"]
        self.in_namespace("delete", "pod", first, "--wait=false")
        self.eventually(lambda: self.autoscaler()["metadata"]["name"] != first and
                        self.of_autoscaler("spillway_autoscaler_connected") == 1)
        self.assertEqual(self.get("secret", "e2e-autoscaler-identity", "{.data.key\\.pem}"), identity)
        self.check_pods()

    def test_the_autoscaler_buys_as_the_agent_that_makes_its_nodes_and_may_only_read_who_that_is(self):
        # As far as it goes without Liqo: with it, test_fabric_member.py.
        self.kubectl("create", "namespace", "liqo")
        self.addCleanup(self.kubectl, "delete", "namespace", "liqo", "--wait=false")
        self.make_tls()
        self.helm("upgrade", "e2e", CHART, "--reuse-values", "-f", "-", stdin=json.dumps({
            "agent": {"fabric": "liqo", "fabricGuard": False},
            "autoscaler": {"enabled": True, "backEnd": "liqo", "tls": TLS}}))
        self.eventually(lambda: self.of_autoscaler("spillway_autoscaler_connected") == 1)
        self.in_namespace("get", "secret", "e2e-autoscaler-identity", fails=True)
        self.check_members_rights()
        self.check_pods()

    def make_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            papers = make_papers(Path(folder) / "papers")
            self.in_namespace("create", "secret", "tls", "calls", f"--cert={papers}/server.pem",
                              f"--key={papers}/server.key")
            self.in_namespace("create", "secret", "generic", "callers", f"--from-file=ca.crt={papers}/authority.pem")

    def install_autoscaler(self):
        self.make_tls()
        token = self.as_operator("token", "create", "--cluster", "buyer", "--roles", "consumer", "-o", "plain")
        address = self.get("pod", "e2e-broker-0", "{.status.podIP}")
        self.helm("upgrade", "e2e", CHART, "--reuse-values", "-f", "-", stdin=json.dumps({"autoscaler": {
            "enabled": True, "join": {"broker": f"https://{address}:7443", "token": token.split()[-1]},
            "tls": TLS, "expander": {"enabled": True}}}))

    def autoscaler(self):
        """Its pod, of several the one that is not ending."""
        pods = json.loads(self.in_namespace("get", "pods", "-l", "app.kubernetes.io/component=autoscaler", "-o", "json"))
        return next(pod for pod in pods["items"] if not pod["metadata"].get("deletionTimestamp"))

    def of_autoscaler(self, gauge):
        address = self.autoscaler()["status"].get("podIP")
        told = call("sh", "-c", f"curl -sS --max-time 10 http://{address}:8080/metrics 2>/dev/null || true")
        return next((float(line.split()[1]) for line in told.splitlines() if line.startswith(f"{gauge} ")), 0)

    def check_autoscalers_rights(self):
        account = f"system:serviceaccount:{self.namespace}:e2e-autoscaler"
        for right, allowed in {
            ("create", "nodes"): True,
            ("delete", "nodes"): True,
            ("watch", "nodes"): True,
            ("watch", "pods", "-A"): True,
            ("create", "events"): True,
            ("update", "secrets/e2e-autoscaler-state"): True,
            ("patch", "nodes"): False,
            ("patch", "events"): False,
            ("update", "nodes/status"): False,
            ("delete", "pods"): False,
            ("create", "pods"): False,
            ("list", "secrets"): False,
            ("get", "secrets/e2e-agent-identity"): False,
            ("get", "secrets/calls"): False,
            ("create", "secrets"): False,
        }.items():
            with self.subTest(right=right):
                scope = () if right[-1] == "-A" else ("-n", self.namespace)
                self.assertEqual(self.can(account, *right, *scope), "yes" if allowed else "no")

    def check_members_rights(self):
        account = f"system:serviceaccount:{self.namespace}:e2e-autoscaler"
        for right, allowed in {
            ("get", "secrets/e2e-agent-identity"): True,
            ("update", "secrets/e2e-agent-identity"): False,
            ("get", "secrets/e2e-agent-state"): False,
            ("update", "secrets/e2e-autoscaler-state"): True,
            ("update", "leases/e2e-agent"): False,
            ("get", "secrets/authentication-keys", "-n", "liqo"): True,
            ("get", "secrets/other", "-n", "liqo"): False,
            ("watch", "nodes"): True,
            ("create", "nodes"): False,
            ("delete", "nodes"): False,
        }.items():
            with self.subTest(right=right):
                scope = () if right[-1] == "-A" or "-n" in right else ("-n", self.namespace)
                self.assertEqual(self.can(account, *right, *scope), "yes" if allowed else "no")
        for verb, allowed in {"watch": True, "patch": True, "delete": False, "create": False}.items():
            with self.subTest(slices=verb):
                self.assertEqual(self.may(account, verb, "authentication.liqo.io", "resourceslices"), allowed)

    def check_rights(self):
        self.in_namespace("create", "secret", "generic", "other", "--from-literal=a=b")
        account = f"system:serviceaccount:{self.namespace}:e2e-agent"
        for right, allowed in {
            ("list", "pods", "-A"): True,
            ("watch", "nodes"): True,
            ("get", "secrets/e2e-agent-identity"): True,
            ("update", "secrets/e2e-agent-state"): True,
            ("update", "leases/e2e-agent"): True,
            ("get", "secrets/other"): False,
            ("get", "secrets/e2e-agent-token"): False,
            ("list", "secrets"): False,
            ("create", "secrets"): False,
            ("delete", "secrets/e2e-agent-identity"): False,
            ("create", "leases"): False,
            ("update", "leases/other"): False,
            ("create", "configmaps"): True,  # papers, in its own namespace and nowhere else
            ("get", "configmaps", "-A"): False,
            ("watch", "configmaps"): False,
            ("create", "pods"): False,
            ("update", "pods"): False,
            ("delete", "pods"): False,
            ("create", "pods/exec"): False,
            ("patch", "nodes"): False,
            ("patch", "events"): False,
        }.items():
            with self.subTest(right=right):
                scope = () if right[-1] == "-A" else ("-n", self.namespace)
                self.assertEqual(self.can(account, *right, *scope), "yes" if allowed else "no")
        self.assertIn("forbidden", self.in_namespace("get", "secret", "other", f"--as={account}", fails=True).lower())

    def can(self, account, *right):
        """yes or no; a no also makes kubectl fail, a no with a reason has it on the same line."""
        told = call("sh", "-c", 'kubectl "$@" 2>/dev/null || true', "kubectl", f"--kubeconfig={self.kubeconfig}",
                    "auth", "can-i", *right, f"--as={account}")
        return told.split()[0]

    def may(self, account, verb, group, kind):
        """Of kinds that this cluster does not have: kubectl auth can-i knows no rights to those."""
        asked = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                 "spec": {"user": account, "resourceAttributes": {"verb": verb, "group": group, "resource": kind}}}
        told = call("kubectl", f"--kubeconfig={self.kubeconfig}", "create", "-f", "-", "-o", "json", stdin=json.dumps(asked))
        return json.loads(told)["status"]["allowed"]

    def check_pods(self):
        pods = json.loads(self.in_namespace("get", "pods", "-o", "json"))["items"]
        self.assertGreaterEqual(len(pods), 3)
        for pod in pods:
            spec = pod["spec"]
            self.assertTrue(spec["securityContext"]["runAsNonRoot"])
            self.assertEqual(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault")
            for container in spec["containers"] + spec.get("initContainers", []):
                own = container["securityContext"]
                self.assertTrue(own["readOnlyRootFilesystem"])
                self.assertFalse(own["allowPrivilegeEscalation"])
                self.assertEqual(own["capabilities"]["drop"], ["ALL"])
                self.assertIn("memory", container["resources"]["limits"])


if __name__ == "__main__":
    unittest.main()
