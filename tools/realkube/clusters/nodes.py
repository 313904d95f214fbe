"""Nodes that are played by kwok: objects that become Ready and run pods, without running anything."""

CAPACITY = {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi"}
ARCHITECTURE = "amd64"
KWOK_PORT = 10247


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
    return [_node(name) for name in _played_names(cluster)]


def names(cluster):
    return [*_played_names(cluster), *([real(cluster)] if cluster.kubelet else [])]


def real(cluster):
    return f"{cluster.name}-real"


def _played_names(cluster):
    return [f"{cluster.name}-{number}" for number in range(1, cluster.nodes + 1)]


def _node(name):
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                       "kubernetes.io/arch": ARCHITECTURE, "type": "kwok"},
        },
        "status": {"capacity": CAPACITY, "allocatable": CAPACITY},
    }
