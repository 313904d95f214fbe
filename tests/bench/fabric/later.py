"""Figures that are measured after the rounds, for themselves. Each gets the two agents (fabric/ours.py) on cleared
clusters, and gives its samples in the figure's unit; or says why it cannot."""
import os
import sys

from fabric.death import Death

SPARES = 10
DEATHS = 10


class NotMeasured(Exception):
    """With the reason."""


def dead_s(ours):
    """The provider's API server stands still: seconds until work without identity runs elsewhere."""
    if "REALKUBE_STATE" not in os.environ:
        raise NotMeasured("embedded clusters have no API server of their own to stop")
    death = Death(ours)
    try:
        samples = []
        for number in range(DEATHS):
            samples.append(death.one())
            print(f"fabric: death {number + 1}: {samples[-1]:.1f} s", file=sys.stderr, flush=True)
        return samples
    finally:
        death.close()


def spare_ms(ours):
    """A spare is bought: milliseconds from the book having sold it until its node is Ready."""
    contracts = [ours.buy()[0]]  # of a peering that stands: there is no spare without one
    samples = []
    for _ in range(SPARES):
        contracts.append(ours.keep_spare())
        samples.append(1000 * ours.buy_spare(contracts[-1]))
    ours.release_all(contracts)
    return samples


LATER = (("fabric.spare_ms", spare_ms, "ms", 400), ("fabric.dead_s", dead_s, "s", 30))
