"""Figures of what is not measured yet. Each gets the two agents (fabric/ours.py) between rounds, on cleared clusters,
and gives its samples in the figure's unit; or says why it cannot."""


SPARES = 10


class NotMeasured(Exception):
    """With the reason."""


def dead_s(ours):
    """The provider's API server is killed: seconds until work without identity runs elsewhere."""
    raise NotMeasured("a dead provider is not told from a slow one yet")


def spare_ms(ours):
    """A spare is bought: milliseconds from the book having sold it until its node is Ready."""
    samples = []
    for _ in range(SPARES):
        contract = ours.keep_spare()
        samples.append(1000 * ours.buy_spare(contract))
        ours.release_all([contract])
    return samples


LATER = (("fabric.dead_s", dead_s, "s", 30), ("fabric.spare_ms", spare_ms, "ms", 400))
