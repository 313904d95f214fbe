"""Nodes that are played by kwok: objects that become Ready and run pods, without running anything."""
import re

from clusters.shell import Trouble

CAPACITY = {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi"}
ARCHITECTURE = "amd64"
KWOK_PORT = 10247
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|[MGTPE]|[KMGTPE]i)?")


def shape(cpu=None, memory=None):
    """Of a node, where it is not the usual one. The API server would refuse nonsense, but a minute later."""
    wanted = {name: text for name, text in (("cpu", cpu), ("memory", memory)) if text is not None}
    for name, text in wanted.items():
        if not QUANTITY.fullmatch(text) or not re.search("[1-9]", text):
            raise Trouble(f"--{name} {text!r} is no amount of {name}: write it as 4, 500m or 16Gi")
    return {name: text for name, text in wanted.items() if text != CAPACITY[name]}


def capacity(cluster):
    return {**CAPACITY, **cluster.shape}


def kwok(cluster, programs):
    """Without the longer lease the nodes flap, and disruption budgets then refuse every eviction."""
    pki = cluster.folder / "pki"
    return [programs["kwok"], f"--kubeconfig={cluster.kubeconfig('kwok')}",
            "--manage-all-nodes=false",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-lease-duration-seconds=40", f"--cidr={cluster.pod_cidr}",
            f"--node-ip={cluster.address}", f"--node-port={KWOK_PORT}",
            f"--server-address=0.0.0.0:{KWOK_PORT}", f"--tls-cert-file={pki}/kwok-server.pem",
            f"--tls-private-key-file={pki}/kwok-server.key"]


def played(cluster):
    return [_node(name, capacity(cluster)) for name in _played_names(cluster)]


def names(cluster):
    return [*_played_names(cluster), *([real(cluster)] if cluster.kubelet else [])]


def real(cluster):
    return f"{cluster.name}-real"


def _played_names(cluster):
    return [f"{cluster.name}-{number}" for number in range(1, cluster.nodes + 1)]


def _node(name, amounts):
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                       "kubernetes.io/arch": ARCHITECTURE, "type": "kwok"},
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }
