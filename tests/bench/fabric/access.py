"""An API server, by one connection that stays open: no program is started to ask it something."""
import base64
import http.client
import json
import re
import ssl
import tempfile
from pathlib import Path

AUTHENTICATION, OFFLOADING = "/apis/authentication.liqo.io/v1beta1", "/apis/offloading.liqo.io/v1beta1"
ROOTS = {"tenants": AUTHENTICATION, "identities": AUTHENTICATION, "resourceslices": AUTHENTICATION,
         "virtualnodes": OFFLOADING, "namespacemaps": OFFLOADING, "quotas": OFFLOADING,
         "namespaceoffloadings": OFFLOADING, "deployments": "/apis/apps/v1",
         "renews": AUTHENTICATION, "leases": "/apis/coordination.k8s.io/v1"}
MERGE = "application/merge-patch+json"
SECONDS = 60


class Refused(AssertionError):
    """An answer that was not hoped for."""

    def __init__(self, what, status, said):
        super().__init__(f"{what}: {status} {said[:300]}")
        self.status = status


def path_of(kind, space="", name=""):
    inside = f"/namespaces/{space}" if space else ""
    return f"{ROOTS.get(kind, '/api/v1')}{inside}/{kind}" + (f"/{name}" if name else "")


class Access:
    """Where a cluster is and as whom it is asked: of a kubeconfig with everything inline, JSON or YAML."""

    def __init__(self, kubeconfig):
        text = Path(kubeconfig).read_text()

        def field(name):
            return re.search(rf'"?{name}"?:\s*"?([^\s",]+)', text)[1]
        self.host = field("server").removeprefix("https://")
        with tempfile.TemporaryDirectory() as folder:
            names = ("certificate-authority", "client-certificate", "client-key")
            files = {name: Path(folder) / name for name in names}
            for name, file in files.items():
                file.write_bytes(base64.b64decode(field(f"{name}-data")))
            self.context = ssl.create_default_context(cafile=files["certificate-authority"])
            self.context.load_cert_chain(files["client-certificate"], files["client-key"])

    def link(self, timeout=SECONDS):
        return http.client.HTTPSConnection(self.host, context=self.context, timeout=timeout)


class Api:
    """`begin` and `end` apart, so that two clusters can be asked at once."""

    def __init__(self, access):
        self.link = access.link()
        self.what = ""

    def begin(self, method, path, body=None, form="application/json"):
        self.what = f"{method} {path}"
        data = None if body is None else json.dumps(body).encode()
        self.link.request(method, path, data, {"Content-Type": form} if data else {})

    def end(self, fine=()):
        answer = self.link.getresponse()
        said = answer.read()
        if answer.status >= 300 and answer.status not in fine:
            raise Refused(self.what, answer.status, said.decode(errors="replace"))
        return json.loads(said)

    def call(self, method, path, body=None, form="application/json", fine=()):
        self.begin(method, path, body, form)
        return self.end(fine)

    def create(self, kind, thing, fine=()):
        return self.call("POST", path_of(kind, thing["metadata"].get("namespace", "")), thing, fine=fine)

    def merge(self, path, patch, fine=()):
        return self.call("PATCH", path, patch, MERGE, fine)

    def remove(self, path):
        return self.call("DELETE", path, fine=(404,))

    def items(self, kind, space="", chosen=""):
        return self.call("GET", path_of(kind, space) + chosen)["items"]
