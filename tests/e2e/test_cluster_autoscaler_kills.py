"""Each of the three that scale a cluster is killed in the middle of a scale-up, as a crash would: nothing is lost,
nothing is bought twice. Run by tests/e2e/run with every binary of CLUSTER_AUTOSCALER_BIN."""
import unittest

from autoscaling import FAILURE_SECONDS, SCALE_SECONDS, Autoscaling, with_every_binary
from market import Provider, offer
from processes import eventually

ROUNDS = 2


class Kills(Autoscaling):
    def setUp(self):
        super().setUp()
        self.alpha, self.beta = Provider(self.market, "alpha"), Provider(self.market, "beta")
        self.alpha.sells([offer("alpha", "small", cpu_hour=0.02)])
        self.beta.sells([offer("beta", "small", cpu_hour=0.03)])
        self.autoscaler = self.start_autoscaler()
        self.cluster_autoscaler = self.start_cluster_autoscaler(
            self.autoscaler, "--initial-node-group-backoff-duration=5s", "--max-node-group-backoff-duration=5s")

    def scaling_up(self):
        """Comes back in the moment in which the Cluster Autoscaler asks for units."""
        self.cluster_autoscaler.forget()
        self.work(5)
        eventually("a scale-up", lambda: self.cluster_autoscaler.says("Scale-up: setting group"), SCALE_SECONDS,
                   pause=0.002)

    def comes_to_an_end(self):
        """Five pods, one of them at home: two units, however often they were asked for. Then none."""
        self.all_run(5, within=FAILURE_SECONDS)
        self.nodes_are_what_is_held(2)
        self.nothing_is_left()

    def test_the_cluster_autoscaler_is_killed(self):
        for _ in range(ROUNDS):
            self.scaling_up()
            self.cluster_autoscaler.kill()
            self.cluster_autoscaler.start()
            self.comes_to_an_end()

    def test_the_autoscaler_is_killed(self):
        for _ in range(ROUNDS):
            self.scaling_up()
            self.autoscaler.kill()
            self.autoscaler.start()
            self.comes_to_an_end()

    def test_the_broker_is_killed(self):
        for _ in range(ROUNDS):
            self.scaling_up()
            self.market.broker.kill()
            self.market.start_broker()
            self.comes_to_an_end()

    def test_the_broker_is_away_when_it_is_asked(self):
        self.work(1)
        self.all_run(1)
        self.market.broker.kill()
        self.work(5)
        eventually("a call of which nothing is known",
                   lambda: self.cluster_autoscaler.says("what came of it is not known yet"), SCALE_SECONDS)
        self.market.start_broker()
        self.comes_to_an_end()


with_every_binary(globals(), Kills)

if __name__ == "__main__":
    unittest.main()
