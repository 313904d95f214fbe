"""Everything that happens to Liqo's objects on both clusters, and in the book, each with the moment at which it was
heard of, by one clock. All watches are open before anything is measured."""
import http.client
import json
import ssl
import threading
import time
from dataclasses import dataclass, field

from fabric.access import path_of

PEERS = "?labelSelector=liqo.io/remote-cluster-id&"
KINDS = {"namespaces": PEERS, "secrets": PEERS, "nodes": "?labelSelector=liqo.io/type%3Dvirtual-node&",
         "tenants": "?", "identities": "?", "resourceslices": "?", "virtualnodes": "?"}
PATIENCE_SECONDS = 60
WATCH_SECONDS = 6 * 3600


class Late(AssertionError):
    """Something that was waited for did not happen."""


@dataclass
class Event:
    moment: float
    side: str  # of which cluster; "book": of the broker
    kind: str
    name: str
    is_gone: bool = False
    thing: dict = field(default_factory=dict)


class Journal:
    def __init__(self):
        self.events, self.changed = [], threading.Condition()

    def tell(self, event):
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def mark(self):
        """To look from here on."""
        with self.changed:
            return len(self.events)

    def since(self, mark, what, within=PATIENCE_SECONDS):
        """Events as they come; it is Late when there is none for too long in sum."""
        deadline = time.monotonic() + within
        while True:
            with self.changed:
                while len(self.events) <= mark:
                    if not self.changed.wait(deadline - time.monotonic()):
                        raise Late(f"{what}: not within {within} s")
                event = self.events[mark]
            mark += 1
            yield event

    def moment(self, what, mark, test, within=PATIENCE_SECONDS):
        """When something happened."""
        return next(event for event in self.since(mark, what, within) if test(event)).moment

    def gone(self, side, names, mark):
        """When the last of these was: names by kind."""
        return max(self.moment(f"{kind} {name} gone at {side}", mark, lambda event, kind=kind, name=name: (
            event.is_gone and (event.side, event.kind, event.name) == (side, kind, name)))
            for kind, name in names)

    def watch(self, side, access):
        for kind, chosen in KINDS.items():
            opened = threading.Event()
            path = f"{path_of(kind)}{chosen}watch=1&timeoutSeconds={WATCH_SECONDS}"
            threading.Thread(target=self._read, args=(side, kind, access, path, opened), daemon=True).start()
            if not opened.wait(PATIENCE_SECONDS):
                raise Late(f"a watch on {kind} of {side}")

    def _read(self, side, kind, access, path, opened):
        link = access.link(timeout=None)
        link.request("GET", path)
        answer = link.getresponse()
        opened.set()
        while line := answer.readline():
            moment = time.monotonic()
            event = json.loads(line)
            if event["type"] == "ERROR":
                break
            thing = event["object"]
            self.tell(Event(moment, side, kind, thing["metadata"]["name"], event["type"] == "DELETED", thing))

    def follow_book(self, port, identity):
        """What the broker tells whoever that identity is: name is the subject."""
        context = ssl.create_default_context(cafile=identity / "authorities.pem")
        context.load_cert_chain(identity / "certificate.pem", identity / "key.pem")
        link = http.client.HTTPSConnection("127.0.0.1", port, context=context)
        link.request("GET", "/v1/events", headers={"Accept": "text/event-stream"})
        answer = link.getresponse()
        if answer.status != 200:
            raise Late(f"the book's events: {answer.status} {answer.read()[:300]}")

        def read():
            while line := answer.readline():
                moment = time.monotonic()
                if line.startswith(b"data:"):
                    said = json.loads(line[5:])
                    self.tell(Event(moment, "book", said.get("kind", ""), said.get("subject", "")))
        threading.Thread(target=read, daemon=True).start()


def accepted(thing):
    """A slice that is Accepted in both ways."""
    said = {one["type"]: one["status"] for one in thing.get("status", {}).get("conditions", [])}
    return said.get("Authentication") == said.get("Resources") == "Accepted"


def authenticated(thing):
    return any(one["type"] == "Authentication" and one["status"] == "Accepted"
               for one in thing.get("status", {}).get("conditions", []))


def waiting(thing):
    """A node whose virtual kubelet says that it is not Ready."""
    return any(one["type"] == "Ready" and one["status"] == "False"
               for one in thing.get("status", {}).get("conditions", []))


def ready(thing):
    return any(one["type"] == "Ready" and one["status"] == "True"
               for one in thing.get("status", {}).get("conditions", []))
