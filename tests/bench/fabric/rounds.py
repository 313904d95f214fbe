"""Rounds: each way of doing it gets its turn in each of them, the first one another each time, and what it has made is
taken down before the next. A turn that fails is named and counted, and its figures do not count."""
import sys
import time

from liqo_objects import AT_BUYER, AT_SELLER, BUYER, SELLER
from processes import eventually

from fabric.access import Refused, path_of

FAILURES = (AssertionError, OSError, ValueError, KeyError, TimeoutError)
GONE_SECONDS = 20
WARM_TIMES = 3  # in one turn: its own share is small, and wants more of them


class Stage:
    """The two clusters between turns."""

    def __init__(self, apis):
        self.apis = apis

    def clear(self):
        """No tenant namespaces, on either side: the next peering is a first one."""
        spaces = ((BUYER, AT_BUYER), (SELLER, AT_SELLER))
        for side, space in spaces:
            self.apis[side].remove(path_of("namespaces", name=space))
        for side, space in spaces:
            try:
                eventually(f"{space} gone", lambda s=side, n=space: self.is_gone(s, n), GONE_SECONDS, 0.1)
            except AssertionError:
                self.free(side, space)
                eventually(f"{space} gone", lambda s=side, n=space: self.is_gone(s, n), GONE_SECONDS)

    def is_gone(self, side, space):
        try:
            self.apis[side].call("GET", path_of("namespaces", name=space))
        except Refused as refused:
            return refused.status == 404
        return False

    def free(self, side, space):
        """Of finalizers whose owner has nobody to ask any more: Liqo leaves some when identities go first."""
        for kind in ("renews", "resourceslices", "namespacemaps", "identities", "tenants", "virtualnodes", "secrets"):
            for one in self.apis[side].items(kind, space):
                if one["metadata"].get("finalizers"):
                    self.apis[side].merge(path_of(kind, space, one["metadata"]["name"]),
                                          {"metadata": {"finalizers": None}}, fine=(404,))


class Rounds:
    """`ways` by name; samples are lists of seconds by what was measured, one entry for each round that went well."""

    def __init__(self, stage, ways):
        self.stage, self.ways = stage, ways
        self.samples, self.failures, self.turns = {}, [], 0

    def keep(self, **seconds):
        for name, value in seconds.items():
            self.samples.setdefault(name, []).append(value)

    def run(self, number, names, is_whole):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            self.turns += 1
            began = time.monotonic()
            try:
                getattr(self, f"_{name}")(self.ways[name], is_whole)
                self._clear(name)
            except FAILURES as trouble:
                self.failures.append(f"round {number + 1}, {name}: {trouble}")
                print(f"fabric: {self.failures[-1]}", file=sys.stderr, flush=True)
                self._recover(name)
            print(f"fabric: round {number + 1}, {name}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)

    def _clear(self, name):
        self.ways[name].take_down()
        self.stage.clear()

    def _recover(self, name):
        try:
            self._clear(name)
        except FAILURES as trouble:
            print(f"fabric: after {name}: {trouble}", file=sys.stderr, flush=True)

    def _liqoctl(self, way, _):
        accepted, ready = way.cold()
        name, _, warm = way.warm()
        self.keep(liqoctl_accepted=accepted, liqoctl_ready=ready, hand_warm=warm, hand_release=way.release(name))

    def _ours(self, way, is_whole):
        first, accepted, ready = way.buy()
        self.keep(own_cold=accepted, own_ready=ready)
        if not is_whole:
            return
        bought = [way.buy() for _ in range(WARM_TIMES)]
        for _, warm_accepted, warm_ready in bought:
            self.keep(own_warm_accepted=warm_accepted, own_warm=warm_ready)
        self.keep(own_release=way.release(bought[0][0]))
        way.release_all([first] + [contract for contract, *_ in bought])
        self.keep(own_again=way.buy()[2])

    def _script(self, way, is_whole):
        accepted, ready = way.cold()
        self.keep(script_cold=accepted, script_ready=ready)
        for _ in range(WARM_TIMES if is_whole else 0):
            warm_accepted, warm_ready = way.warm()
            self.keep(script_warm_accepted=warm_accepted, script_warm=warm_ready)
