"""fabric.rss_mib: agents with many units. On embedded clusters: so many virtual kubelets do not run on one machine,
and an agent cannot tell the difference."""
import json
import re
import urllib.request

from market import SPILLWAY, Market, offer
from on_a_cluster import PATIENCE_SECONDS
from processes import Program, eventually, free_port

BUYER, SELLER = "buyer", "seller"
ALL_READY_SECONDS = 600
ROLES = {BUYER: ("rome", "consumer"), SELLER: ("milan", "provider")}


class Crowd:
    """`units` in contracts of `units_each`, between two embedded clusters with Liqo."""

    def __init__(self, folder, units, units_each):
        self.folder, self.units, self.units_each = folder, units, units_each
        self.market, self.clusters = Market(folder, "crowd"), []
        self.ports = {side: free_port() for side in ROLES}

    def close(self):
        self.market.close()
        for cluster in self.clusters:
            cluster.stop()

    def run(self):
        """Resident MiB of the agents by side, once all nodes are Ready."""
        homes = {side: self.market.join(*ROLES[side]) for side in ROLES}
        self.publish(homes[SELLER])
        agents = {side: self.start(side, homes[side]) for side in ROLES}
        for agent in agents.values():
            eventually("Liqo's id", lambda a=agent: a.says("Liqo is known"), PATIENCE_SECONDS)
        for _ in range(self.units // self.units_each):
            eventually("a purchase", lambda: self.market.spillway(
                "hold", "milan/small", "--units", str(self.units_each), "--confirm", "--fabric", "liqo", "--dir",
                homes[BUYER], "--kubeconfig", self.kubeconfig(BUYER), "-o", "plain"), PATIENCE_SECONDS)
        eventually("all nodes Ready", lambda: self.gauge("spillway_fabric_units_bought_ready") == self.units,
                   ALL_READY_SECONDS, 1)
        return {side: rss_mib(agent.process.pid) for side, agent in agents.items()}

    def kubeconfig(self, side):
        return self.folder / f"{side}.yaml"

    def publish(self, home):
        amounts = {"cpu": 2 * self.units, "memory": f"{4 * self.units}Gi", "pods": 20 * self.units}
        (home / "supply.yaml").write_text(json.dumps({
            "noun": "supply", "version": 1, "pools": [{"id": "milan/pool", "node": amounts, "capacity": amounts}],
            "offers": [offer("milan", "small", labels={"disk": "ssd"}, terms={"lease": "1h", "notice": "5m"})]}))

    def start(self, side, home):
        self.clusters.append(Program(side, [
            SPILLWAY, "cluster", "run", side, "--liqo", "--nodes", "1", "--kubeconfig", self.kubeconfig(side)],
            self.folder / f"{side}.log").start())
        eventually(f"cluster {side}", self.kubeconfig(side).exists, PATIENCE_SECONDS)
        return self.market.program(
            f"agent-{side}", "agent", "--dir", home, "--kubeconfig", self.kubeconfig(side), "--fabric", "liqo",
            "--operations", f"127.0.0.1:{self.ports[side]}",
            *(["--supply", home / "supply.yaml"] if side == SELLER else [])).start()

    def gauge(self, name):
        """Of the buyer's agent."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[BUYER]}/metrics", timeout=PATIENCE_SECONDS) as told:
            return float(re.search(rf"^{name} (\S+)$", told.read().decode(), re.MULTILINE)[1])


def rss_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) / 1024
