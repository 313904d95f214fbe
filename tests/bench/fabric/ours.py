"""Two agents with the fabric and a broker, on the same clusters. Time begins when the book's own stream says that the
contract is active: holding and signing is over then, everything else is in it."""
import json
import time

from liqo_objects import AT_BUYER, AT_SELLER, BUYER, SELLER, SLICES
from market import Market, offer
from on_a_cluster import PATIENCE_SECONDS, call
from processes import eventually

from fabric.journal import accepted, ready, waiting


class Ours:
    def __init__(self, folder, journal, apis, kubeconfigs):
        self.journal, self.apis, self.kubeconfigs = journal, apis, kubeconfigs
        self.market = Market(folder)
        self.identities = {BUYER: self.market.join("rome", "consumer"), SELLER: self.market.join("milan", "provider")}
        amounts = {"cpu": 64, "memory": "256Gi", "pods": 1280}
        (self.identities[SELLER] / "supply.yaml").write_text(json.dumps({
            "noun": "supply", "version": 1, "offers": [offer("milan", "small", labels={"disk": "ssd"})],
            "pools": [{"id": "milan/pool", "node": amounts, "capacity": amounts}]}))
        self.agents = {side: self.market.program(
            f"agent-{side}", "agent", "--dir", self.identities[side], "--kubeconfig", kubeconfigs[side],
            "--fabric", "liqo", "--fabric-warm", "0s",  # a peering without contracts is taken apart at once
            *(["--supply", self.identities[side] / "supply.yaml"] if side == SELLER else [])) for side in (BUYER, SELLER)}
        for agent in self.agents.values():
            agent.start()
        for agent in self.agents.values():
            eventually("Liqo's id", lambda a=agent: a.says("Liqo is known"), PATIENCE_SECONDS)
        journal.follow_book(self.market.port, self.market.operator)
        self.release_all([self.buy()[0]])  # once before it counts: cards are shown, connections are open

    def close(self):
        self.market.close()

    def hold(self, *more):
        """A contract on one unit that both have signed."""
        return eventually("a purchase", lambda: self.market.spillway(
            "hold", "milan/small", "--confirm", "--fabric", "liqo", "--dir", self.identities[BUYER],
            "--kubeconfig", self.kubeconfigs[BUYER], "-o", "plain", *more).split()[-1], PATIENCE_SECONDS)

    def buy(self):
        """A contract on one unit, and the seconds from its being active until accepted and until Ready."""
        mark = self.journal.mark()
        contract = self.hold()
        unit = f"sw-{contract}-0"
        active = self.moment(mark, "book", "contract-confirmed", contract)
        return (contract, self.moment(mark, BUYER, "resourceslices", unit, accepted) - active,
                self.moment(mark, BUYER, "nodes", unit, ready) - active)

    def moment(self, mark, side, kind, name, test=lambda _: True):
        return self.journal.moment(f"{kind} {name} of {side}", mark, lambda event: (
            event.side, event.kind, event.name) == (side, kind, name) and test(event.thing))

    def keep_spare(self):
        """A contract on one spare whose virtual kubelet runs and whose node is not Ready."""
        mark = self.journal.mark()
        contract = self.hold("--spare")
        self.moment(mark, BUYER, "nodes", f"sw-{contract}-0", waiting)
        return contract

    def buy_spare(self, contract):
        """Seconds from the book having sold it until its node is Ready."""
        mark = self.journal.mark()
        self.market.spillway("contracts", "buy", contract, "--unit", "0", "--dir", self.identities[BUYER])
        return (self.moment(mark, BUYER, "nodes", f"sw-{contract}-0", ready)
                - self.moment(mark, "book", "units-bought", contract))

    def release(self, contract):
        """Seconds from the wish that its one unit ends until slice, VirtualNode and Node are gone."""
        unit = f"sw-{contract}-0"
        mark, began = self.journal.mark(), time.monotonic()
        call("kubectl", f"--kubeconfig={self.kubeconfigs[BUYER]}", "-n", AT_BUYER, "annotate", SLICES, unit,
             "spillway.dev/end=now")
        return self.journal.gone(BUYER, [(kind, unit) for kind in ("resourceslices", "virtualnodes", "nodes")],
                                 mark) - began

    def release_all(self, contracts):
        """Until the peering is gone on both sides, and the agents have nothing to do with it any more."""
        for contract in contracts:
            self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
        eventually("nothing left of a peering", self.is_parted, PATIENCE_SECONDS)

    def is_parted(self):
        buyer, seller = self.apis[BUYER], self.apis[SELLER]
        return not (buyer.items("identities", AT_BUYER) or seller.items("tenants", AT_SELLER)
                    or seller.items("configmaps", AT_SELLER, "?fieldSelector=metadata.name%3Dspillway-units")
                    or any(one["metadata"]["name"] == "liqo-nonce" for one in seller.items("secrets", AT_SELLER)))

    def take_down(self):
        self.release_all([one["id"] for one in self.market.contracts(self.identities[BUYER])])
