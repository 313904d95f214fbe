"""What people do without Spillway: liqoctl for a peering, kubectl for one more slice and its end. Time begins just
before the program is started, as it does for whoever types it."""
import json
import subprocess
import time
import uuid

from liqo_objects import AT_BUYER, BUYER, SELLER, SLICES, slice_of
from on_a_cluster import PATIENCE_SECONDS, call

from fabric.journal import accepted, ready


class ByHand:
    def __init__(self, journal, kubeconfigs):
        self.journal, self.kubeconfigs = journal, kubeconfigs

    def liqoctl(self, *words):
        return ["liqoctl", *words, f"--kubeconfig={self.kubeconfigs[BUYER]}",
                f"--remote-kubeconfig={self.kubeconfigs[SELLER]}"]

    def kubectl(self, *words):
        return ["kubectl", f"--kubeconfig={self.kubeconfigs[BUYER]}", *words]

    def timed(self, command, name, stdin=None):
        """Seconds until the slice of that name is accepted, and until its node is Ready."""
        mark, began = self.journal.mark(), time.monotonic()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as program:
            said, _ = program.communicate(stdin, timeout=PATIENCE_SECONDS)
        if program.returncode != 0:
            raise AssertionError(f"{command[:2]} exits with {program.returncode}: {said[-500:]}")
        return tuple(self.journal.moment(f"{name}: {what}", mark, lambda event, kind=kind, test=test: (
            event.side, event.kind, event.name) == (BUYER, kind, name) and test(event.thing)) - began
            for what, kind, test in (("accepted", "resourceslices", accepted), ("Ready", "nodes", ready)))

    def cold(self):
        return self.timed(self.liqoctl("peer", "--networking-disabled", "--cpu", "2", "--memory", "4Gi",
                                       "--pods", "20"), SELLER)

    def warm(self):
        """The name of the slice too."""
        name = f"hand-{uuid.uuid4().hex[:12]}"
        made = slice_of(name, None)
        made["spec"] = {"class": "default", "providerClusterID": SELLER, "resources": made["spec"]["resources"]}
        return name, *self.timed(self.kubectl("create", "-f", "-"), name, json.dumps(made))

    def release(self, name):
        """Seconds until slice, VirtualNode and Node are gone."""
        mark, began = self.journal.mark(), time.monotonic()
        call(*self.kubectl("-n", AT_BUYER, "delete", SLICES, name, "--wait=false"))
        return self.journal.gone(BUYER, [(kind, name) for kind in ("resourceslices", "virtualnodes", "nodes")],
                                 mark) - began

    def take_down(self):
        subprocess.run(self.liqoctl("unpeer", "--skip-confirm"), capture_output=True, check=False,
                       timeout=3 * PATIENCE_SECONDS)
