"""Contracts become nodes by real Liqo, on the clusters `buyer` and `seller`. Run by tests/e2e/run."""
import json
import tempfile
import time
import unittest
from pathlib import Path

from chart_rights import Release
from liqo_objects import BUYER, SELLER
from market import Market, offer
from on_a_cluster import PATIENCE_SECONDS
from processes import eventually
from two_clusters import TwoClusters

NAMES = {BUYER: "rome", SELLER: "milan"}  # in the federation


class Fabric(TwoClusters, unittest.TestCase):
    TAINTS = []  # of what is on sale
    POLICY = None  # of the buyer
    MORE = {}  # of the offer
    ROLES = {BUYER: "consumer", SELLER: "provider"}
    AGENT = ()  # more words of both
    OF_CHART = ()  # whose agent may do what the chart lets it, and no more
    VALUES = "agent.enabled=true,agent.fabric=liqo"  # of the chart, then

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.find_clusters()
        self.market = Market(Path(folder.name))
        self.addCleanup(self.market.close)
        self.identities = {side: self.market.join(NAMES[side], self.ROLES[side]) for side in (BUYER, SELLER)}
        self.agents = {side: self.agent(side) for side in (BUYER, SELLER)}
        for agent in self.agents.values():
            agent.start()
        for agent in self.agents.values():
            eventually("Liqo's id", lambda a=agent: a.says("Liqo is known"), PATIENCE_SECONDS)
        eventually("something on sale", self.offers, PATIENCE_SECONDS)

    def tearDown(self):
        """Nobody has wanted to do what it may not do."""
        for agent in self.agents.values():
            self.assertEqual([line for line in agent.text().splitlines() if "forbidden" in line.lower()], [], agent.name)

    def supply(self, side):
        """The file; of whoever sells."""
        amounts, name = {"cpu": 64, "memory": "256Gi", "pods": 1280}, NAMES[side]
        file = self.identities[side] / "supply.yaml"
        file.write_text(json.dumps({
            "noun": "supply", "version": 1, "offers": [
                offer(name, "small", labels={"disk": "ssd"}, taints=self.TAINTS, **self.MORE)],
            "pools": [{"id": f"{name}/pool", "node": amounts, "capacity": amounts}]}))
        return file

    def agent(self, side):
        return self.market.program(
            f"agent-{side}", "agent", "--dir", self.identities[side],
            "--kubeconfig", self.agents_access(side), "--fabric", "liqo", *self.AGENT,
            *(["--supply", self.supply(side)] if "provider" in self.ROLES[side] else []),
            *(["--policy", self.set_policy(self.POLICY)] if side == BUYER and self.POLICY else []))

    def agents_access(self, side):
        if side not in self.OF_CHART:
            return self.kubeconfigs[side]
        return Release(self, side, self.VALUES).account("e2e-agent")

    def set_policy(self, offload):
        """The file; whoever runs by it reads it again."""
        path = self.identities[BUYER] / "policy.yaml"
        path.write_text(json.dumps({"noun": "policy", "version": 1, "offload": offload}))
        return path

    def offers(self):
        return json.loads(self.market.spillway("offers", "--mine", "--dir", self.identities[SELLER], "-o", "json"))["offers"]

    def hold(self, units, *more, side=BUYER):
        """The contract, once both have signed."""
        # Until the provider's card has its Liqo id, nothing can be bought for a fabric.
        return eventually("a purchase", lambda: self.market.spillway(
            "hold", f"{NAMES[SELLER if side == BUYER else BUYER]}/small", "--units", str(units), "--confirm", "--fabric", "liqo",
            "--dir", self.identities[side], "--kubeconfig", self.kubeconfigs[side], "-o", "plain",
            *more).split()[-1], PATIENCE_SECONDS)

    def buy(self, units, side=BUYER):
        """The contract, and its nodes once they are Ready."""
        before = set(self.ready(side))
        contract = self.hold(units, side=side)
        began = time.monotonic()
        nodes = eventually("nodes that are Ready", lambda: (
            len(set(self.ready(side)) - before) == units and
            {name: node for name, node in self.ready(side).items() if name not in before}), PATIENCE_SECONDS, 0.05)
        print(f"{units} units Ready {time.monotonic() - began:.1f} s after both had signed")
        return contract, nodes

    def test_from_a_purchase_to_nothing(self):
        contract, nodes = self.buy(1)
        name, node = next(iter(nodes.items()))
        self.assertEqual(node["spec"]["providerID"], f"spillway://{contract}/0")
        self.assertEqual(node["metadata"]["labels"]["disk"], "ssd")
        self.assertEqual(node["status"]["allocatable"]["cpu"], "2")

        second, _ = self.buy(2)  # the peering is there

        # One unit is to end: drained and taken down by the agent. The book knows later.
        slice_name = f"sw-{second}-0"
        began = time.monotonic()
        self.kubectl(BUYER, "-n", f"liqo-tenant-{SELLER}", "annotate",
                     "resourceslices.authentication.liqo.io", slice_name, "spillway.dev/end=now")
        eventually("one unit gone", lambda: slice_name not in str(self.left([BUYER])), PATIENCE_SECONDS)
        print(f"one unit gone {time.monotonic() - began:.1f} s after it was to end")
        self.assertIn(name, self.ready())

        # Killed: what stands, stands; and the provider ends what nobody pays for alone.
        self.agents[BUYER].kill()
        self.agents[BUYER].start()
        self.assertIn(name, self.ready())
        for one in (contract, second):
            self.market.spillway("contracts", "release", one, "--dir", self.identities[BUYER])
        began = time.monotonic()
        eventually("nothing left", lambda: not self.left(), PATIENCE_SECONDS)
        print(f"nothing left {time.monotonic() - began:.1f} s after all was released")

    def test_a_spare_is_there_and_not_ready_until_it_is_bought(self):
        contract = self.hold(2, "--spare")
        names = [f"sw-{contract}-{number}" for number in range(2)]

        eventually("spares", lambda: sorted(self.virtual_nodes(BUYER, "False")) == names, PATIENCE_SECONDS)
        self.assertFalse(self.ready())
        granted = {one["metadata"]["name"]: one["status"]["resources"]
                   for one in self.items(SELLER, "resourceslices.authentication.liqo.io", "-A")}
        self.assertEqual([granted[name]["cpu"] for name in names], ["0", "0"])

        self.market.spillway("contracts", "buy", contract, "--unit", "1", "--dir", self.identities[BUYER])
        began = time.monotonic()
        node = eventually("the one that was bought", lambda: self.ready().get(names[1]), PATIENCE_SECONDS, 0.02)
        print(f"a spare Ready {time.monotonic() - began:.2f} s after it was bought")
        self.assertEqual(node["spec"]["providerID"], f"spillway://{contract}/1")
        self.assertEqual(node["status"]["allocatable"]["cpu"], "2")
        self.assertEqual(list(self.virtual_nodes(BUYER, "False")), names[:1])
        self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
        eventually("nothing left", lambda: not self.left(), PATIENCE_SECONDS)


if __name__ == "__main__":
    unittest.main()
