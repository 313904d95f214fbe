"""Clusters come and go: many at once, again and again, and also after this program was killed.

What exists is read from the state folder and from the kernel each time, never remembered. A cluster
is written down before anything of it is started, and forgotten after everything of it is gone.
"""
import contextlib
import fcntl
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

from clusters import cgroups, control_plane, kubelet, layout, liqo, mounts, network, processes
from clusters.shell import Trouble, interrupted, say

REAL_NODE = ("containerd", "kubelet")
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


@contextlib.contextmanager
def alone(state):
    """One at a time changes a state folder; the kernel lets go of the lock when we die."""
    state.folder.mkdir(parents=True, exist_ok=True)
    with open(state.lock, "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Trouble(f"another realkube is at work in {state.folder}") from None
        yield


def up(state, names, nodes, real, programs, shape=None, with_liqo=False):
    """Starts those that are not up yet, all at the same time. If one fails, none of them stays."""
    need_root()
    for name in names:
        layout.check_name(name)
    began = time.monotonic()
    with alone(state):
        wanted = (nodes, real, shape or {}, with_liqo)
        fresh = [name for name in dict.fromkeys(names) if not _is_up(state, name, wanted)]
        if not fresh:
            return
        try:
            network.make_hub(state)
            starts = [control_plane.Start(state.add(name, nodes, real, shape, with_liqo), programs)
                      for name in fresh]
            _side_by_side([start.run for start in starts])
        except BaseException:
            say(f"stopping {', '.join(fresh)} again; logs are in {state.folder / 'logs'}")
            _take_down(state, fresh)
            raise
    say(f"{', '.join(fresh)} up in {time.monotonic() - began:.1f} s")


def down(state, names):
    """Stops these, or all without names. What is not there is already as wanted."""
    need_root()
    with alone(state):
        wanted = list(names or known(state))
        _take_down(state, wanted)
    say(f"{', '.join(wanted) or 'nothing'} stopped; logs are in {state.folder / 'logs'}")


def known(state):
    """By folder or by namespace: a folder may have been deleted while its cluster was running."""
    spaces = (name.removeprefix(f"{state.hub}-") for name in network.of_state(state))
    return sorted({*state.names(), *spaces})


def programs_of(cluster):
    return [*PROGRAMS, *(REAL_NODE if cluster.kubelet else ()),
            *(liqo.PROGRAMS if cluster.liqo else ())]


def condition(cluster):
    """`up`, or what is wrong with it."""
    dead = [name for name in programs_of(cluster)
            if not processes.running(cluster.pid_file(name))]
    if not dead and (cluster.folder / "complete").exists():
        return "up"
    return f"without {', '.join(dead)}" if dead else "not completely started"


def describe_nodes(cluster):
    shape = "".join(f", {amount} {name} each" for name, amount in sorted(cluster.shape.items()))
    return f"{cluster.nodes} played nodes{shape}" + (
        " and a real one" if cluster.kubelet else "") + (
            f", with Liqo {cluster.liqo}" if cluster.liqo else "")


def describe(state):
    """All that is there, for programs that ask."""
    return [_describe_one(state, name) for name in known(state)]


def _describe_one(state, name):
    try:
        cluster = state.cluster(name)
    except Trouble:
        return {"name": name, "condition": "left over"}
    return {"name": name, "condition": condition(cluster), "url": cluster.url,
            "nodes": describe_nodes(cluster), "kubeconfig": str(cluster.kubeconfig())}


def need_root():
    if os.geteuid() != 0:
        raise Trouble("network namespaces need root: please run this with sudo")


def _is_up(state, name, wanted):
    if name not in known(state):
        return False
    again = f"`realkube down {name}` first"
    try:
        cluster = state.cluster(name)
    except Trouble:
        raise Trouble(f"something is left of a cluster {name}: {again}") from None
    if condition(cluster) != "up":
        raise Trouble(f"cluster {name} is {condition(cluster)}: {again}")
    if (cluster.nodes, cluster.kubelet, cluster.shape, cluster.liqo) != wanted:
        raise Trouble(f"cluster {name} is up with {describe_nodes(cluster)}: {again}")
    say(f"{name} is up already")
    return True


def _side_by_side(works):
    """All at once; after the first failure, or an interruption, the others stop waiting."""
    def attempt(work):
        try:
            work()
        except BaseException:
            interrupted.set()
            raise
    with ThreadPoolExecutor(len(works)) as pool:
        attempts = [pool.submit(attempt, work) for work in works]
        try:
            troubles = [attempt.exception() for attempt in attempts]
        except BaseException:
            interrupted.set()
            raise
    troubles = [trouble for trouble in troubles if trouble]
    for trouble in troubles:
        if str(trouble) != "interrupted":
            raise trouble
    if troubles:
        raise troubles[0]


def _take_down(state, names):
    """The processes of all at once; those without a pid file are found by their namespace."""
    for name in names:
        layout.check_name(name)
    folders = [state.folder / "clusters" / name for name in names]
    for cluster in state.clusters():
        if cluster.name in names and cluster.kubelet:
            kubelet.stop(cluster)
    files = [file for folder in folders for file in (folder / "pids").glob("*")]
    for last in (False, True):  # without its etcd an API server would take long to end
        processes.stop([file for file in files if (file.name == "etcd") == last])
    for name, folder in zip(names, folders):
        namespace = f"{state.hub}-{name}"
        if network.exists(namespace):
            strays = processes.stop_all_in(network.NAMESPACES / namespace)
            if strays:
                say(f"{name}: stopped {strays} processes without a pid file")
            network.remove(namespace)
        cgroups.remove(namespace)
        mounts.clear(folder)
        shutil.rmtree(folder, ignore_errors=True)
    if not known(state):
        network.remove(state.hub)
