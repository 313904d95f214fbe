"""The unmodified Cluster Autoscaler scales a cluster over the market, up and down, by price. Run by tests/e2e/run with
every binary of CLUSTER_AUTOSCALER_BIN."""
import unittest

from autoscaling import SCALE_SECONDS, Autoscaling, with_every_binary
from market import Provider, offer
from processes import eventually


class Scaling(Autoscaling):
    def setUp(self):
        super().setUp()
        self.alpha, self.beta = Provider(self.market, "alpha"), Provider(self.market, "beta")
        self.alpha.sells([offer("alpha", "small", cpu_hour=0.02)])
        self.beta.sells([offer("beta", "small", cpu_hour=0.03)])
        self.autoscaler = self.start_autoscaler()
        self.cluster_autoscaler = self.start_cluster_autoscaler(self.autoscaler)

    def test_pending_pods_are_placed_and_what_is_idle_is_drained_and_given_back(self):
        self.work(5)  # one fits the cluster's own node
        self.all_run(5)
        self.nodes_are_what_is_held(2)
        self.assertEqual(len(self.nodes("alpha")), 2, "the cheaper one is taken")
        # Each unit loses one of its two pods, for those that are doubled up go first: one unit is drained.
        self.work(3)
        self.nodes_are_what_is_held(1)
        self.all_run(3)
        self.nothing_is_left()

    def test_a_price_that_has_changed_counts_the_next_time(self):
        self.work(3)
        self.all_run(3)
        self.assertEqual(len(self.nodes("alpha")), 1)
        before = self.market.asked("home", "/v1/offers/beta/small")
        self.beta.sells([offer("beta", "small", cpu_hour=0.01)])
        eventually("the new price being known",
                   lambda: self.market.asked("home", "/v1/offers/beta/small") > before, SCALE_SECONDS)
        self.work(5)
        self.all_run(5)
        self.nodes_are_what_is_held(2)
        self.assertEqual((len(self.nodes("alpha")), len(self.nodes("beta"))), (1, 1))

    def test_a_pod_tells_its_user_which_group_was_taken_for_it(self):
        self.work(3)
        self.all_run(3)
        # The Cluster Autoscaler writes its events when it has the time to; our nodes are there before.
        eventually("an event that names the group", lambda: "alpha/small 0->1" in self.kubectl(
            "-n", self.namespace, "get", "events", "-o",
            "jsonpath={.items[?(@.reason=='TriggeredScaleUp')].message}"), SCALE_SECONDS)


with_every_binary(globals(), Scaling)

if __name__ == "__main__":
    unittest.main()
