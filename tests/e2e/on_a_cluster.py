"""What tests on a real cluster share: kubectl, work, and a namespace that is thrown away."""
import os
import subprocess
import sys
import uuid
from pathlib import Path

from processes import eventually

REALKUBE = Path(__file__).resolve().parent.parent.parent / "tools" / "realkube" / "realkube"
sys.path.append(str(REALKUBE.parent))

from clusters import binaries, control_plane, layout, network  # noqa: E402
from clusters.processes import start, stop  # noqa: E402

PATIENCE_SECONDS = 60
AMOUNTS = {"cpu": "100m", "memory": "64Mi"}  # of a pod
STARTED = []  # which outlive the tests


def call(*command, stdin=None, fails=False):
    """The output of a command that must succeed, or the complaint of one that must fail."""
    done = subprocess.run([str(word) for word in command], input=stdin, text=True,
                          capture_output=True, check=False, timeout=PATIENCE_SECONDS)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{command} exits with {done.returncode}: {done.stderr}")
    return done.stderr if fails else done.stdout


def work(kind, name):
    """A Deployment or StatefulSet of one pod, which may run anywhere."""
    pod = {"metadata": {"labels": {"app": name}},
           "spec": {"terminationGracePeriodSeconds": 1,
                    "containers": [{"name": "main", "image": "none",
                                    "resources": {"requests": AMOUNTS, "limits": AMOUNTS}}]}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": pod,
                     **({"serviceName": name} if kind == "StatefulSet" else {})}}


def signal_api_server(cluster, how):
    """SIGSTOP: it takes connections and answers nothing, which is worse than being gone; SIGCONT: it goes on."""
    file = Path(os.environ["REALKUBE_STATE"]) / "clusters" / cluster / "pids" / "kube-apiserver"
    os.kill(int(file.read_text().split()[1]), how)  # after the boot's id


def kill_api_server(cluster):
    """It dies, and is started again as realkube had started it; back when it is ready."""
    found = layout.state_from(os.environ).cluster(cluster)
    file, log = found.pid_file("kube-apiserver"), found.logs / "kube-apiserver-again.log"
    programs = binaries.find([binaries.ALL["kube-apiserver"]])
    stop([file], grace_seconds=0)  # and waits until its port is free
    STARTED.append(start(file, log, control_plane.apiserver(found, programs), network.enter(found.namespace)))
    eventually("an API server that is ready", lambda: call(
        "kubectl", f"--kubeconfig={found.kubeconfig()}", "get", "--raw", "/readyz"), PATIENCE_SECONDS)


class OnACluster:
    """To be mixed with unittest.TestCase; `cluster` is a name that tests/e2e/run starts."""
    cluster = None

    def setUp(self):
        self.kubeconfig = os.environ[f"REALKUBE_KUBECONFIG_{self.cluster.upper()}"]
        self.namespace = f"e2e-{uuid.uuid4().hex[:8]}"
        self.kubectl("create", "namespace", self.namespace)
        self.addCleanup(self.kubectl, "delete", "namespace", self.namespace, "--wait=false")

    def kubectl(self, *arguments, **more):
        return call("kubectl", f"--kubeconfig={self.kubeconfig}", *arguments, **more)
