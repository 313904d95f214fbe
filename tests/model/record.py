#!/usr/bin/env python3
"""Runs one load on a real cluster with a real Cluster Autoscaler and writes down how many nodes each group had.

  record.py --binary FILE --expander least-waste --out RECORD.csv

To be run where the cluster `model` is reachable (tests/model/run does so). The model is held to what is recorded:
tests/unit/sim/scaler_agreement_test.cpp."""
import argparse
import csv
import datetime
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from market import Market, Provider  # noqa: E402
from on_a_cluster import PATIENCE_SECONDS, call  # noqa: E402
from processes import eventually, free_port  # noqa: E402

TOLERATION = {"key": "virtual-node.liqo.io/not-allowed", "operator": "Exists"}
OFFER_LABEL = "spillway.dev/offer"
PROVIDER_LABEL = "spillway.dev/provider"


class Recorder:
    def __init__(self, options, load):
        self.options, self.load = options, load
        self.kubeconfig = os.environ[f"REALKUBE_KUBECONFIG_{options.cluster.upper()}"]
        self.folder = Path(tempfile.mkdtemp(prefix="model-"))
        self.market = Market(self.folder)
        self.groups = [f"{one['provider']}/{one['name']}" for one in load["offers"]]

    def kubectl(self, *words, **more):
        return call("kubectl", f"--kubeconfig={self.kubeconfig}", *words, **more)

    def start(self):
        for one in self.load["offers"]:
            self.sell(one)
        home = self.market.join("home", "consumer")
        port = free_port()
        autoscaler = self.market.program("autoscaler", "autoscaler", "--dir", home, "--kubeconfig", self.kubeconfig,
                                         "--listen", f"127.0.0.1:{port}", "--plaintext")
        autoscaler.start()
        for name, pod in self.load["works"].items():
            self.kubectl("apply", "-f", "-", stdin=json.dumps(deployment(name, pod)))
        config = self.folder / "cloud-config.yaml"
        config.write_text(f"address: 127.0.0.1:{port}\ngrpc_timeout: 10s\n")
        program = self.market.program("cluster-autoscaler", command=[
            self.options.binary, "--cloud-provider=externalgrpc", f"--cloud-config={config}",
            f"--kubeconfig={self.kubeconfig}", "--leader-elect=false", f"--address=127.0.0.1:{free_port()}",
            "--v=4", f"--expander={self.options.expander}",
            *(f"--{name}={value}" for name, value in self.load["flags"].items()), *self.options.more])
        program.start()
        eventually("a loop of the Cluster Autoscaler", lambda: program.says("No unschedulable pods"), PATIENCE_SECONDS)

    def sell(self, one):
        name = one["provider"]
        amounts = {"cpu": one["cpu"] * one["units"], "memory": times(one["memory"], one["units"]),
                   "pods": 20 * one["units"]}
        provider = Provider(self.market, name)
        provider.file.write_text(json.dumps({"noun": "supply", "version": 1, "pools": [
            {"id": f"{name}/pool", "node": amounts, "capacity": amounts}], "offers": [
                {"id": f"{name}/{one['name']}", "pool": f"{name}/pool",
                 "shape": {"cpu": one["cpu"], "memory": one["memory"], "pods": 20},
                 "price": {"currency": "EUR", "cpu_hour": one["cpu_hour"],
                           "memory_gib_hour": one["memory_gib_hour"]},
                 "place": {"latitude": 45.07, "longitude": 7.68, "country": "IT"},
                 "visibility": "everyone", "terms": {"lease": "10m", "notice": "5m"}}]}))
        provider.agent.start()
        eventually(f"the offer of {name}", provider.published, PATIENCE_SECONDS)

    def counts(self):
        """By group, and how many pods run and wait."""
        nodes = json.loads(self.kubectl("get", "nodes", "-o", "json"))["items"]
        of = [f"{labels.get(PROVIDER_LABEL)}/{labels.get(OFFER_LABEL)}"
              for labels in (node["metadata"]["labels"] for node in nodes)]
        pods = json.loads(self.kubectl("get", "pods", "-o", "json"))["items"]
        running = sum(pod["status"]["phase"] == "Running" for pod in pods)
        return [*(of.count(group) for group in self.groups), running, len(pods) - running]

    def record(self):
        """One row every few seconds; beside it what was changed when."""
        steps = [tuple(step) for step in self.load["steps"]]
        begin = time.monotonic()
        at = 0
        with open(self.options.out, "w", newline="", encoding="utf-8") as file:
            day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
            file.write(f"# {self.options.binary.name}, --expander={self.options.expander}, {day}\n")
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["seconds", *self.groups, "running", "waiting"])
            while at <= self.load["seconds"]:
                due = min(at, steps[0][0] if steps else at)
                time.sleep(max(0.0, begin + due - time.monotonic()))
                if steps and steps[0][0] <= at:
                    _, work, replicas = steps.pop(0)
                    self.kubectl("scale", "deployment", work, f"--replicas={replicas}")
                    continue
                seen = round(time.monotonic() - begin, 1)
                rows.writerow([seen, *self.counts()])
                file.flush()
                at += self.load["sample_seconds"]

    def close(self):
        self.market.close()
        logs = Path(str(self.options.out) + ".logs")
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        for log in self.folder.glob("*.log"):
            shutil.copy(log, logs)
        shutil.rmtree(self.folder, ignore_errors=True)


def times(memory, count):
    return f"{int(memory.removesuffix('Gi')) * count}Gi"


def deployment(name, pod):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": 0, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"terminationGracePeriodSeconds": 1, "tolerations": [TOLERATION], "containers": [
                {"name": "work", "image": "none", "resources": {"requests": pod}}]}}}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--expander", choices=("least-waste", "price"), required=True)
    parser.add_argument("--cluster", default="model")
    parser.add_argument("--load", type=Path, default=ROOT / "tests" / "model" / "load.json")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("more", nargs="*", help="more flags of the Cluster Autoscaler, after --")
    options = parser.parse_args()
    recorder = Recorder(options, json.loads(options.load.read_text(encoding="utf-8")))
    try:
        recorder.start()
        recorder.record()
    finally:
        recorder.close()


if __name__ == "__main__":
    main()
