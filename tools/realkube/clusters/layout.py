"""Names, folders and addresses: everything that two clusters, or two state folders, must not share.

A state folder has a tag, the hash of its path. Network namespaces are the only things that are named for the
whole machine, and their names begin with the tag, so that state folders do not meet. Addresses
exist inside these namespaces only, and may therefore be the same in every state folder.
"""
import hashlib
import ipaddress
import json
import os
import re
from pathlib import Path

from clusters.shell import Trouble

NAME = re.compile(r"[a-z]([-a-z0-9]{0,18}[a-z0-9])?")
MOST_CLUSTERS = 50
HUB_ADDRESS = "10.77.0.1"
PREFIX_LENGTH = 24
API_PORT = 443  # the port of the Service `kubernetes` as well: its address lies on lo, without a proxy


def check_name(name):
    """Names become parts of paths, also of those that are deleted: nothing else passes."""
    if not NAME.fullmatch(name):
        raise Trouble(f"a cluster cannot be called {name!r}: 1 to 20 of a-z, 0-9 and -, "
                      "beginning with a letter and not ending with -")


def state_from(environment):
    chosen = environment.get("REALKUBE_STATE")
    if chosen:
        return State(Path(chosen))
    home = environment.get("XDG_STATE_HOME") or Path(environment.get("HOME", "/")) / ".local/state"
    return State(Path(home) / "spillway" / "realkube")


class State:
    """A folder with clusters; `hub` is the namespace in which all of them are reached."""

    def __init__(self, folder):
        self.folder = Path(os.path.realpath(folder))
        self.tag = hashlib.sha256(str(self.folder).encode()).hexdigest()[:8]
        self.hub = f"rk-{self.tag}"
        self.lock = self.folder / "lock"

    def names(self):
        folder = self.folder / "clusters"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def clusters(self):
        """Those that are written down; a folder without a record was never a cluster."""
        for name in self.names():
            try:
                yield self.cluster(name)
            except Trouble:
                pass

    def cluster(self, name):
        check_name(name)
        record = self.folder / "clusters" / name / "cluster.json"
        try:
            return Cluster(self, name, **json.loads(record.read_text()))
        except (OSError, ValueError, TypeError):
            raise Trouble(f"there is no cluster {name} in {self.folder}") from None

    def add(self, name, nodes, kubelet=False, shape=None, liqo=False):
        """Takes the first free number, and with it the addresses, before anything is started."""
        check_name(name)
        taken = {other.number for other in self.clusters()}
        free = [number for number in range(1, MOST_CLUSTERS + 1) if number not in taken]
        if not free:
            raise Trouble(f"{MOST_CLUSTERS} clusters are the most that one state folder holds")
        cluster = Cluster(self, name, free[0], nodes, kubelet, shape, liqo)
        cluster.folder.mkdir(parents=True, mode=0o700)
        cluster.logs.mkdir(parents=True, exist_ok=True)
        record = cluster.folder / "cluster.json"
        draft = record.with_suffix(".new")
        draft.write_text(json.dumps({"number": free[0], "nodes": nodes, "kubelet": kubelet,
                                     "shape": cluster.shape, "liqo": liqo}))
        draft.rename(record)
        return cluster


class Cluster:
    """One cluster's names and addresses, all derived from the state folder, its name and its number."""

    def __init__(self, state, name, number, nodes, kubelet, shape=None, liqo=False):
        self.state, self.name, self.number = state, name, number
        self.nodes, self.kubelet = nodes, kubelet  # how many are played; whether there is a real one
        self.shape = dict(shape or {})  # of those that are played, where it is not the usual one
        self.liqo = liqo  # which Liqo is there: "1.2"; or False
        self.folder = state.folder / "clusters" / name
        self.logs = state.folder / "logs" / name
        self.namespace = f"{state.hub}-{name}"
        self.address = str(ipaddress.ip_address(HUB_ADDRESS) + 9 + number)
        self.pod_cidr = f"10.{100 + number}.0.0/16"
        self.real_pod_cidr = f"10.{150 + number}.0.0/16"
        self.service_cidr = f"10.{200 + number}.0.0/16"
        self.service_address = f"10.{200 + number}.0.1"
        self.url = f"https://{self.address}:{API_PORT}"

    def pid_file(self, program):
        return self.folder / "pids" / program

    def kubeconfig(self, user="admin"):
        return self.folder / "kubeconfigs" / user
