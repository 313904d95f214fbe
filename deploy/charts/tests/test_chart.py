"""The chart as helm renders it. Skipped where there is no helm: $HELM, or what tools/realkube has built."""
import os
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
CHART = ROOT / "deploy" / "charts" / "spillway"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "spillway" / "realkube"


def find_helm():
    built = sorted(CACHE.glob("helm-*/helm"))
    return os.environ.get("HELM") or shutil.which("helm") or (str(built[-1]) if built else None)


HELM = find_helm()
BOTH = ("--set", "broker.enabled=true,agent.enabled=true", "--set", "agent.policy.noun=policy",
        "--set", "agent.join.broker=https://b:7443,agent.join.token=secret", "--set", "networkPolicy.enabled=true")


def helm(*words):
    return subprocess.run([HELM, *words], capture_output=True, text=True, check=False, timeout=60)


@unittest.skipUnless(HELM, "no helm here")
class Chart(unittest.TestCase):
    def render(self, *words):
        done = helm("template", "r", CHART, "-n", "site", "--kube-version", "1.34.0", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_is_well_formed(self):
        for words in ((), BOTH):
            done = helm("lint", "--strict", CHART, *words)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_nothing_is_installed_that_was_not_asked_for(self):
        self.assertEqual(self.render().strip(), "")
        self.assertNotIn("-agent", self.render("--set", "broker.enabled=true"))
        self.assertNotIn("-broker", self.render("--set", "agent.enabled=true"))

    def test_its_version_is_the_programs(self):
        version = next(line.split()[2] for line in (ROOT / "CMakeLists.txt").read_text().splitlines()
                       if line.startswith("project("))
        text = (CHART / "Chart.yaml").read_text()
        self.assertIn(f"\nversion: {version}\n", text)
        self.assertIn(f"\nappVersion: {version}\n", text)

    def test_no_right_is_without_a_name_but_to_look_at_nodes_and_pods(self):
        text = self.render(*BOTH)
        self.assertEqual(text.count("kind: ClusterRole\n"), 1)
        self.assertEqual(text.count("verbs: [get, list, watch]"), 1)
        self.assertEqual(text.count("verbs:"), text.count("verbs: [get, update]") + 1)
        self.assertEqual(text.count("resourceNames:"), text.count("verbs: [get, update]"))

    def test_a_token_stays_out_of_arguments(self):
        for line in self.render(*BOTH).splitlines():
            self.assertFalse("secret" in line and line.strip().startswith("- --"), line)

    def test_two_tokens_are_refused(self):
        done = helm("template", "r", CHART, "--kube-version", "1.34.0", *BOTH, "--set", "agent.join.tokenSecret=x")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("token or tokenSecret", done.stderr)


if __name__ == "__main__":
    unittest.main()
