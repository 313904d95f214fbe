"""Liqo beside a control plane: its own objects, and its programs as processes. No networking module.

The objects are those of Liqo's own chart, from the module that the programs are built from. What the
chart would run as pods runs as processes here, with the arguments of their Deployments and with the
names of their service accounts, so that the chart's RBAC rules are what they may do. Virtual kubelets
are pods that kwok plays, and processes beside them (see virtual_kubelets.py).
"""
import json
import os
import re
import subprocess
import sys

from clusters import certificates, network, toolchain
from clusters.binaries import HERE, LIQO, wanted_go
from clusters.shell import Trouble, run, succeeds

MODULE = "github.com/liqotech/liqo"
NAMESPACE = "liqo"
WEBHOOK_PORT = 9443
WEBHOOK_FOLDER = "/tmp/k8s-webhook-server"  # written into the program: each cluster has its own there
RUNNER = "liqo-virtual-kubelets"
# Each by its Deployment in the chart, with addresses that differ within the cluster's namespace.
PARTS = {
    "liqo-controller-manager": ["--metrics-address=127.0.0.1:8110",
                                "--health-probe-address=127.0.0.1:8111", "--webhook-port=9444"],
    "liqo-crd-replicator": ["--metrics-address=127.0.0.1:8112"],
    "liqo-webhook": ["--metrics-address=127.0.0.1:8113", "--health-probe-address=127.0.0.1:8114"],
}
PROGRAMS = (*PARTS, RUNNER)
PROBES = {"liqo-controller-manager": 8111, "liqo-webhook": 8114}
# Played by processes, or of the networking module, which is off.
LEFT_OUT = {"Deployment", "DaemonSet", "Job", "CronJob", "Service", "APIService",
            "FirewallConfiguration", "Network"}


def chart(version):
    """The folder of Liqo's chart: of the module that is pinned, checked against its go.sum."""
    folder = HERE / LIQO[version]
    go = toolchain.find(wanted_go((folder / "go.mod").read_text()))
    environment = {**os.environ, "GOWORK": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
    said = json.loads(run([go, "mod", "download", "-json", MODULE], timeout=600, cwd=folder,
                          env=environment))
    found = os.path.join(said["Dir"], "deployments", "liqo")
    if not os.path.isfile(os.path.join(found, "Chart.yaml")):
        raise Trouble(f"{MODULE} {said['Version']} has no chart in {found}")
    return found, said["Version"]


def values(cluster, version):
    return {"tag": version, "networking.enabled": "false", "networking.reflectIPs": "false",
            "discovery.config.clusterID": cluster.name, "apiServer.address": cluster.url,
            "offloading.disableNetworkCheck": "true", "proxy.enabled": "false",
            "telemetry.enabled": "false", "metricAgent.enable": "false"}


def documents(text):
    """(kind, document) of each of a YAML text as helm writes it; hooks are not for `apply`."""
    for document in re.split(r"^---\s*$", text, flags=re.MULTILINE):
        kind = re.search(r"^kind: (\w+)\s*$", document, re.MULTILINE)
        if kind and not re.search(r"^\s+\"?helm\.sh/hook\"?:", document, re.MULTILINE):
            yield kind[1], document


def service(cluster):
    """No kube-proxy and no pod stands behind it: its endpoint is written by hand."""
    port = {"name": "webhook", "port": WEBHOOK_PORT, "protocol": "TCP"}
    name = "liqo-webhook"
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": NAMESPACE},
         "spec": {"ports": [{**port, "targetPort": WEBHOOK_PORT}]}},
        {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
         "metadata": {"name": name, "namespace": NAMESPACE,
                      "labels": {"kubernetes.io/service-name": name}},
         "ports": [port],
         "endpoints": [{"addresses": [cluster.address], "conditions": {"ready": True}}]}]


def arguments(deployment, cluster):
    """Of its first container, with the references that a kubelet would resolve."""
    known = {"CLUSTER_ID": cluster.name, "POD_NAMESPACE": NAMESPACE}
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    return [re.sub(r"\$\((\w+)\)", lambda reference: known[reference[1]], word)
            for word in container.get("args", [])]


def service_account(cluster, name, namespace=NAMESPACE):
    """A kubeconfig by which an administrator speaks as a service account: its rights, no more. Not
    a certificate with its name: that ends after 64 characters, and names of virtual kubelets do not."""
    config = json.loads(cluster.kubeconfig("admin").read_text())
    config["users"][0]["user"] |= {
        "as": f"system:serviceaccount:{namespace}:{name}",
        "as-groups": ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]}
    made = cluster.kubeconfig(f"service-account.{namespace}.{name}")
    certificates.write_private(made, json.dumps(config))
    return made


def start(cluster, programs, kubectl, launch, wait):
    """`kubectl(*arguments, stdin)`, `launch(name, command, prefix, environment)` and
    `wait(what, true)` are those of the control plane's start."""
    folder, version = chart(cluster.liqo)
    rendered = list(documents(_render(cluster, programs, folder, version)))
    kubectl("apply", "--server-side", "-f", os.path.join(folder, "charts/liqo-crds/crds"))
    wait("Liqo's kinds", lambda: _all_established(kubectl))
    kubectl("create", "namespace", NAMESPACE)
    _apply(kubectl, (text for kind, text in rendered if kind not in LEFT_OUT))
    kubectl("create", "-f", "-",
            stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": service(cluster)}))
    for name, deployment in _deployments(kubectl, rendered).items():
        if name in PARTS:
            launch(name, [programs[name], *arguments(deployment, cluster), *PARTS[name]],
                   _own_certificates(cluster) if name == "liqo-webhook" else (),
                   {**os.environ, "KUBECONFIG": str(service_account(cluster, name)),
                    "POD_NAMESPACE": NAMESPACE, "POD_NAME": name})
    launch(RUNNER, [sys.executable, "-B", HERE / "realkube", "virtual_kubelets", cluster.name], (),
           {**os.environ, "REALKUBE_STATE": str(cluster.state.folder)})
    _wait_until_ready(cluster, kubectl, wait)


def _render(cluster, programs, folder, version):
    words = [word for name, value in values(cluster, version).items()
             for word in ("--set", f"{name}={value}")]
    return run([programs["helm"], "template", "liqo", folder, "--namespace", NAMESPACE, *words])


def _all_established(kubectl):
    kinds = json.loads(kubectl("get", "--raw", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"))
    return all(any(condition["type"] == "Established" and condition["status"] == "True"
                   for condition in kind.get("status", {}).get("conditions") or [])
               for kind in kinds["items"])


def _apply(kubectl, texts):
    kubectl("apply", "--server-side", "-n", NAMESPACE, "-f", "-", stdin="\n---\n".join(texts))


def _deployments(kubectl, rendered):
    """kubectl reads YAML for us, and says it again as JSON."""
    texts = [text for kind, text in rendered if kind == "Deployment"]
    said = kubectl("create", "--dry-run=client", "-o", "json", "-n", NAMESPACE, "-f", "-",
                   stdin="\n---\n".join(texts))
    found, rest, decoder = {}, said.strip(), json.JSONDecoder()
    while rest:  # one after the other, not a list
        item, length = decoder.raw_decode(rest)
        found[item["metadata"]["name"]] = item
        rest = rest[length:].lstrip()
    missing = [name for name in PARTS if name not in found]
    if missing:
        raise Trouble(f"Liqo's chart has no Deployment {missing[0]}; it has {', '.join(found)}")
    return found


def _own_certificates(cluster):
    own = cluster.folder / "liqo-webhook"
    own.mkdir(exist_ok=True)
    steps = [f"mkdir -p {WEBHOOK_FOLDER}", f'mount --bind "$0" {WEBHOOK_FOLDER}', 'exec "$@"']
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join(steps), own]


def _wait_until_ready(cluster, kubectl, wait):
    for name, port in PROBES.items():
        wait(f"{name} being ready", lambda port=port: succeeds(
            [*network.enter(cluster.namespace), sys.executable, "-c",
             f"import urllib.request as u; u.urlopen('http://127.0.0.1:{port}/readyz', timeout=5)"]))
    wait("Liqo's key", lambda: _quietly(kubectl, "-n", NAMESPACE, "get", "secret",
                                        "authentication-keys"))
    probe = json.dumps({"apiVersion": "offloading.liqo.io/v1beta1", "kind": "NamespaceOffloading",
                        "metadata": {"name": "offloading", "namespace": "default"}, "spec": {}})
    wait("an answer of Liqo's webhook", lambda: _quietly(
        kubectl, "create", "--dry-run=server", "-f", "-", stdin=probe))


def _quietly(kubectl, *words, **more):
    try:
        kubectl(*words, **more)
        return True
    except (Trouble, subprocess.SubprocessError):
        return False
