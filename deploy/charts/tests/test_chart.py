"""The chart as helm renders it. Skipped where there is no helm: $HELM, or what tools/realkube has built."""
import os
import shutil
import subprocess
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
CHART = ROOT / "deploy" / "charts" / "spillway"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "spillway" / "realkube"


def find_helm():
    built = sorted(CACHE.glob("helm-*/helm"))
    return os.environ.get("HELM") or shutil.which("helm") or (str(built[-1]) if built else None)


HELM = find_helm()
POLICY = ROOT / "examples" / "agent-policy.yaml"
BOTH = ("--set", "broker.enabled=true,agent.enabled=true", "--set-file", f"agent.policy={POLICY}",
        "--set", "agent.join.broker=https://b:7443,agent.join.token=secret", "--set", "networkPolicy.enabled=true")

TLS = "autoscaler.tls.serverSecret=server,autoscaler.tls.clientCaSecret=clients"
AUTOSCALER = ("--set", f"autoscaler.enabled=true,networkPolicy.enabled=true,{TLS}",
              "--set", "autoscaler.join.broker=https://b:7443,autoscaler.join.token=secret")
# Autoscaler and agent as one member.
MEMBER = ("--set", f"autoscaler.enabled=true,autoscaler.backEnd=liqo,{TLS}", "--set", "agent.enabled=true",
          "--set", "agent.fabric=liqo,agent.join.broker=https://b:7443,agent.join.token=secret")


def helm(*words):
    return subprocess.run([HELM, *words], capture_output=True, text=True, check=False, timeout=60)


@unittest.skipUnless(HELM, "no helm here")
class Chart(unittest.TestCase):
    def render(self, *words):
        done = helm("template", "r", CHART, "-n", "site", "--kube-version", "1.34.0", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refusal(self, *words):
        done = helm("template", "r", CHART, "--kube-version", "1.34.0", *words)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    @staticmethod
    def policy_in(text):
        block = text.partition("  policy.yaml: |\n")[2].partition("\n---\n")[0]
        return "".join(line[4:] + "\n" for line in block.splitlines())

    @staticmethod
    def values(text):
        file = tempfile.NamedTemporaryFile("w", suffix=".yaml")
        file.write(text)
        file.flush()
        return file

    def test_it_is_well_formed(self):
        for words in ((), BOTH, AUTOSCALER, MEMBER):
            done = helm("lint", "--strict", CHART, *words)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_nothing_is_installed_that_was_not_asked_for(self):
        self.assertEqual(self.render().strip(), "")
        self.assertNotIn("-agent", self.render("--set", "broker.enabled=true"))
        self.assertNotIn("-autoscaler", self.render(*BOTH))
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
        # Papers have names that nobody knows beforehand: ConfigMaps of the release's own namespace.
        papers = "resources: [configmaps]\n    verbs: [get, list, create, update, delete]"
        self.assertEqual(text.count(papers), 1)
        self.assertEqual(text.count("verbs:"), text.count("verbs: [get, update]") + 2)
        self.assertEqual(text.count("resourceNames:"), text.count("verbs: [get, update]"))

    def test_the_autoscaler_may_change_nodes_and_nothing_else(self):
        text = self.render(*AUTOSCALER)
        rules = text.partition("kind: ClusterRole\n")[2].partition("rules:\n")[2].partition("\n---")[0]
        self.assertEqual([line.strip() for line in rules.splitlines() if "apiGroups" not in line], [
            "resources: [nodes]", "verbs: [get, list, watch, create, delete]",
            "resources: [pods]", "verbs: [list, watch]",
            "resources: [events]", "verbs: [create]"])
        self.assertEqual(text.count("resourceNames:"), text.count("verbs: [get, update]"))
        self.assertEqual(text.count("verbs:"), 4 + text.count("verbs: [get, update]"))

    def test_the_guard_comes_with_the_fabric_unless_it_is_declined(self):
        fabric = (*BOTH, "--set", "agent.fabric=liqo")
        guard = (CHART / "files" / "guard.yaml").read_text()
        self.assertNotIn("ValidatingAdmissionPolicy", self.render(*BOTH))
        text = self.render(*fabric)
        for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"):
            line = f"\nkind: {kind}\n"
            self.assertGreater(guard.count(line), 0)
            self.assertEqual(text.count(line), guard.count(line))
        self.assertNotIn("kind: ValidatingAdmissionPolicy", self.render(*fabric, "--set", "agent.fabricGuard=false"))

    def test_the_guard_may_be_a_webhook_that_the_agents_answer(self):
        text = self.render(*BOTH, "--set", "agent.fabric=liqo,agent.fabricGuard=webhook")
        self.assertNotIn("kind: ValidatingAdmissionPolicy", text)
        self.assertEqual(text.count("kind: ValidatingWebhookConfiguration\n"), 1)
        webhook = "".join(one for one in text.split("---\n") if "WebhookConfiguration\n" in one)
        self.assertEqual(webhook.count("\n  name: spillway-guard\n"), 2)
        for one in webhook.split("clientConfig:")[1:]:
            self.assertIn("namespace: site\n", one)
            self.assertIn("name: r-agent-guard\n", one)
            self.assertNotIn("caBundle", one)   # which the agent adds
        self.assertEqual(webhook.count("failurePolicy: Fail"), webhook.count("clientConfig:"))
        self.assertNotIn("resource-policy", webhook)
        self.assertIn("--fabric-webhook-name=r-agent-guard.site.svc\n", text)
        self.assertIn("{name: guard, port: 9443, targetPort: guard}", text)
        self.assertIn("resourceNames: [r-agent-identity, r-agent-state, r-agent-webhook]\n    verbs: [get, update]", text)
        self.assertIn("resourceNames: [spillway-guard]\n    verbs: [get, update]", text)
        self.assertIn("ports: [{port: guard}]", text)
        for other in ("true", "policies"):
            text = self.render(*BOTH, "--set", f"agent.fabric=liqo,agent.fabricGuard={other}")
            self.assertIn("kind: ValidatingAdmissionPolicy\n", text)
            self.assertNotIn("webhook-listen", text)
        self.assertIn("fabricGuard", self.refusal(*BOTH, "--set", "agent.fabric=liqo,agent.fabricGuard=maybe"))

    def test_the_expander_has_a_port_only_where_it_is_asked_for(self):
        self.assertNotIn("expander", self.render(*AUTOSCALER))
        text = self.render(*AUTOSCALER, "--set", "autoscaler.expander.enabled=true,networkPolicy.enabled=true")
        self.assertIn("--expander-listen=0.0.0.0:8087", text)
        self.assertIn("{name: expander, port: 8087, targetPort: expander}", text)
        self.assertIn("ports: [{port: expander}]", text)

    def test_the_autoscaler_is_not_installed_without_tls(self):
        for words in ("", ",autoscaler.tls.serverSecret=a", ",autoscaler.tls.clientCaSecret=a"):
            self.assertIn("serverSecret and clientCaSecret",
                          self.refusal("--set", f"autoscaler.enabled=true{words}"))

    def test_with_the_agents_nodes_the_autoscaler_buys_as_the_agent(self):
        text = self.render(*MEMBER)
        self.assertIn("- --backend=liqo\n", text)
        self.assertIn("- --identity-of=r-agent\n", text)
        self.assertNotIn("r-autoscaler-identity", text)
        self.assertNotIn("r-autoscaler-token", text)
        self.assertNotIn("--identity-of", self.render(*AUTOSCALER))
        documents = text.split("\n---\n")
        rights = next(one for one in documents if "kind: Role\n" in one and "name: r-autoscaler\n" in one)
        self.assertIn("resourceNames: [r-agent-identity]\n    verbs: [get]\n", rights)
        self.assertIn("resourceNames: [r-autoscaler-state]\n    verbs: [get, update]\n", rights)
        wide = next(one for one in documents if "kind: ClusterRole\n" in one and "name: site-r-autoscaler\n" in one)
        self.assertIn("resources: [nodes]\n    verbs: [get, list, watch]\n", wide)
        self.assertIn("resources: [resourceslices]\n    verbs: [get, list, watch, patch]\n", wide)
        at_liqo = [one for one in documents if "namespace: liqo\n" in one and "site-r-autoscaler" in one]
        self.assertEqual(len(at_liqo), 2)
        self.assertIn("resourceNames: [authentication-keys]\n    verbs: [get]\n", at_liqo[0])

    def test_with_the_agents_nodes_there_is_an_agent_that_makes_them_and_it_joins(self):
        self.assertIn("agent.fabric=liqo", self.refusal(*AUTOSCALER, "--set", "autoscaler.backEnd=liqo"))
        self.assertIn("agent.fabric=liqo", self.refusal(*MEMBER, "--set", "agent.fabric="))
        self.assertIn("leave it empty", self.refusal(*MEMBER, "--set", "autoscaler.join.token=x"))

    def test_a_recommenders_policy_reaches_the_autoscaler_as_it_was_written(self):
        policy = ROOT / "examples" / "recommender-policy.yaml"
        text = self.render(*AUTOSCALER, "--set-file", f"autoscaler.policy={policy}")
        self.assertEqual(self.policy_in(text), policy.read_text())

    def test_a_token_stays_out_of_arguments(self):
        for line in (self.render(*BOTH) + self.render(*AUTOSCALER)).splitlines():
            self.assertFalse("secret" in line and line.strip().startswith("- --"), line)

    def test_two_tokens_are_refused(self):
        self.assertIn("token or tokenSecret", self.refusal(*BOTH, "--set", "agent.join.tokenSecret=x"))

    def test_networks_are_connected_only_where_that_is_asked_for(self):
        fabric = (*BOTH, "--set", "agent.fabric=liqo")
        self.assertNotIn("networking.liqo.io", self.render(*fabric))
        text = self.render(*fabric, "--set", "agent.fabricNetwork=on,agent.fabricGateway=false")
        for word in ("- --fabric-network=on\n", "- --fabric-no-gateway\n", "publickeies"):
            self.assertIn(word, text)

    def test_accounts_of_buyers_are_made_only_where_kubeconfigs_are_handed_out(self):
        fabric = (*BOTH, "--set", "agent.fabric=liqo")
        self.assertNotIn("serviceaccounts", self.render(*fabric, "--set", "agent.fabricHandshake=kubeconfig"))
        text = self.render(*fabric, "--set", "agent.fabricHandshakeServer=https://milan:6443,agent.fabricHandshakeLife=20m")
        for word in ("- --fabric-handshake-server=https://milan:6443\n", "- --fabric-handshake-life=20m\n",
                     "resources: [serviceaccounts/token]\n    resourceNames: [spillway-handshake]\n    verbs: [create]\n"):
            self.assertIn(word, text)
        self.assertEqual(text.count("serviceaccounts/token"), 1)

    def test_the_fabric_brings_its_rights_and_only_then(self):
        self.assertNotIn("resourceslices", self.render(*BOTH))
        text = self.render(*BOTH, "--set", "agent.fabric=liqo,agent.fabricApiServers={https://milan:6443}")
        self.assertIn("- --fabric=liqo\n", text)
        self.assertIn("- --fabric-api-server=https://milan:6443\n", text)
        self.assertIn("resources: [resourceslices/status]", text)
        self.assertRegex(text, r"resources: \[tenants\] .*\n    verbs: \[patch\]")

    def test_a_policy_reaches_the_agent_as_it_was_written(self):
        self.assertEqual(self.policy_in(self.render(*BOTH)), POLICY.read_text())
        hard = "price: {currency: EUR, cpu_hour: 0.00005}  # little\nplace: {country: NO, city: '007'}\n"
        with self.values(f"agent:\n  enabled: true\n  policy: |\n{textwrap.indent(hard, '    ')}") as file:
            self.assertEqual(self.policy_in(self.render("-f", file.name)), hard)

    def test_a_policy_that_helm_has_read_is_refused(self):
        with self.values("agent: {enabled: true, policy: {price: {cpu_hour: 0.00005}, place: {country: NO}}}") as file:
            self.assertIn("--set-file agent.policy=FILE", self.refusal("-f", file.name))

    def test_settings_reach_the_broker_as_they_were_written(self):
        with self.values("broker: {enabled: true, settings: {pools: 1000000, body_bytes: 2097152, log: 'warning'}}") as file:
            text = self.render("-f", file.name)
        for setting in ("pools=1000000", "body_bytes=2097152", "log=warning"):
            self.assertIn(f'- "--set={setting}"\n', text)

    def test_what_helm_has_taken_for_something_else_is_refused_by_name(self):
        for text, name in {
            "broker: {federation: NO}": "federation",
            "broker: {names: [10.5]}": "names",
            "broker: {settings: {log: off}}": "settings",
            "image: {tag: 1.10}": "tag",
            "agent: {join: {token: 1e3}}": "token",
            "agent: {polcy: x}": "polcy",
        }.items():
            with self.subTest(values=text), self.values(text) as file:
                self.assertIn(name, self.refusal("-f", file.name))


if __name__ == "__main__":
    unittest.main()
