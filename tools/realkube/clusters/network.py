"""One network namespace for each cluster, and one, the hub, with the bridge that joins them.

Nothing here leaves a trace in the machine's own network: the bridge and both ends of every veth are
made inside namespaces. To reach a cluster, a process has to be in the hub (`realkube run`).
"""
import os
from pathlib import Path

from clusters.layout import HUB_ADDRESS, PREFIX_LENGTH
from clusters.shell import run, succeeds

NAMESPACES = Path("/run/netns")
BRIDGE = "hub0"


def enter(namespace):
    """Not `ip netns exec`, which would hide /sys, and with it the cgroups that a kubelet needs."""
    return ["nsenter", f"--net={NAMESPACES / namespace}"]


def exists(namespace):
    return (NAMESPACES / namespace).exists()


def of_state(state):
    """All namespaces of clusters of this state folder, also when the folder has forgotten them."""
    try:
        return sorted(name for name in os.listdir(NAMESPACES) if name.startswith(f"{state.hub}-"))
    except FileNotFoundError:
        return []


def make_hub(state):
    if exists(state.hub) and succeeds(["ip", "-n", state.hub, "link", "show", BRIDGE]):
        return
    remove(state.hub)
    _add(state.hub)
    run(["ip", "-n", state.hub, "link", "add", BRIDGE, "type", "bridge"])
    run(["ip", "-n", state.hub, "addr", "add", f"{HUB_ADDRESS}/{PREFIX_LENGTH}", "dev", BRIDGE])
    run(["ip", "-n", state.hub, "link", "set", BRIDGE, "up"])


def join(cluster):
    """The Service address of the API server lies on lo: pods reach it without kube-proxy."""
    here, hub, port = cluster.namespace, cluster.state.hub, f"c{cluster.number}"
    _add(here)
    run(["ip", "-n", here, "link", "add", "eth0", "type", "veth", "peer", "name", port,
         "netns", hub])
    run(["ip", "-n", hub, "link", "set", port, "master", BRIDGE, "up"])
    run(["ip", "-n", here, "addr", "add", f"{cluster.address}/{PREFIX_LENGTH}", "dev", "eth0"])
    run(["ip", "-n", here, "link", "set", "eth0", "up"])
    run(["ip", "-n", here, "addr", "add", f"{cluster.service_address}/32", "dev", "lo"])
    run(["ip", "-n", here, "route", "add", "default", "via", HUB_ADDRESS])


def route_pods(cluster):
    """Real pods are reached through their cluster's address, from the hub and from other clusters."""
    for namespace in (cluster.state.hub, cluster.namespace):
        run([*enter(namespace), "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"])
    run(["ip", "-n", cluster.state.hub, "route", "replace", cluster.real_pod_cidr,
         "via", cluster.address])


def remove(namespace):
    if exists(namespace):
        run(["ip", "netns", "del", namespace])


def _add(namespace):
    run(["ip", "netns", "add", namespace])
    run(["ip", "-n", namespace, "link", "set", "lo", "up"])
