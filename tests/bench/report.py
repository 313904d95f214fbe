"""Findings of benches that are no part of spillway_bench, printed and kept as it does (tests/bench/main.cpp)."""
import json
import math
from dataclasses import dataclass


@dataclass
class Finding:
    name: str
    value: float
    unit: str
    goal: float
    least: float
    most: float

    @property
    def met(self):
        return self.value <= self.goal


def digits(value):
    """Three that count, or all before the point: 0.412, 2.00, 1180."""
    if value == 0:
        return "0"
    before = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{min(max(3 - before, 0), 6)}f}"


def tell(finding, width=0):
    print(f"{finding.name:<{width}}  {digits(finding.value):>10}  {finding.unit:<10}  ≤ {digits(finding.goal):>10}  "
          f"{'✓' if finding.met else '✗'}  {digits(finding.least)} to {digits(finding.most)}", flush=True)


def keep(findings, out):
    """Those of an earlier run that this one did not measure stay."""
    kept = json.loads(out.read_text()) if out.exists() else []
    names = {one.name for one in findings}
    kept = [one for one in kept if one["name"] not in names]
    kept += [{"name": one.name, "value": one.value, "unit": one.unit, "goal": one.goal, "met": one.met}
             for one in findings]
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n  ".join(json.dumps(one) for one in sorted(kept, key=lambda one: one["name"]))
    out.write_text(f"[\n  {lines}\n]\n")
