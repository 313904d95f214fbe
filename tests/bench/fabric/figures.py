"""What is made of the samples: ratios of medians of one run, and our own share as a difference of medians. The spread
is over pairs of the same round."""
from statistics import median

from report import Finding

# name, ours, theirs, goal
RATIOS = (("fabric.cold_ratio", "own_cold", "liqoctl_accepted", 0.25),
          ("fabric.ready_ratio", "own_ready", "liqoctl_ready", 0.5),
          ("fabric.warm_ratio", "own_warm", "hand_warm", 1.05),
          ("fabric.release_ratio", "own_release", "hand_release", 1.3),
          ("fabric.repeer_ratio", "own_again", "own_ready", 1.2))
SHARES = (("fabric.own_cold_ms", "own_cold", "script_cold", 250),
          ("fabric.own_warm_ms", "own_warm_accepted", "script_warm_accepted", 60))


def _pairs(samples, ours, theirs, of):
    return [of(mine, other) for mine, other in zip(samples[ours], samples[theirs])]


def findings(samples):
    """Of what was measured; what has no samples is left out."""
    made = []
    for name, ours, theirs, goal in RATIOS:
        if ours in samples and theirs in samples:
            pairs = _pairs(samples, ours, theirs, lambda mine, other: mine / other)
            made.append(Finding(name, median(samples[ours]) / median(samples[theirs]), "", goal, min(pairs), max(pairs)))
    for name, ours, theirs, goal in SHARES:
        if ours in samples and theirs in samples:
            pairs = _pairs(samples, ours, theirs, lambda mine, other: 1000 * (mine - other))
            made.append(Finding(name, 1000 * (median(samples[ours]) - median(samples[theirs])), "ms", goal,
                                min(pairs), max(pairs)))
    return made


def table(samples):
    """Everything that was taken, for docs/measurements.md."""
    for name, values in sorted(samples.items()):
        yield (f"{name:<22} n={len(values):<3} median {median(values):.3f} s, "
               f"{min(values):.3f} to {max(values):.3f}")
