#!/usr/bin/env python3
"""ca.own_ms: from IncreaseSize being sent to the node being told of by the API server's watch; on a real control plane,
with kwok, over mutual TLS, between a real broker and a provider. One unit a call, one call at a time.

Started by `make bench`, in a cluster of its own that it starts and stops. Skipped, with one line, where tools/realkube
has built nothing yet or nobody is root. Usage: ca_own_ms.py [--out FILE]
"""
import argparse
import base64
import http.client
import json
import os
import queue
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
REALKUBE = ROOT / "tools" / "realkube"
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(REALKUBE)]

from clusters import binaries  # noqa: E402
from clusters.shell import Trouble  # noqa: E402
from grpc_caller import GrpcCaller  # noqa: E402
from market import Market, Provider, offer  # noqa: E402
from papers import make_papers  # noqa: E402
from processes import eventually, free_port  # noqa: E402
from report import Finding, keep, tell  # noqa: E402

CALLS = 60
WARM_UP = 5
GOAL_MS = 150
GROUP = "seller/small"
PATIENCE_SECONDS = 60
INCREASE = "/clusterautoscaler.cloudprovider.v1.externalgrpc.CloudProvider/NodeGroupIncreaseSize"


def watch_nodes(kubeconfig, folder):
    """(moment, name) of every new node of the market, from the API server's own watch."""
    told = json.loads(Path(kubeconfig).read_text())
    user, cluster = told["users"][0]["user"], told["clusters"][0]["cluster"]
    for name, data in (("client-certificate", user), ("client-key", user), ("certificate-authority", cluster)):
        (folder / name).write_bytes(base64.b64decode(data[f"{name}-data"]))
    context = ssl.create_default_context(cafile=folder / "certificate-authority")
    context.load_cert_chain(folder / "client-certificate", folder / "client-key")
    link = http.client.HTTPSConnection(cluster["server"].removeprefix("https://"), context=context)
    link.request("GET", "/api/v1/nodes?watch=1&resourceVersion=0&labelSelector=spillway.dev/provider")
    answer = link.getresponse()
    seen = queue.Queue()

    def read():
        while line := answer.readline():
            moment = time.monotonic()
            event = json.loads(line)
            if event["type"] == "ADDED":
                seen.put((moment, event["object"]["metadata"]["name"]))
    threading.Thread(target=read, daemon=True).start()
    return seen


def measure(folder, kubeconfig):
    market = Market(folder)
    try:
        provider = Provider(market, "seller")
        provider.sells([offer("seller", "small", cpu=1, memory="1Gi")], cores=2 * (CALLS + WARM_UP))
        papers, port, operations = make_papers(folder / "papers"), free_port(), free_port()
        server = market.program(
            "autoscaler", "autoscaler", "--dir", market.join("home", "consumer"), "--kubeconfig", kubeconfig,
            "--listen", f"127.0.0.1:{port}", "--tls-cert", papers / "server.pem", "--tls-key", papers / "server.key",
            "--client-ca", papers / "authority.pem", "--operations", f"127.0.0.1:{operations}")
        server.start()
        eventually("what is on sale being known", lambda: urllib.request.urlopen(
            f"http://127.0.0.1:{operations}/readyz", timeout=PATIENCE_SECONDS), PATIENCE_SECONDS)
        eventually("the autoscaler", lambda: server.says("the cluster's nodes are seen"), PATIENCE_SECONDS)
        seen = watch_nodes(kubeconfig, folder)
        caller = GrpcCaller(port, papers)
        message = b"\x08\x01" + b"\x12" + bytes([len(GROUP)]) + GROUP.encode()
        taken = []
        for _ in range(WARM_UP + CALLS):
            began = time.monotonic()
            caller.call(INCREASE, message)
            moment, _ = seen.get(timeout=PATIENCE_SECONDS)
            taken.append((moment - began) * 1000)
        caller.close()
        return taken[WARM_UP:]
    finally:
        market.close()


def skipped():
    try:
        binaries.find(binaries.GROUPS["control-plane"])
    except Trouble as trouble:
        return str(trouble)
    return "" if os.geteuid() == 0 else "real clusters need root, for network namespaces"


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--out", type=Path, default=Path("build/bench/results.json"))
    words.add_argument("--inside", type=Path, help=argparse.SUPPRESS)  # where the cluster is reachable
    options = words.parse_args()
    if options.inside:
        values = measure(options.inside, os.environ["REALKUBE_KUBECONFIG_HOME"])
        finding = Finding("ca.own_ms", statistics.median(values), "ms", GOAL_MS, min(values), max(values))
        tell(finding)
        keep([finding], options.out)
        return 0
    if why := skipped():
        print(f"ca.own_ms: skipped: {why}")
        return 0
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        environment = {**os.environ, "REALKUBE_STATE": f"{folder}/clusters"}
        (Path(folder) / "market").mkdir()

        def realkube(*more):
            return subprocess.run([REALKUBE / "realkube", *more], env=environment, check=True)
        try:
            realkube("up", "home", "--nodes", "1")
            realkube("run", "--", sys.executable, "-B", __file__, "--inside", f"{folder}/market",
                     "--out", str(options.out.resolve()))
        finally:
            realkube("down", "--all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
