"""What tests on a real cluster share: kubectl, and a namespace that is thrown away."""
import os
import subprocess
import uuid
from pathlib import Path

REALKUBE = Path(__file__).resolve().parent.parent.parent / "tools" / "realkube" / "realkube"
PATIENCE_SECONDS = 60


def call(*command, stdin=None, fails=False):
    """The output of a command that must succeed, or the complaint of one that must fail."""
    done = subprocess.run([str(word) for word in command], input=stdin, text=True,
                          capture_output=True, check=False, timeout=PATIENCE_SECONDS)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{command} exits with {done.returncode}: {done.stderr}")
    return done.stderr if fails else done.stdout


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
