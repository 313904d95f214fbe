"""Who decides what is bought: the owner's policy through the gRPC expander, its rules whatever the expander, and a
second Cluster Autoscaler for the cluster's own groups, which comes first. Run by tests/e2e/run with every binary of
CLUSTER_AUTOSCALER_BIN."""
import json
import unittest
from datetime import datetime, timezone

from autoscaling import SCALE_SECONDS, Autoscaling, with_every_binary
from market import Market, Provider, offer
from processes import eventually, free_port


def powered(carbon):
    """With so many grams of CO2e a kWh, as its provider claims."""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"energy": {"carbon_now": carbon, "unit_milliwatts": 100000,
                       "provenance": {"source": "e2e", "as_of": now, "evidence": "claimed"}}}


class Policies(Autoscaling):
    def setUp(self):
        super().setUp()
        self.coal, self.hydro = Provider(self.market, "coal"), Provider(self.market, "hydro")
        self.coal.sells([offer("coal", "small", cpu_hour=0.02, **powered(900))])
        self.hydro.sells([offer("hydro", "small", cpu_hour=0.03, **powered(20))])

    def policy(self, **more):
        file = self.folder / "policy.yaml"
        file.write_text(json.dumps({"noun": "recommender-policy", "version": 1, "currency": "EUR", **more}))
        return file

    def test_the_grpc_expander_chooses_as_the_policy_says_and_tells_why(self):
        expander = free_port()
        autoscaler = self.start_autoscaler("--policy", self.policy(profile="greenest"),
                                           "--expander-listen", f"127.0.0.1:{expander}")
        self.start_cluster_autoscaler(autoscaler, "--expander=grpc", f"--grpc-expander-url=127.0.0.1:{expander}",
                                      f"--grpc-expander-cert={self.papers / 'authority.pem'}")
        self.work(3)
        self.all_run(3)
        self.nodes_are_what_is_held(1)
        self.assertEqual(len(self.nodes("hydro")), 1, "the greener one is taken, though it is dearer")
        node, = self.nodes()
        told = self.market.spillway("explain", node, "--target", f"127.0.0.1:{autoscaler.port}",
                                    "--ca", self.papers / "authority.pem", "--cert", self.papers / "client.pem",
                                    "--key", self.papers / "client.key")
        self.assertIn("hydro/small", told)
        eventually("an event on the node", lambda: "hydro/small" in self.kubectl("describe", "node", node),
                   SCALE_SECONDS)

    def test_what_the_policy_rules_out_is_not_bought_whatever_the_expander_says(self):
        autoscaler = self.start_autoscaler("--policy", self.policy(providers={"deny": ["coal"]}))
        self.start_cluster_autoscaler(autoscaler)  # by price: coal
        self.work(3)
        self.all_run(3)
        self.nodes_are_what_is_held(1)
        self.assertEqual(len(self.nodes("hydro")), 1)


class LocalFirst(Autoscaling):
    """The cluster's own machines are another cloud, with a Cluster Autoscaler of its own; a second market stands in
    for that cloud."""

    def setUp(self):
        super().setUp()
        (self.folder / "local").mkdir()
        self.local = Market(self.folder / "local", federation="local")
        self.addCleanup(self.local.close)
        rack, alpha = Provider(self.local, "rack"), Provider(self.market, "alpha")
        rack.sells([offer("rack", "machine")], cores=4)  # two of them
        alpha.sells([offer("alpha", "small")])
        own = self.start_autoscaler(market=self.local, identity=self.local.join("home", "consumer"))
        self.start_cluster_autoscaler(own, "--write-status-configmap=false", name="cluster-autoscaler-local")
        self.start_cluster_autoscaler(self.start_autoscaler(), "--new-pod-scale-up-delay=20s")

    def counts(self):
        return len(self.nodes("rack")), len(self.nodes("alpha"))

    def test_the_market_is_asked_for_what_the_cluster_does_not_have_itself(self):
        self.work(5)
        self.all_run(5)
        self.assertEqual(self.counts(), (2, 0))
        self.work(7)  # two more than its own machines can take
        self.all_run(7)
        self.assertEqual(self.counts(), (2, 1))
        self.nodes_of_both_go()

    def nodes_of_both_go(self):
        self.work(0)
        eventually("no nodes", lambda: self.counts() == (0, 0), SCALE_SECONDS)
        eventually("nothing held", lambda: not self.held() and not self.local.contracts(self.folder / "local" / "home"),
                   SCALE_SECONDS)


with_every_binary(globals(), Policies, LocalFirst)

if __name__ == "__main__":
    unittest.main()
