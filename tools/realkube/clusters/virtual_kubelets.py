"""Runs the virtual kubelets of a cluster: for each pod that Liqo makes for one, a process beside it.

kwok plays the pod, and says that it is running; this is what runs. It looks at pods as a kubelet does:
a process comes with its pod and goes with it, and is started again when it ends by itself, later each
time. A process outlives this program and is found again by its pid file, so that this one can be killed.
"""
import json
import os
import queue
import re
import socket
import subprocess
import threading
import time

from clusters import binaries, control_plane, liqo, network, processes, shell
from clusters.shell import Trouble, say

SELECTOR = "offloading.liqo.io/component=virtual-kubelet"
PREFIX = "liqo-vk-"
FIRST_PORT, LAST_PORT = 10300, 10999
LOOK_SECONDS = 0.5       # how long a process may be dead before that is seen
FIRST_WAIT_SECONDS = 1   # before it is started again; doubles
LONGEST_WAIT_SECONDS = 16


def is_wanted(pod):
    """Bound, running and to stay."""
    return (pod.get("status", {}).get("phase") == "Running"
            and not pod["metadata"].get("deletionTimestamp"))


def resolve(words, known):
    return [re.sub(r"\$\((\w+)\)", lambda reference: known.get(reference[1], reference[0]), word)
            for word in words]


def environment_of(pod, cluster):
    """What the pod's container is given; its address is the cluster's, where the process listens."""
    fields = {"status.podIP": cluster.address, "metadata.name": pod["metadata"]["name"],
              "metadata.namespace": pod["metadata"]["namespace"]}
    found = {}
    for entry in pod["spec"]["containers"][0].get("env", []):
        field = entry.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        found[entry["name"]] = fields.get(field, "") if field else entry.get("value", "")
    return found


def command_of(pod, cluster, program, kubeconfig, port):
    words = resolve(pod["spec"]["containers"][0].get("args", []), environment_of(pod, cluster))
    return [program, *words, f"--home-kubeconfig={kubeconfig}", f"--listen-port={port}"]


class Running:
    """One pod's process."""

    def __init__(self, pod):
        self.pod = pod
        self.wait, self.due = FIRST_WAIT_SECONDS, 0.0
        self.process, self.began = None, None  # None: another runner's, or not begun


class Runner:
    def __init__(self, cluster):
        self.cluster = cluster
        self.program = binaries.find(binaries.with_liqo(cluster.liqo))["liqo-virtual-kubelet"]
        self.kubectl = binaries.find([binaries.ALL["kubectl"]])
        self.running, self.ending, self.port = {}, {}, LAST_PORT

    def run(self):
        """For ever: the end comes as a signal."""
        events = queue.Queue()
        threading.Thread(target=self._listen, args=(events,), daemon=True).start()
        while True:
            try:
                self._hear(*events.get(timeout=LOOK_SECONDS))
            except queue.Empty:
                pass
            self._look_after()

    def _listen(self, events):
        """List and watch; when a watch ends, from the list again: what is not in it is gone."""
        pause = threading.Event()
        while True:
            try:
                path = f"/api/v1/pods?labelSelector={SELECTOR}"
                listed = json.loads(shell.run(self._raw(path), timeout=20))
                events.put(("LISTED", listed["items"]))
                since = listed["metadata"]["resourceVersion"]
                self._watch(f"{path}&watch=true&resourceVersion={since}&timeoutSeconds=300", events)
            except (Trouble, ValueError, KeyError, OSError) as trouble:
                say(f"looking for virtual kubelets: {trouble}")
                pause.wait(1)  # not a synchronisation: the API server may be away

    def _watch(self, path, events):
        with subprocess.Popen([str(word) for word in self._raw(path)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as watching:
            for line in watching.stdout:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    watching.kill()
                    return
                events.put((event["type"], event["object"]))

    def _raw(self, path):
        return control_plane.kubectl(self.cluster, self.kubectl, "get", "--raw", path)

    def _hear(self, kind, said):
        if kind == "LISTED":
            there = {_key(pod): pod for pod in said}
            for key in self._known() - set(there):
                self._stop(key)
            for pod in there.values():
                self._hear("MODIFIED", pod)
        elif kind == "DELETED" or not is_wanted(said):
            self._stop(_key(said))
        elif _key(said) not in self.running:
            self.running[_key(said)] = Running(said)

    def _look_after(self):
        now = time.monotonic()
        for key, one in self.running.items():
            if now < one.due or self._is_alive(key, one):
                continue
            if one.began is not None:
                say(f"the virtual kubelet of {key} has ended: "
                    f"{self._log(key).with_suffix('.last.log')}")
                calm = now - one.began > LONGEST_WAIT_SECONDS
                one.wait = FIRST_WAIT_SECONDS if calm else min(2 * one.wait, LONGEST_WAIT_SECONDS)
            one.began, one.due = now, now + one.wait
            try:
                one.process = self._start(key, one.pod)
            except (Trouble, OSError) as trouble:
                say(f"the virtual kubelet of {key} does not start: {trouble}")

    def _is_alive(self, key, one):
        """Its pid file comes a moment after it does."""
        return (one.process and one.process.poll() is None) or processes.running(self._pid_file(key))

    def _start(self, key, pod):
        cluster = self.cluster
        say(f"starting the virtual kubelet of {key}")
        if self._log(key).exists():  # what the last one said is why this one is needed
            self._log(key).rename(self._log(key).with_suffix(".last.log"))
        kubeconfig = liqo.service_account(cluster, pod["spec"]["serviceAccountName"],
                                          pod["metadata"]["namespace"])
        return processes.start(
            self._pid_file(key), self._log(key),
            command_of(pod, cluster, self.program, kubeconfig, self._free_port()),
            network.enter(cluster.namespace),
            {**os.environ, **environment_of(pod, cluster),
             "KUBERNETES_SERVICE_HOST": cluster.service_address, "KUBERNETES_SERVICE_PORT": "443"})

    def _stop(self, key):
        """In a thread: it may take seconds to let go of its lease, and others wait to be started."""
        if key not in self._known() or (key in self.ending and self.ending[key].is_alive()):
            return
        say(f"stopping the virtual kubelet of {key}")
        one = self.running.pop(key, None)
        if one and one.process:
            one.process.terminate()  # it may have no pid file yet
        self.ending[key] = threading.Thread(target=processes.stop, args=([self._pid_file(key)],))
        self.ending[key].start()

    def _known(self):
        """Also those that another runner has started."""
        files = (self.cluster.folder / "pids").glob(f"{PREFIX}*")
        return {*self.running, *(file.name.removeprefix(PREFIX) for file in files)}

    def _free_port(self):
        """The next one each time, for the last may be taken and not listen yet; and tried, for another
        runner may have given it."""
        for _ in range(FIRST_PORT, LAST_PORT + 1):
            self.port = FIRST_PORT if self.port == LAST_PORT else self.port + 1
            with socket.socket() as probe:
                try:
                    probe.bind(("0.0.0.0", self.port))
                    return self.port
                except OSError:
                    continue
        raise Trouble(f"all ports from {FIRST_PORT} to {LAST_PORT} are taken")

    def _pid_file(self, key):
        return self.cluster.pid_file(PREFIX + key)

    def _log(self, key):
        return self.cluster.logs / f"{PREFIX}{key}.log"


def _key(pod):
    return f"{pod['metadata']['namespace']}.{pod['metadata']['name']}"


def run(cluster):
    Runner(cluster).run()
