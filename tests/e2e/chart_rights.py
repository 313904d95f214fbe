"""The rights that our chart gives, on a real cluster, and kubeconfigs of its accounts: for processes that run beside the
cluster and may do what these may, and no more."""
import json
import os
import re
import uuid

from market import ROOT
from on_a_cluster import PATIENCE_SECONDS, call
from processes import eventually

CHART = ROOT / "deploy" / "charts" / "spillway"
RIGHTS = {"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}


class Release:
    """Called `e2e`, in a namespace of its own; of what the chart makes only `kinds`. It goes with the test, which is one
    on two clusters with a market."""

    def __init__(self, test, side, values, kinds=RIGHTS):
        self.kubectl, self.side, self.folder = test.kubectl, side, test.market.folder
        self.space = f"e2e-{uuid.uuid4().hex[:8]}"
        self.kubectl(side, "create", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.space}}))
        test.addCleanup(self.kubectl, side, "delete", "namespace", self.space, "--wait=false")
        rendered = call(os.environ["HELM"], "template", "e2e", CHART, "-n", self.space, "--kube-version", "1.34.0",
                        "--set", values)
        objects = "\n---\n".join(one for one in rendered.split("\n---\n")
                                 if set(re.findall(r"^kind: (\w+)$", one, re.MULTILINE)) & kinds)
        admin = f"--kubeconfig={self.at_home('admin')}"  # not -n: some of them are in Liqo's namespace
        call("kubectl", admin, "apply", "-f", "-", stdin=objects)
        test.addCleanup(call, "kubectl", admin, "delete", "--ignore-not-found", "--wait=false", "-f", "-", stdin=objects)

    def account(self, name):
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        told = eventually(f"a token of {name}", lambda: self.kubectl(
            self.side, "create", "--raw", f"/api/v1/namespaces/{self.space}/serviceaccounts/{name}/token", "-f", "-",
            stdin=json.dumps(asked)), PATIENCE_SECONDS)
        return self.at_home(name, {"token": json.loads(told)["status"]["token"]})

    def at_home(self, name, user=None):
        """A kubeconfig whose namespace is that of the release; without a user, the one that there is."""
        told = json.loads(self.kubectl(self.side, "config", "view", "--raw", "-o", "json"))
        if user:
            told["users"] = [{"name": one["name"], "user": user} for one in told["users"]]
        for context in told["contexts"]:
            context["context"]["namespace"] = self.space
        file = self.folder / f"{self.side}-{name}.kubeconfig"
        file.write_text(json.dumps(told))
        return file
