"""Clusters that scale over a market: `spillway autoscaler` and a Cluster Autoscaler, each with the rights that we tell
users to give them, and the work that makes them scale. The cluster `home` has one small node of its own."""
import json
import os
import shutil
import signal
import tempfile
import unittest
from pathlib import Path

from market import ROOT, Market
from on_a_cluster import PATIENCE_SECONDS, OnACluster, call
from papers import make_papers
from processes import eventually, free_port

BINARIES = [Path(one) for one in os.environ.get("CLUSTER_AUTOSCALER_BIN", "").split(":") if one]
# The Cluster Autoscaler looks at the instances of a group every two minutes, and no flag changes that: so long it may
# take until it hears that one has failed.
FAILURE_SECONDS = 240
SCALE_SECONDS = 90
# Its minutes are our seconds. What was refused once is not asked again in the same test.
QUICK = ("--scan-interval=2s", "--scale-down-unneeded-time=6s", "--scale-down-delay-after-add=4s",
         "--scale-down-delay-after-failure=4s", "--unremovable-node-recheck-timeout=4s",
         "--initial-node-group-backoff-duration=5m", "--max-node-group-backoff-duration=5m")
UNITS = "liqo.io/type=virtual-node"
TOLERATION = {"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists"}
CHART = ROOT / "deploy" / "charts" / "spillway"
SPACE = "kube-system"


def name_of(binary):
    """cluster-autoscaler-1.30.4 → _1_30_4: a part of a class's name."""
    return "_" + "".join(c if c.isalnum() else "_" for c in binary.name.rpartition("-")[2])


def with_every_binary(scope, *suites, base=unittest.TestCase):
    """Each suite once for every binary. Without any there is nothing to run: tests/e2e/run says so."""
    for suite in suites:
        for binary in BINARIES:
            title = suite.__name__ + name_of(binary)
            scope[title] = type(title, (suite, base), {"binary": binary, "__module__": suite.__module__})


def deployment(name, replicas, cpu="900m", **pod):
    """Pods of 900m: one fits the cluster's own node, two a unit of two cores. They tolerate what keeps others away."""
    amounts = {"cpu": cpu, "memory": "64Mi"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"terminationGracePeriodSeconds": 1, "tolerations": [TOLERATION], **pod, "containers": [
                {"name": "work", "image": "none", "resources": {"requests": amounts, "limits": amounts}}]}}}}


class Scalers:
    """To be mixed with unittest.TestCase and whoever has `folder`, `market`, `papers`, and of the cluster that scales
    `kubeconfig`, `namespace` and `at_home`, its kubectl. `binary` is the Cluster Autoscaler."""
    binary = None
    VALUES = "autoscaler.enabled=true,autoscaler.tls.serverSecret=s,autoscaler.tls.clientCaSecret=c"  # of the chart

    def keep_logs(self):
        logs = Path(os.environ["REALKUBE_STATE"]) / "logs" / "autoscaling" / self.id().rpartition("test_")[2][:60]
        version = type(self).__name__
        logs = logs.with_name(f"{version}-{logs.name}")
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        for log in self.folder.glob("**/*.log"):
            shutil.copy(log, logs / "-".join(log.relative_to(self.folder).parts))

    # ---- who is at work ----

    def start_autoscaler(self, *more, market=None, identity=None, seen="the cluster's nodes are seen"):
        """Ours, with the account that the chart makes for it; once it has said `seen`."""
        market, identity = market or self.market, identity or self.home
        port = free_port()
        rendered = call(os.environ["HELM"], "template", "e2e", CHART, "-n", SPACE, "--kube-version", "1.34.0",
                        "--set", self.VALUES, "--show-only", "templates/autoscaler-rights.yaml")
        # What has a namespace of its own is in Liqo's, and kubectl takes one at a time.
        for is_placed, space in ((True, ()), (False, ("-n", SPACE))):
            objects = [one for one in rendered.split("\n---\n") if ("\n  namespace: " in one) == is_placed]
            if objects:
                self.at_home(*space, "apply", "-f", "-", stdin="\n---\n".join(objects))
        program = market.program(
            "autoscaler", "autoscaler", "--dir", identity, "--kubeconfig", self.account("e2e-autoscaler"), "--listen",
            f"127.0.0.1:{port}", "--tls-cert", self.papers / "server.pem",
            "--tls-key", self.papers / "server.key", "--client-ca", self.papers / "authority.pem", *more)
        program.port = port
        program.start()
        eventually("the autoscaler", lambda: program.says(seen), PATIENCE_SECONDS)
        return program

    def start_cluster_autoscaler(self, server, *more, name="cluster-autoscaler"):
        """The real one, with the account of deploy/cluster-autoscaler."""
        self.at_home("apply", "-f", ROOT / "deploy" / "cluster-autoscaler" / "rights.yaml")
        config = self.folder / f"{name}.yaml"
        config.write_text("".join(f"{key}: {value}\n" for key, value in {
            "address": f"127.0.0.1:{server.port}", "key": self.papers / "client.key",
            "cert": self.papers / "client.pem", "cacert": self.papers / "authority.pem",
            "grpc_timeout": "10s"}.items()))
        program = self.market.program(name, command=[
            self.binary, "--cloud-provider=externalgrpc", f"--cloud-config={config}",
            f"--kubeconfig={self.account('cluster-autoscaler')}", f"--namespace={SPACE}", "--leader-elect=false",
            f"--address=127.0.0.1:{free_port()}", "--expander=price", "--v=2", *QUICK, *more])
        return program.start()

    def account(self, name):
        """The kubeconfig of a service account."""
        told = json.loads(Path(self.kubeconfig).read_text())
        token = eventually(f"a token of {name}", lambda: self.at_home("-n", SPACE, "create", "token", name,
                                                                     "--duration=1h"), PATIENCE_SECONDS).strip()
        told["users"] = [{"name": one["name"], "user": {"token": token}} for one in told["users"]]
        file = self.folder / f"{name}.kubeconfig"
        file.write_text(json.dumps(told))
        return file

    # ---- what is there ----

    def work(self, replicas, name="work", **more):
        self.at_home("-n", self.namespace, "apply", "-f", "-", stdin=json.dumps(deployment(name, replicas, **more)))

    def pods(self):
        return json.loads(self.at_home("-n", self.namespace, "get", "pods", "-o", "json"))["items"]

    def running(self):
        return [pod for pod in self.pods() if pod["status"]["phase"] == "Running" and
                not pod["metadata"].get("deletionTimestamp")]

    def nodes(self, provider=None):
        """Names of nodes that are units."""
        selector = UNITS + (f",spillway.dev/provider={provider}" if provider else "")
        told = json.loads(self.at_home("get", "nodes", "-l", selector, "-o", "json"))
        return {node["metadata"]["name"] for node in told["items"]}

    def held(self, identity=None):
        """The nodes that there should be, by the broker's book."""
        return {f"sw-{one['id']}-{unit['number']}" for one in self.market.contracts(identity or self.home)
                for unit in one["units"] if unit.get("live", True)}

    # ---- what is to come about ----

    def all_run(self, replicas, within=SCALE_SECONDS):
        eventually(f"{replicas} pods running", lambda: len(self.running()) == replicas, within)

    def nodes_are_what_is_held(self, count=None, within=SCALE_SECONDS):
        """Nothing is bought twice, nothing is lost: each unit that is paid for is a node, and no other is."""
        def same():
            held, nodes = self.held(), self.nodes()
            if held != nodes or (count is not None and len(nodes) != count):
                raise AssertionError(f"held: {sorted(held)}, nodes: {sorted(nodes)}")
            return True
        eventually("nodes as they are held", same, within)

    def nothing_is_left(self):
        """And nobody has wanted to do what its account may not do."""
        self.work(0)
        self.nodes_are_what_is_held(0)
        for log in self.folder.glob("**/*.log"):
            self.assertNotIn("forbidden", log.read_text(errors="replace").lower(), log)


class Autoscaling(Scalers, OnACluster):
    """The cluster `home`, with a market of its own."""
    cluster = "home"

    def setUp(self):
        super().setUp()
        self.folder = Path(tempfile.mkdtemp(prefix="e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.keep_logs)
        self.addCleanup(self.clear)
        self.market = Market(self.folder)
        self.addCleanup(self.market.close)
        self.papers = make_papers(self.folder / "papers")
        self.home = self.market.join("home", "consumer")

    def at_home(self, *words, **more):
        return self.kubectl(*words, **more)

    def clear(self):
        """And all work: the next test's Cluster Autoscaler would scale for it."""
        self.kubectl("-n", self.namespace, "delete", "deployments", "--all", "--cascade=foreground", "--wait=false")
        eventually("no pods", lambda: not self.forced_away(), PATIENCE_SECONDS)
        self.kubectl("delete", "nodes", "-l", UNITS, "--ignore-not-found")

    def forced_away(self):
        self.kubectl("-n", self.namespace, "delete", "pods", "--all", "--force", "--grace-period=0")
        return self.pods()

    def kwok(self, how):
        """Stops the one that plays the nodes (signal.SIGSTOP), or lets it go on."""
        file = Path(os.environ["REALKUBE_STATE"]) / "clusters" / self.cluster / "pids" / "kwok"
        os.kill(int(file.read_text().split()[1]), how)  # after the boot's id
        if how == signal.SIGSTOP:
            self.addCleanup(self.kwok, signal.SIGCONT)
