#!/usr/bin/env python3
"""What the fabric costs beside liqoctl, beside kubectl by hand and beside a minimal script that applies the same
objects: on two real control planes with real Liqo, in turns, ratios within one run.

Started by `make bench`, with clusters of its own that it starts and stops. Skipped, with one line, where tools/realkube
has built nothing yet or nobody is root. Usage: fabric_bench.py [--only NAME] [--rounds N] [--embedded] [--out FILE]

--only: fabric.rss_mib, fabric.spare_ms and fabric.dead_s are measured for themselves; any other name: all of them but
the first, and what comes from the rounds.
--rounds: whole rounds (10); three times as many for our own share, cold. 2 for a look whether it still works.
--embedded: ours and the script alone, on two embedded clusters: to try the bench itself; nothing is kept.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
REALKUBE = ROOT / "tools" / "realkube"
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "e2e"), str(REALKUBE)]

from clusters import binaries  # noqa: E402
from clusters.shell import Trouble  # noqa: E402
from fabric import figures, later, memory, rounds  # noqa: E402
from fabric.access import Access, Api  # noqa: E402
from fabric.by_hand import ByHand  # noqa: E402
from fabric.journal import Journal  # noqa: E402
from fabric.ours import Ours  # noqa: E402
from fabric.script import Script  # noqa: E402
from liqo_objects import BUYER, SELLER, let_liqo_read_templates  # noqa: E402
from market import SPILLWAY  # noqa: E402
from processes import Program, eventually  # noqa: E402
from report import Finding, keep, tell  # noqa: E402

SIDES = (BUYER, SELLER)
ROUNDS = 10
COLD_TIMES = 3  # our own share wants three times as many
RSS, RSS_GOAL_MIB = "fabric.rss_mib", 30
UNITS, UNITS_EACH = 500, 1  # as an autoscaler buys them
WIDTH = 21


def measure_times(folder, kubeconfigs, options):
    """Findings; what cannot be found is told."""
    journal, apis = Journal(), {}
    for side in SIDES:
        access = Access(kubeconfigs[side])
        apis[side] = Api(access)
        journal.watch(side, access)
    stage = rounds.Stage(apis)
    stage.clear()
    ours = Ours(folder, journal, apis, kubeconfigs)
    try:
        ways = {"ours": ours, "script": Script(journal, apis), "liqoctl": ByHand(journal, kubeconfigs)}
        alone = [one for one in later.LATER if one[0] == options.only]
        found = [] if alone else run_rounds(rounds.Rounds(stage, ways), options)
        return found + look_later(ours, stage, alone or later.LATER)
    finally:
        ours.close()


def run_rounds(made, options):
    made.stage.clear()
    whole = ["ours", "script"] if options.embedded else ["liqoctl", "ours", "script"]
    for number in range(COLD_TIMES * options.rounds):
        is_whole = number < options.rounds
        made.run(number, whole if is_whole else ["ours", "script"], is_whole)
    found = figures.findings(made.samples)
    tell_all(found, made)
    return found


def look_later(ours, stage, figures_alone):
    found = []
    for name, measure, unit, goal in figures_alone:
        stage.clear()
        try:
            values = sorted(measure(ours))
            found.append(Finding(name, values[len(values) // 2], unit, goal, values[0], values[-1]))
            tell(found[-1], WIDTH)
        except later.NotMeasured as why:
            print(f"{name:<{WIDTH}}  not measured: {why}")
    return found


def tell_all(found, made):
    for line in figures.table(made.samples):
        print(f"  {line}")
    for finding in found:
        tell(finding, WIDTH)
    if made.failures:
        print(f"fabric: {len(made.failures)} of {made.turns} turns failed, and do not count:")
        for failure in made.failures:
            print(f"  {failure}")


def measure_memory(folder, units, units_each):
    crowd = memory.Crowd(folder, units, units_each)
    try:
        used = crowd.run()
    finally:
        crowd.close()
    print(f"  {units} units in contracts of {units_each}, on embedded clusters: "
          + ", ".join(f"the {side}'s agent {mib:.1f} MiB" for side, mib in used.items()))
    finding = Finding(RSS, max(used.values()), "MiB", RSS_GOAL_MIB, min(used.values()), max(used.values()))
    tell(finding, WIDTH)
    return [finding]


def skipped():
    try:
        binaries.find([*binaries.GROUPS["control-plane"], *binaries.with_liqo()])
    except Trouble as trouble:
        return str(trouble)
    return "" if os.geteuid() == 0 else "real clusters need root, for network namespaces"


def on_embedded(folder, options):
    programs, kubeconfigs = [], {side: folder / f"{side}.yaml" for side in SIDES}
    try:
        for side, file in kubeconfigs.items():
            programs.append(Program(side, [SPILLWAY, "cluster", "run", side, "--liqo", "--kubeconfig", file],
                                    folder / f"{side}.log").start())
            eventually(f"cluster {side}", file.exists, 20)
        (folder / "market").mkdir()
        measure_times(folder / "market", kubeconfigs, options)
    finally:
        for program in programs:
            program.stop()


def on_real(folder, options):
    environment = {**os.environ, "REALKUBE_STATE": f"{folder}/clusters"}
    (folder / "market").mkdir()

    def realkube(*more):
        return subprocess.run([REALKUBE / "realkube", *more], env=environment, check=True)
    try:
        realkube("up", *SIDES, "--liqo")
        realkube("run", "--", sys.executable, "-B", __file__, "--inside", f"{folder}/market", "--rounds",
                 str(options.rounds), "--only", options.only, "--out", str(options.out.resolve()))
    finally:
        realkube("down", "--all")


def read_words():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rounds", type=int, default=ROUNDS)
    words.add_argument("--only", default="fabric")
    words.add_argument("--out", type=Path, default=Path("build/bench/results.json"))
    words.add_argument("--embedded", action="store_true")
    words.add_argument("--units", type=int, default=UNITS, help=f"for {RSS}")
    words.add_argument("--units-each", type=int, default=UNITS_EACH, help=f"for {RSS}: of each contract")
    words.add_argument("--keep", action="store_true", help="the folder with the logs stays")
    words.add_argument("--inside", type=Path, help=argparse.SUPPRESS)  # where the clusters are reachable
    return words.parse_args()


def main():
    options = read_words()
    if options.inside:
        kubeconfigs = {side: os.environ[f"REALKUBE_KUBECONFIG_{side.upper()}"] for side in SIDES}
        for kubeconfig in kubeconfigs.values():
            let_liqo_read_templates(kubeconfig)
        keep(measure_times(options.inside, kubeconfigs, options), options.out)
        return 0
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        if RSS.startswith(options.only):
            (folder / "crowd").mkdir()
            found = measure_memory(folder / "crowd", options.units, options.units_each)
            if (options.units, options.units_each) == (UNITS, UNITS_EACH):
                keep(found, options.out)
        if options.only == RSS:
            return 0
        if options.embedded:
            on_embedded(folder, options)
        elif why := skipped():
            print(f"fabric: skipped: {why}")
        else:
            on_real(folder, options)
    finally:
        if options.keep:
            print(f"fabric: logs are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
