"""One real node: containerd and a kubelet of its own, in the cluster's network namespace.

Its pods really run. They get addresses from a bridge in the namespace, and the hub knows the way to
them; there is no kube-proxy and no DNS, so of all Services only `kubernetes` has an address that
answers. Images are those that were imported: there is no registry.

Both programs share a mount namespace, so that all they mount goes when they go. In it, the kernel's
settings that every kubelet changes are plain files, and so are the folders that cannot be chosen by
an option: it is this machine's kernel and disk, and other nodes are on it.
"""
import json

from clusters import certificates, cgroups, image, network, nodes, processes
from clusters.shell import Trouble, run, succeeds

CNI_PROGRAMS = "/usr/lib/cni"
KERNEL_SETTINGS = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10,
                   "kernel/panic_on_oops": 1, "kernel/keys/root_maxkeys": 1000000,
                   "kernel/keys/root_maxbytes": 25000000}
OWN_FOLDERS = ("/var/lib/kubelet", "/var/lib/cni", "/var/log/containers", "/run/containerd")
LONGEST_SOCKET = 100  # a path of a socket has room for 107, and containerd appends to it


def socket(cluster):
    return cluster.folder / "containerd.sock"


def group(cluster):
    return cluster.namespace


def containerd_config(cluster):
    """JSON strings are TOML strings."""
    def text(value):
        return json.dumps(str(value))
    folder, cri = cluster.folder, 'plugins."io.containerd.grpc.v1.cri"'
    return f"""version = 2
root = {text(folder / "containerd")}
state = {text(folder / "containerd-state")}
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
address = {text(socket(cluster))}
[{cri}]
sandbox_image = {text(image.PAUSE)}
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[{cri}.cni]
bin_dir = {text(CNI_PROGRAMS)}
conf_dir = {text(folder / "cni")}
[{cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[{cri}.containerd.runtimes.runc.options]
Root = {text(folder / "runc")}
"""


def cni_config(cluster):
    return json.dumps({
        "cniVersion": "0.4.0", "name": "pods", "plugins": [{
            "type": "bridge", "bridge": "pods0", "isGateway": True, "ipMasq": False,
            "ipam": {"type": "host-local", "dataDir": str(cluster.folder / "addresses"),
                     "ranges": [[{"subnet": cluster.real_pod_cidr}]],
                     "routes": [{"dst": "0.0.0.0/0"}]}}]})


def kubelet_config(cluster):
    pki = cluster.folder / "pki"
    return json.dumps({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "address": cluster.address, "failCgroupV1": False, "failSwapOn": False,
        "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{group(cluster)}",
        "containerRuntimeEndpoint": f"unix://{socket(cluster)}",
        "podLogsDir": str(cluster.folder / "pod-logs"),
        "volumePluginDir": str(cluster.folder / "volume-plugins"),
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                           "x509": {"clientCAFile": str(pki / "ca.pem")}},
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(pki / "kubelet.pem"), "tlsPrivateKeyFile": str(pki / "kubelet.key"),
        # A developer's disk is often fuller than a kubelet likes; nothing here is worth evicting.
        "evictionHard": {"memory.available": "100Mi"}, "imageGCHighThresholdPercent": 100})


def kubelet(cluster, programs):
    return [programs["kubelet"], f"--config={cluster.folder}/kubelet.json",
            f"--kubeconfig={cluster.kubeconfig(_user(cluster))}",
            f"--root-dir={cluster.folder}/kubelet", f"--hostname-override={nodes.real(cluster)}",
            f"--node-ip={cluster.address}", "--node-labels=type=real"]


def start(cluster, programs, launch, wait):
    """`launch(name, command, prefix)` and `wait(what, true)` are those of the control plane's start."""
    if len(str(socket(cluster))) > LONGEST_SOCKET:
        raise Trouble(f"{socket(cluster)} is too long for a socket; please set REALKUBE_STATE to a "
                      "shorter path")
    _write_files(cluster)
    cgroups.make(group(cluster))
    network.route_pods(cluster)
    launch("containerd", ["containerd", "--config", cluster.folder / "containerd.toml"],
           _own_mounts(cluster))
    wait("containerd's answer", lambda: succeeds(_ctr(cluster, "version")))
    for name, reference, command in (("pause", image.PAUSE, ["/bin/sleep", "infinity"]),
                                     ("busybox", image.BUSYBOX, ["/bin/sh"])):
        archive = cluster.folder / f"{name}.tar"
        image.write_busybox(archive, reference, command)
        load(cluster, archive)
        archive.unlink()
    holder = processes.pid_of(cluster.pid_file("containerd"))
    launch("kubelet", kubelet(cluster, programs), ["nsenter", f"--mount=/proc/{holder}/ns/mnt"])


def load(cluster, archive):
    """Imports an OCI archive, for pods of the real node to use."""
    run(_ctr(cluster, "images", "import", archive), timeout=300)


def stop(cluster):
    """The kubelet first, so that nothing is started again; then containers, while containerd knows them."""
    processes.stop([cluster.pid_file("kubelet")])
    if processes.running(cluster.pid_file("containerd")):
        try:
            for task in run(_ctr(cluster, "tasks", "list", "-q")).split():
                succeeds(_ctr(cluster, "tasks", "delete", "--force", task))
        except Trouble:
            pass  # what is left is found by its control group
    processes.stop([cluster.pid_file("containerd")])


def _own_mounts(cluster):
    """Shared among the pods of the node, as on a real one; not with the machine."""
    hidden = [*OWN_FOLDERS, *(f"/proc/sys/{name}" for name in KERNEL_SETTINGS)]
    steps = ["mount --make-rshared /", f"mkdir -p {' '.join(OWN_FOLDERS)}",
             *(f'mount --bind "$0"{path} {path}' for path in hidden), 'exec "$@"']
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join(steps),
            cluster.folder / "own"]


def _write_files(cluster):
    folder = cluster.folder
    for path in OWN_FOLDERS:
        (folder / f"own{path}").mkdir(parents=True)
    for name, value in KERNEL_SETTINGS.items():
        path = folder / "own/proc/sys" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    (folder / "cni").mkdir()
    (folder / "cni" / "pods.conflist").write_text(cni_config(cluster))
    (folder / "containerd.toml").write_text(containerd_config(cluster))
    (folder / "kubelet.json").write_text(kubelet_config(cluster))
    certificates.make_user(cluster, _user(cluster), ["system:nodes"])
    certificates.issue(folder / "pki", "kubelet", f"/O=system:nodes/CN={_user(cluster)}",
                       names=[f"IP:{cluster.address}", f"DNS:{nodes.real(cluster)}"])


def _user(cluster):
    return f"system:node:{nodes.real(cluster)}"


def _ctr(cluster, *arguments):
    return ["ctr", "-a", socket(cluster), "-n", "k8s.io", *arguments]
