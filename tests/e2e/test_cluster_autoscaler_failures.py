"""Providers that fail while the Cluster Autoscaler counts on them: what they had is given up, and others are taken.
Run by tests/e2e/run with every binary of CLUSTER_AUTOSCALER_BIN."""
import json
import signal
import unittest
from datetime import datetime, timezone

from autoscaling import FAILURE_SECONDS, Autoscaling, with_every_binary
from market import Provider, offer
from on_a_cluster import PATIENCE_SECONDS
from processes import eventually


class Failures(Autoscaling):
    def setUp(self):
        super().setUp()
        self.alpha, self.beta = Provider(self.market, "alpha"), Provider(self.market, "beta")
        self.alpha.sells([offer("alpha", "small", cpu_hour=0.02)], cores=10)
        self.beta.sells([offer("beta", "small", cpu_hour=0.03)])
        self.autoscaler = self.start_autoscaler("--unready-after", "5s")
        self.cluster_autoscaler = self.start_cluster_autoscaler(self.autoscaler)

    def beats(self, nodes):
        """The hearts of these go on while nobody plays the others."""
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return self.kubectl("-n", "kube-node-lease", "patch", "leases", *nodes, "--type=merge", "-p",
                            json.dumps({"spec": {"renewTime": now}}))

    def moved_to_beta(self, pods, units):
        eventually(f"{units} units of beta", lambda: len(self.nodes("beta")) == units, FAILURE_SECONDS)
        self.all_run(pods)
        self.nodes_are_what_is_held(units)

    def test_a_provider_that_gives_up_while_its_units_are_made(self):
        self.kwok(signal.SIGSTOP)  # nodes are made, and do not become Ready
        self.work(5)
        self.nodes_are_what_is_held(2)
        for contract in self.market.contracts(self.home):
            self.alpha.gives_notice(contract["id"])
        eventually("the units being given up", lambda: not self.held(), PATIENCE_SECONDS)
        self.kwok(signal.SIGCONT)
        self.moved_to_beta(5, 2)
        self.nothing_is_left()

    def test_a_provider_that_takes_capacity_back(self):
        self.work(5)
        self.all_run(5)
        self.assertEqual(len(self.nodes("alpha")), 2)
        self.alpha.sells([offer("alpha", "small", cpu_hour=0.02)], cores=2)  # its agent gives notice by itself
        eventually("the loss", lambda: self.autoscaler.says('"code":"notice"'), PATIENCE_SECONDS)
        self.all_run(5, within=FAILURE_SECONDS)
        eventually("one unit of each", lambda: (len(self.nodes("alpha")), len(self.nodes("beta"))) in ((1, 1), (0, 2)),
                   FAILURE_SECONDS)
        self.nodes_are_what_is_held(2)
        self.nothing_is_left()

    def test_a_provider_that_dies_with_half_of_the_nodes(self):
        self.work(21)  # one on the cluster's own node; alpha has room for five units, beta gets the rest
        self.all_run(21)
        self.nodes_are_what_is_held(10)
        dead = self.nodes("alpha")
        self.assertEqual(len(dead), 5)
        self.alpha.agent.kill()
        self.kwok(signal.SIGSTOP)
        alive = [*self.nodes("beta"), f"{self.cluster}-1"]
        eventually("the dead being gone", lambda: self.beats(alive) and not self.nodes("alpha"), FAILURE_SECONDS)
        self.kwok(signal.SIGCONT)
        self.assertIn('"code":"node-dead"', self.autoscaler.text())
        # With five of eleven not Ready the Cluster Autoscaler did nothing at all; now it goes on.
        self.moved_to_beta(21, 10)
        self.assertFalse(dead & self.nodes())
        self.nothing_is_left()


with_every_binary(globals(), Failures)

if __name__ == "__main__":
    unittest.main()
