"""A tape of what happens to Liqo's objects on two clusters, and what may be kept of it.

Every version of every object that the API servers tell of, in the order of each kind. What is kept
holds no private key and no address of the clusters: keys are replaced by one that was made for this,
addresses by those that are for documentation.
"""
import base64
import json
import re
import subprocess
import threading
import time

from on_a_cluster import call

AUTHENTICATION, OFFLOADING = "authentication.liqo.io/v1beta1", "offloading.liqo.io/v1beta1"
KINDS = {
    "secrets": "/api/v1/secrets",
    "namespaces": "/api/v1/namespaces?labelSelector=liqo.io/remote-cluster-id",
    "nodes": "/api/v1/nodes?labelSelector=liqo.io/type%3Dvirtual-node",
    "pods": "/api/v1/pods?labelSelector=tape%3Dguest",
    **{kind: f"/apis/{AUTHENTICATION}/{kind}" for kind in ("tenants", "identities", "resourceslices")},
    **{kind: f"/apis/{OFFLOADING}/{kind}" for kind in (
        "quotas", "virtualnodes", "namespaceoffloadings", "namespacemaps", "shadowpods")},
    "foreignclusters": "/apis/core.liqo.io/v1beta1/foreignclusters",
}
SECRETS = ("liqo.io/nonce", "liqo.io/signed-nonce", "liqo.io/identity-type")
KEY = re.compile(r"-----BEGIN PRIVATE KEY-----.*?-----END PRIVATE KEY-----\n?", re.DOTALL)
KEPT_OF_METADATA = ("name", "namespace", "labels", "annotations", "uid", "resourceVersion", "generation",
                    "creationTimestamp", "deletionTimestamp", "finalizers", "ownerReferences")


class Tape:
    """`kubeconfigs` by the side that they are of."""

    def __init__(self, kubeconfigs):
        self.kubeconfigs = kubeconfigs
        self.changed = threading.Condition()
        self.now, self.events, self.watches = {}, [], []
        for side in kubeconfigs:
            for kind in KINDS:
                self._watch(side, kind)

    def _watch(self, side, kind):
        path = KINDS[kind] + ("&" if "?" in KINDS[kind] else "?") + "watch=true"
        watch = subprocess.Popen(
            ["kubectl", f"--kubeconfig={self.kubeconfigs[side]}", "get", "--raw", path],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.watches.append(watch)
        threading.Thread(target=self._listen, args=(side, kind, watch.stdout), daemon=True).start()

    def _listen(self, side, kind, lines):
        for line in lines:
            event = json.loads(line)
            thing = event["object"]
            if kind == "secrets" and not is_of_liqo(thing):
                continue
            key = (side, kind, thing["metadata"].get("namespace", ""), thing["metadata"]["name"])
            with self.changed:
                if event["type"] == "DELETED":
                    self.now.pop(key, None)
                else:
                    self.now[key] = thing
                self.events.append({"side": side, "event": event["type"], "object": thing})
                self.changed.notify_all()

    def find(self, side, kind, name, namespace=None):
        """The object as it was last told of, or None."""
        with self.changed:
            for (at, of, space, called), thing in self.now.items():
                if (at, of, called) == (side, kind, name) and namespace in (None, space):
                    return thing
        return None

    def wait(self, what, true, seconds=90):
        """Until something is true of what was told; asked again at every event."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not true():
                if not self.changed.wait(deadline - time.monotonic()):
                    raise AssertionError(f"{what}: not within {seconds} s")

    def cut(self):
        """What was heard since the last cut."""
        with self.changed:
            heard, self.events = self.events, []
        return heard

    def close(self):
        for watch in self.watches:
            watch.kill()
            watch.wait()


def is_of_liqo(secret):
    labels = secret["metadata"].get("labels", {})
    return (secret["metadata"]["name"] == "authentication-keys"
            or any(label in labels for label in SECRETS))


class Cleaner:
    """Makes what was heard fit to be kept; the same thing becomes the same thing everywhere."""

    def __init__(self):
        self.addresses, self.last = {}, {}
        self.key = call("openssl", "genpkey", "-algorithm", "ed25519")

    def clean(self, events):
        """Without versions in which nothing changed but a number or a time of the watch."""
        kept = []
        for event in events:
            thing = self._clean(event["object"])
            key = (event["side"], thing["kind"], thing["metadata"].get("namespace"),
                   thing["metadata"]["name"])
            content = json.dumps(_without_beats(thing), sort_keys=True)
            if event["event"] == "MODIFIED" and self.last.get(key) == content:
                continue
            self.last[key] = content
            kept.append({"side": event["side"], "event": event["event"], "object": thing})
        return kept

    def _clean(self, thing):
        metadata = {name: thing["metadata"][name] for name in KEPT_OF_METADATA
                    if name in thing["metadata"]}
        kept = self._walk({**thing, "metadata": metadata})
        kept.get("spec", {}).pop("template", None)  # of a virtual kubelet: large, and Liqo's alone
        return kept

    def _walk(self, value):
        if isinstance(value, dict):
            return {key: self._walk(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self._walk(part) for part in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text):
        plain = _decoded(text)
        if plain is not None and ("PRIVATE KEY" in plain or "client-key-data" in plain):
            return base64.b64encode(self._plain(plain).encode()).decode()
        return self._plain(text)

    def _plain(self, text):
        text = KEY.sub(lambda _: self.key, text)
        text = re.sub(r"(client-key-data: )\S+",
                      lambda found: found[1] + base64.b64encode(self.key.encode()).decode(), text)
        return re.sub(r"\b10\.\d+\.\d+\.\d+\b", lambda found: self.addresses.setdefault(
            found[0], f"192.0.2.{len(self.addresses) + 1}"), text)


def _decoded(text):
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        return None


def _without_beats(thing):
    if isinstance(thing, dict):
        return {key: _without_beats(part) for key, part in thing.items()
                if key not in ("resourceVersion", "lastHeartbeatTime")}
    return [_without_beats(part) for part in thing] if isinstance(thing, list) else thing
