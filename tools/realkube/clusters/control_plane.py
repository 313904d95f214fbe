"""The processes of one control plane, their arguments, and the order in which they start.

Real: every program, RBAC, certificates between all of them, the namespace's own addresses. Not
real: one etcd that does not wait for the disk, one of each controller without leader election, and
(see nodes.py) nodes that are played, unless a real one is asked for (see kubelet.py).
"""
import json
import time

from clusters import certificates, kubelet, liqo, network, nodes, processes
from clusters.layout import API_PORT
from clusters.shell import Trouble, run, say, wait_until

READY_SECONDS = 120
LOCAL = "127.0.0.1"


def etcd(cluster, programs):
    pki = cluster.folder / "pki"
    return [programs["etcd"], "--name", cluster.name, "--data-dir", cluster.folder / "etcd",
            "--listen-client-urls", f"https://{LOCAL}:2379",
            "--advertise-client-urls", f"https://{LOCAL}:2379",
            "--listen-peer-urls", f"http://{LOCAL}:2380",
            "--initial-advertise-peer-urls", f"http://{LOCAL}:2380",
            "--initial-cluster", f"{cluster.name}=http://{LOCAL}:2380",
            "--cert-file", pki / "etcd.pem", "--key-file", pki / "etcd.key",
            "--client-cert-auth", "--trusted-ca-file", pki / "etcd-ca.pem",
            "--unsafe-no-fsync", "--log-level", "warn"]


def apiserver(cluster, programs):
    pki = cluster.folder / "pki"
    issuer = "https://kubernetes.default.svc.cluster.local"
    return [programs["kube-apiserver"],
            f"--advertise-address={cluster.address}", f"--secure-port={API_PORT}",
            f"--etcd-servers=https://{LOCAL}:2379", f"--etcd-cafile={pki}/etcd-ca.pem",
            f"--etcd-certfile={pki}/etcd-client.pem", f"--etcd-keyfile={pki}/etcd-client.key",
            "--authorization-mode=Node,RBAC", f"--client-ca-file={pki}/ca.pem",
            "--enable-admission-plugins=NodeRestriction",
            f"--tls-cert-file={pki}/apiserver.pem", f"--tls-private-key-file={pki}/apiserver.key",
            f"--cert-dir={cluster.folder}",
            f"--service-cluster-ip-range={cluster.service_cidr}",
            f"--service-account-issuer={issuer}",
            f"--service-account-key-file={pki}/service-accounts.key",
            f"--service-account-signing-key-file={pki}/service-accounts.key",
            f"--kubelet-certificate-authority={pki}/ca.pem",
            f"--kubelet-client-certificate={pki}/kubelet-client.pem",
            f"--kubelet-client-key={pki}/kubelet-client.key",
            "--kubelet-preferred-address-types=InternalIP",
            f"--requestheader-client-ca-file={pki}/front-proxy-ca.pem",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={pki}/front-proxy-client.pem",
            f"--proxy-client-key-file={pki}/front-proxy-client.key",
            "--enable-aggregator-routing=true", "--allow-privileged=true"]


def controller_manager(cluster, programs):
    pki = cluster.folder / "pki"
    identity = cluster.kubeconfig("system:kube-controller-manager")
    return [programs["kube-controller-manager"], f"--kubeconfig={identity}",
            f"--authentication-kubeconfig={identity}", f"--authorization-kubeconfig={identity}",
            f"--bind-address={LOCAL}", f"--cert-dir={cluster.folder}", "--leader-elect=false",
            "--use-service-account-credentials=true", f"--root-ca-file={pki}/ca.pem",
            f"--service-account-private-key-file={pki}/service-accounts.key",
            f"--cluster-name={cluster.name}", f"--cluster-cidr={cluster.pod_cidr}",
            f"--cluster-signing-cert-file={pki}/ca.pem",
            f"--cluster-signing-key-file={pki}/ca.key",
            # A quota that counts a kind which has just been defined is unknown, and refuses everything, until the next
            # look at all quotas: by default every five minutes, which is older than clusters get here.
            "--resource-quota-sync-period=10s",
            f"--flex-volume-plugin-dir={cluster.folder}/volume-plugins"]


def scheduler(cluster, programs):
    identity = cluster.kubeconfig("system:kube-scheduler")
    return [programs["kube-scheduler"], f"--kubeconfig={identity}",
            f"--authentication-kubeconfig={identity}", f"--authorization-kubeconfig={identity}",
            f"--bind-address={LOCAL}", f"--cert-dir={cluster.folder}", "--leader-elect=false"]


def kubectl(cluster, programs, *arguments):
    return [*network.enter(cluster.namespace), programs["kubectl"],
            f"--kubeconfig={cluster.kubeconfig()}", *arguments]


class Start:
    """Brings one cluster up, and keeps the time of every stage."""

    def __init__(self, cluster, programs):
        self.cluster, self.programs = cluster, programs
        self.started = {}
        self.stages = []

    def run(self):
        began = time.monotonic()
        self._stage("certificates", lambda: certificates.make_all(self.cluster))
        self._stage("network", lambda: network.join(self.cluster))
        self._stage("API server", self._serve)
        self._stage("controllers", self._launch_controllers)
        self._stage("nodes", self._populate)
        if self.cluster.liqo:
            self._stage("Liqo", self._add_liqo)
        (self.cluster.folder / "complete").touch()
        stages = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.stages)
        say(f"{self.cluster.name}: up after {time.monotonic() - began:.1f} s ({stages})")

    def _stage(self, name, work):
        began = time.monotonic()
        work()
        self.stages.append((name, time.monotonic() - began))

    def _serve(self):
        """The API server starts beside etcd and finds it by trying: that saves a second."""
        self._launch("etcd", etcd(self.cluster, self.programs))
        self._launch("kube-apiserver", apiserver(self.cluster, self.programs))
        self._wait("the API server's readiness", lambda: self._kubectl("get", "--raw", "/readyz"))

    def _launch_controllers(self):
        """Only now: a controller manager that finds no RBAC rules for itself yet gives up."""
        for name, command in (("kube-controller-manager", controller_manager),
                              ("kube-scheduler", scheduler), ("kwok", nodes.kwok)):
            self._launch(name, command(self.cluster, self.programs))
        if self.cluster.kubelet:
            kubelet.start(self.cluster, self.programs, self._launch, self._wait)

    def _populate(self):
        """Without its service account no pod can be made in the default namespace."""
        wanted, played = nodes.names(self.cluster), nodes.played(self.cluster)
        if played:
            manifest = json.dumps({"apiVersion": "v1", "kind": "List", "items": played})
            run(kubectl(self.cluster, self.programs, "create", "-f", "-"), stdin=manifest)
        form = '{range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status} '
        self._wait("all nodes being Ready", lambda: {f"{name}=True" for name in wanted} <= set(
            (self._kubectl("get", "nodes", "-o", f"jsonpath={form}{{end}}") or "").split()))
        self._wait("the default service account",
                   lambda: self._kubectl("get", "serviceaccount", "default"))

    def _add_liqo(self):
        def must(*arguments, stdin=None):
            return run(kubectl(self.cluster, self.programs, *arguments), timeout=READY_SECONDS,
                       stdin=stdin)
        liqo.start(self.cluster, self.programs, must, self._launch, self._wait)

    def _kubectl(self, *arguments):
        try:
            return run(kubectl(self.cluster, self.programs, *arguments), timeout=20)
        except Trouble:
            return None

    def _launch(self, program, command, prefix=(), environment=None):
        self.started[program] = processes.start(
            self.cluster.pid_file(program), self.cluster.logs / f"{program}.log", command,
            [*network.enter(self.cluster.namespace), *prefix], environment)

    def _wait(self, what, true):
        def still_possible():
            if true():
                return True
            for program, process in self.started.items():
                if process.poll() is not None:
                    raise Trouble(f"{program} of cluster {self.cluster.name} ended: "
                                  f"{self._log(program)}")
            return False
        wait_until(f"{self.cluster.name}: {what}", still_possible, READY_SECONDS)

    def _log(self, program):
        log = self.cluster.logs / f"{program}.log"
        return "\n  ".join([str(log), *log.read_text(errors="replace").splitlines()[-5:]])
