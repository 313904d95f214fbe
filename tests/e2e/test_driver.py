"""The driver on real Liqo: units by REST between two clusters that one process has kubeconfigs of; and an agent's own
units behind the same face. Run by tests/e2e/run."""
import json
import shutil
import tempfile
import time
import unittest
import uuid
from pathlib import Path

import test_fabric
from guarded_peering import PREFIX
from liqo_objects import BUYER, SELLER, offloading_of
from market import SPILLWAY
from on_a_cluster import PATIENCE_SECONDS, call, work
from processes import Program, eventually, free_port
from two_clusters import TwoClusters

NAMES = {BUYER: "rome", SELLER: "milan"}  # to the driver
PEERING = ("identities.authentication.liqo.io", "tenants.authentication.liqo.io")


class Driver(TwoClusters, unittest.TestCase):
    DRAIN_SECONDS = 300

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.find_clusters()
        self.folder = Path(folder.name)
        call(SPILLWAY, "driver", "init", "--folder", self.folder / "driver", "--listen", f"127.0.0.1:{free_port()}")
        file = self.folder / "driver" / "driver.yaml"
        clusters = json.dumps([{"name": NAMES[side], "kubeconfig": self.kubeconfigs[side]} for side in (BUYER, SELLER)])
        file.write_text(file.read_text().replace(
            "\nclusters: []", f"\nwarm: 0s\ndrain: {self.DRAIN_SECONDS}s\nclusters: {clusters}"))
        self.driver = Program("driver", [SPILLWAY, "driver", "--folder", self.folder / "driver"],
                              self.folder / "driver.log")
        self.addCleanup(self.driver.stop)
        self.start()
        self.watch = Program("watch", [SPILLWAY, "driver", "watch", "--after", "0", "-o", "json", "--dir", self.caller()],
                             self.folder / "watch.log").start()
        self.addCleanup(self.watch.stop)

    def start(self):
        self.driver.forget()
        self.driver.start()
        eventually("the driver", lambda: self.driver.says("listens on"), PATIENCE_SECONDS)

    def caller(self):
        return self.folder / "driver" / "operator"

    def ask(self, *words, **more):
        return call(SPILLWAY, "driver", *words, "--dir", self.caller(), **more)

    def order(self, *more, consumer=BUYER):
        provider = SELLER if consumer == BUYER else BUYER
        return json.loads(self.ask("order", NAMES[consumer], NAMES[provider], "--cpu", "2", "--memory", "4Gi", *more,
                                   "-o", "json"))["unit"]

    def step(self, unit):
        return next(one["step"] for one in json.loads(self.ask("units", "-o", "json"))["units"] if one["unit"] == unit)

    def steps_told(self, unit):
        events = [json.loads(line) for line in self.watch.text().splitlines() if line.startswith("{")]
        return [one["step"] for one in events if one.get("unit") == unit and "step" in one]

    def comes_to(self, unit, step):
        eventually(f"{unit} {step}", lambda: self.step(unit) == step, PATIENCE_SECONDS, 0.05)

    def peerings(self):
        return [f"{side} {one['metadata']['name']}" for side in (BUYER, SELLER) for kind in PEERING
                for one in self.items(side, kind, "-A")]

    def test_from_an_order_to_nothing(self):
        began = time.monotonic()
        unit = self.order("--labels", "disk=ssd")
        self.comes_to(unit, "ready")
        print(f"ordered, and Ready {time.monotonic() - began:.1f} s later")
        node = self.ready()[unit]
        self.assertEqual(node["spec"]["providerID"], "spillway://{}/{}".format(*unit.removeprefix("sw-").rsplit("-", 1)))
        self.assertEqual(node["metadata"]["labels"]["disk"], "ssd")
        self.assertEqual(node["status"]["allocatable"]["cpu"], "2")
        self.assertEqual(self.order("--labels", "disk=ssd", "--unit", unit), unit)
        self.assertIn("labels", self.ask("order", *NAMES.values(), "--cpu", "2", "--memory", "4Gi", "--unit", unit, fails=True))

        # Killed with an order under way, and again with its end.
        second = self.order()
        self.driver.kill()
        self.start()
        self.comes_to(second, "ready")
        self.assertEqual(set(self.ready()), {unit, second})
        self.ask("end", second)
        self.driver.kill()
        self.start()
        self.comes_to(second, "gone")
        self.assertEqual(set(self.ready()), {unit})

        self.ask("end", unit)
        self.comes_to(unit, "gone")
        eventually("nothing left", lambda: not self.left() and not self.peerings(), PATIENCE_SECONDS)
        self.assertIn("never used again", self.ask("order", *NAMES.values(), "--unit", unit, fails=True))
        told = self.steps_told(unit)
        self.assertEqual([step for step in told if step in ("asked", "granted", "ready", "gone")],
                         ["asked", "granted", "ready", "gone"], told)

    def test_a_spare_is_made_ready_by_ordering_it_as_none(self):
        unit = self.order("--spare")
        self.comes_to(unit, "spare")
        self.assertNotIn(unit, self.ready())
        began = time.monotonic()
        self.order("--unit", unit)
        eventually("a node that is Ready", lambda: self.ready().get(unit), PATIENCE_SECONDS, 0.02)
        print(f"a spare Ready {time.monotonic() - began:.2f} s after it was ordered")
        self.ask("end", unit)
        eventually("nothing left", lambda: not self.left() and not self.peerings(), PATIENCE_SECONDS)

    def test_both_ways_at_once_and_each_ends_alone(self):
        there, back = self.order(), self.order(consumer=SELLER)
        self.comes_to(there, "ready")
        self.comes_to(back, "ready")
        self.assertEqual((set(self.ready(BUYER)), set(self.ready(SELLER))), ({there}, {back}))
        self.ask("end", there)
        self.comes_to(there, "gone")
        self.assertEqual(set(self.ready(SELLER)), {back})
        self.ask("end", back)
        eventually("nothing left", lambda: not self.left() and not self.peerings(), PATIENCE_SECONDS)


class DriverOfWork(Driver):
    """Of a unit with a pod that a disruption budget lets nobody evict."""
    DRAIN_SECONDS = 10
    test_from_an_order_to_nothing = None  # are tried without work
    test_a_spare_is_made_ready_by_ordering_it_as_none = None
    test_both_ways_at_once_and_each_ends_alone = None

    def begin(self, unit):
        self.space = f"shop-{uuid.uuid4().hex[:6]}"
        self.kubectl(BUYER, "create", "namespace", self.space)
        self.addCleanup(self.kubectl, BUYER, "delete", "namespace", self.space, "--wait=false")
        self.create(offloading_of(self.space, PREFIX + self.space))
        self.addCleanup(self.kubectl, BUYER, "-n", self.space, "delete", "namespaceoffloadings", "--all", "--wait=false")
        web = work("Deployment", "web")
        web["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": unit}
        self.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
                     "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}})
        self.create(web)
        eventually("a pod that the budget keeps", lambda: self.budget().get("currentHealthy") == 1, PATIENCE_SECONDS)

    def create(self, thing):
        self.kubectl(BUYER, "-n", self.space, "create", "-f", "-", stdin=json.dumps(thing))

    def budget(self):
        told = self.kubectl(BUYER, "-n", self.space, "get", "poddisruptionbudget", "web", "-o", "json")
        return json.loads(told).get("status", {})

    def staying(self, unit):
        return [one["metadata"]["name"] for one in self.items(BUYER, "pods", "-n", self.space)
                if one["spec"].get("nodeName") == unit and "deletionTimestamp" not in one["metadata"]]

    def test_a_budget_that_refuses_keeps_a_unit_for_its_time_alone(self):
        unit = self.order()
        self.comes_to(unit, "ready")
        self.begin(unit)
        pods = self.staying(unit)
        began = time.monotonic()
        self.ask("end", unit)
        while time.monotonic() - began < self.DRAIN_SECONDS - 2:
            self.assertEqual(self.staying(unit), pods)
            time.sleep(0.5)
        self.comes_to(unit, "gone")
        print(f"gone {time.monotonic() - began:.1f} s after its end, for which it had {self.DRAIN_SECONDS} s")
        eventually("nothing left", lambda: not self.left() and not self.peerings(), PATIENCE_SECONDS)


class AgentsFace(test_fabric.Fabric):
    """`spillway agent --driver-listen`: what its contracts have made, asked by the driver's own words."""
    test_from_a_purchase_to_nothing = None  # are tried elsewhere
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    def agent(self, side):
        program = super().agent(side)
        if side == BUYER:
            program.command += self.face()
        return program

    def face(self):
        """Words of the agent; and a caller that trusts it, whom it trusts."""
        folder, self.port = self.market.folder, free_port()
        call(SPILLWAY, "driver", "init", "--folder", folder / "face")
        self.caller = folder / "face" / "operator"
        key, certificate = folder / "face.key", folder / "face.pem"
        call("openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=face", "-days", "2",
             "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
        callers = shutil.copy(self.caller / "authorities.pem", folder / "callers.pem")
        shutil.copy(certificate, self.caller / "authorities.pem")
        return [str(word) for word in ("--driver-listen", f"127.0.0.1:{self.port}", "--driver-cert", certificate,
                                       "--driver-key", key, "--driver-ca", callers)]

    def ask(self, *words, **more):
        return call(SPILLWAY, "driver", *words, "--dir", self.caller, "--driver", f"https://127.0.0.1:{self.port}", **more)

    def test_an_agents_units_are_seen_and_ended_and_never_ordered(self):
        contract, _ = self.buy(2)
        units = {one["unit"]: one for one in json.loads(self.ask("units", "-o", "json"))["units"]}
        self.assertEqual({name: one["step"] for name, one in units.items()},
                         {f"sw-{contract}-{number}": "ready" for number in range(2)})
        self.assertIn("spillway hold", self.ask("order", *test_fabric.NAMES.values(), fails=True))
        self.ask("end", f"sw-{contract}-0")
        eventually("one unit gone", lambda: set(self.ready()) == {f"sw-{contract}-1"}, PATIENCE_SECONDS)
        self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
        eventually("nothing left", lambda: not self.left(), PATIENCE_SECONDS)


if __name__ == "__main__":
    unittest.main()
