"""A market for tests: a broker with members who joined it, and what was traded, by the program's own verbs."""
import json
import os
from pathlib import Path

from on_a_cluster import PATIENCE_SECONDS, call
from processes import Program, eventually, free_port

ROOT = Path(__file__).resolve().parent.parent.parent
SPILLWAY = Path(os.environ.get("SPILLWAY_BINARY_DIR", ROOT / "build" / "release")) / "spillway"
LIVE = ("hold", "active", "closing")


def offer(provider, name, cpu=2, memory="4Gi", cpu_hour=0.02, **more):
    """One that every member sees. Short terms: what ends in a test ends while it is looked at."""
    return {"id": f"{provider}/{name}", "pool": f"{provider}/pool",
            "shape": {"cpu": cpu, "memory": memory, "pods": 20},
            "price": {"currency": "EUR", "cpu_hour": cpu_hour, "memory_gib_hour": 0.001},
            "place": {"latitude": 45.07, "longitude": 7.68, "country": "IT"},
            "visibility": "everyone", "terms": {"lease": "10m", "notice": "5m"}, **more}


class Provider:
    """An agent that sells what a file says, which may be written anew."""

    def __init__(self, market, name):
        self.market, self.name = market, name
        self.identity = market.join(name, "provider")
        self.file = self.identity / "supply.yaml"
        self.agent = market.program(f"agent-{name}", "agent", "--dir", self.identity, "--supply", self.file)

    def sells(self, offers, cores=64):
        """JSON is YAML. One node carries any of the offers."""
        amounts = {"cpu": cores, "memory": f"{cores * 4}Gi", "pods": cores * 20}
        self.file.write_text(json.dumps({
            "noun": "supply", "version": 1, "offers": offers,
            "pools": [{"id": f"{self.name}/pool", "node": amounts, "capacity": amounts}]}))
        if not self.agent.is_running():
            self.agent.start()
        wanted = {one["id"] for one in offers}
        eventually(f"offers of {self.name}", lambda: wanted == {
            one["id"] for one in self.published()}, PATIENCE_SECONDS)

    def published(self):
        told = json.loads(self.market.spillway("offers", "--mine", "--dir", self.identity, "-o", "json"))
        return [row["offer"] for row in told["offers"]]

    def gives_notice(self, contract):
        self.market.spillway("contracts", "notice", contract, "--dir", self.identity)


class Market:
    """Everything in one folder; `close` ends what was started."""

    def __init__(self, folder, federation="e2e"):
        self.folder = folder
        self.programs = []
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        data = folder / "broker"
        self.spillway("broker", "init", "--data", data, "--federation", federation,
                      "--listen", f"127.0.0.1:{self.port}", "--name", "127.0.0.1")
        self.operator = data / "operator"
        self.broker = self.program("broker", "broker", "--data", data, "--set", "log=debug")
        self.start_broker()

    def start_broker(self):
        self.broker.start()
        eventually("the broker", lambda: self.spillway("whoami", "--dir", self.operator), PATIENCE_SECONDS)

    def spillway(self, *words, **more):
        return call(SPILLWAY, *words, **more)

    def program(self, name, *words, command=None):
        program = Program(name, command or [SPILLWAY, *words], self.folder / f"{name}.log")
        self.programs.append(program)
        return program

    def join(self, name, roles):
        token = self.spillway("token", "create", "--dir", self.operator, "--cluster", name,
                              "--roles", roles, "-o", "plain").split()[-1]
        identity = self.folder / name
        self.spillway("join", self.url, "--token-file", "-", "--dir", identity, stdin=token)
        return identity

    def contracts(self, identity):
        """Those that are not over."""
        told = json.loads(self.spillway("contracts", "--dir", identity, "-o", "json"))
        return [one for one in told["contracts"] if one["state"] in LIVE]

    def asked(self, who, target):
        """How often somebody has asked the broker for this; as its log tells."""
        words = (f'"by":"{who}"', f'"target":"{target}"')
        return sum(all(word in line for word in words) for line in self.broker.text().splitlines())

    def close(self):
        for program in reversed(self.programs):
            program.stop()
