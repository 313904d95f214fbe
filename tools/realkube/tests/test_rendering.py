"""What is written for others to read: arguments, nodes, certificates, kubeconfigs."""
import base64
import io
import json
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from clusters import binaries, certificates, control_plane, layout, nodes, toolchain  # noqa: E402
from clusters.shell import Trouble  # noqa: E402

PROGRAMS = {name: f"/bin/{name}" for name in binaries.ALL}


class ACluster(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cluster = layout.State(folder.name).add("a", 2)


class Arguments(ACluster):
    def test_rbac_is_on(self):
        self.assertIn("--authorization-mode=Node,RBAC",
                      control_plane.apiserver(self.cluster, PROGRAMS))

    def test_kwok_plays_only_the_nodes_that_say_so(self):
        words = nodes.kwok(self.cluster, PROGRAMS)
        self.assertIn("--manage-all-nodes=false", words)
        key, value = next(word for word in words if "selector" in word).split("=", 1)[1].split("=")
        self.assertIn("--node-lease-duration-seconds=40", words)
        for node in nodes.played(self.cluster):
            self.assertEqual(node["metadata"]["annotations"][key], value)

    def test_there_are_as_many_nodes_as_wanted(self):
        self.assertEqual([node["metadata"]["name"] for node in nodes.played(self.cluster)],
                         ["a-1", "a-2"])

    def test_nodes_have_the_shape_that_is_wanted(self):
        wanted = self.cluster.state.add("b", 1, shape=nodes.shape("16", "64Gi"))
        again = self.cluster.state.cluster("b")  # as a later run reads it
        for cluster in (wanted, again):
            status = nodes.played(cluster)[0]["status"]
            self.assertEqual(status["capacity"], status["allocatable"])
            self.assertEqual((status["capacity"]["cpu"], status["capacity"]["memory"]),
                             ("16", "64Gi"))
        self.assertEqual(nodes.played(self.cluster)[0]["status"]["capacity"], nodes.CAPACITY)

    def test_what_is_no_amount_is_refused_by_its_option(self):
        for text in ("banana", "-3", "", "0", "0Gi", "1GiB", "1e400"):
            with self.subTest(text), self.assertRaisesRegex(Trouble, "--cpu"):
                nodes.shape(cpu=text)

    def test_nothing_listens_for_other_clusters_but_api_server_and_kwok(self):
        for program in (control_plane.etcd, control_plane.controller_manager,
                        control_plane.scheduler):
            words = " ".join(map(str, program(self.cluster, PROGRAMS)))
            self.assertNotIn("0.0.0.0", words)
            self.assertIn("127.0.0.1", words)


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class Certificates(ACluster):
    def setUp(self):
        super().setUp()
        certificates.make_all(self.cluster)
        self.pki = self.cluster.folder / "pki"

    def text(self, name):
        return subprocess.run(["openssl", "x509", "-in", self.pki / f"{name}.pem", "-noout", "-text"],
                              text=True, capture_output=True, check=True).stdout

    def test_every_certificate_is_signed_by_its_authority(self):
        for name, by in (("apiserver", "ca"), ("user-admin", "ca"), ("etcd", "etcd-ca"),
                         ("etcd-client", "etcd-ca"), ("front-proxy-client", "front-proxy-ca")):
            subprocess.run(["openssl", "verify", "-CAfile", self.pki / f"{by}.pem",
                            self.pki / f"{name}.pem"], check=True, capture_output=True)

    def test_only_authorities_are_authorities(self):
        for path in self.pki.glob("*.pem"):
            name = path.stem
            self.assertEqual("CA:TRUE" in self.text(name), name.endswith("ca"), name)

    def test_the_api_server_is_known_by_all_its_addresses(self):
        text = self.text("apiserver")
        for name in (self.cluster.address, self.cluster.service_address, "kubernetes.default.svc"):
            self.assertIn(name, text)

    def test_keys_and_kubeconfigs_are_for_their_owner_only(self):
        paths = [*self.pki.glob("*.key"), self.cluster.kubeconfig("admin")]
        self.assertGreater(len(paths), 5)
        for path in paths:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)

    def test_a_kubeconfig_holds_all_it_needs(self):
        config = json.loads(self.cluster.kubeconfig("admin").read_text())
        self.assertEqual(config["clusters"][0]["cluster"]["server"], self.cluster.url)
        held = config["users"][0]["user"]
        self.assertEqual(base64.b64decode(held["client-key-data"]),
                         (self.pki / "user-admin.key").read_bytes())

    def test_a_user_may_have_groups_and_a_name_with_colons(self):
        certificates.make_user(self.cluster, "system:node:x", ["system:nodes", "others"])
        text = self.text("user-system:node:x")
        self.assertIn("O = system:nodes, O = others, CN = system:node:x", text)
        for name in ("", "a/b", "../a", "-a", "a\n"):
            with self.subTest(name), self.assertRaises(Trouble):
                certificates.make_user(self.cluster, name)


class Binaries(unittest.TestCase):
    def test_every_program_is_named_in_the_go_mod_that_it_is_built_from(self):
        for program in binaries.ALL.values():
            text = (binaries.HERE / program.module / "go.mod").read_text()
            self.assertRegex(text, rf"(?m)^(tool )?\s*{program.package}$")
            self.assertTrue((binaries.HERE / program.module / "go.sum").exists())

    def test_kubernetes_tells_the_version_that_is_pinned(self):
        program = binaries.ALL["kube-apiserver"]
        text = "require (\n\tk8s.io/kubernetes v1.34.4 // indirect\n)\n"
        self.assertIn("-X k8s.io/component-base/version.gitVersion=v1.34.4",
                      binaries.version_flags(program, text))

    def test_groups_and_single_programs_are_chosen_by_name_each_once(self):
        names = [program.name for program in binaries.chosen(["kubectl", "control-plane"])]
        self.assertEqual(names[0], "kubectl")
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len(binaries.chosen([])), len(binaries.ALL))
        with self.assertRaises(Trouble):
            binaries.chosen(["minikube"])


class Toolchain(unittest.TestCase):
    def test_versions_compare_by_number(self):
        self.assertLess(toolchain.numbers("1.19.8"), toolchain.numbers("1.24.0"))
        self.assertLess(toolchain.numbers("1.25.5"), toolchain.numbers("1.26"))

    def test_proxies_are_those_that_have_an_address(self):
        self.assertEqual(toolchain.proxies("https://a.example/,direct"), ["https://a.example"])
        self.assertEqual(toolchain.proxies("off"), [])
        self.assertEqual(toolchain.proxies(None), [toolchain.DEFAULT_PROXY])

    def test_an_archive_hashes_as_a_module_does(self):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("m@v1/b", "b\n")
            archive.writestr("m@v1/a", "a\n")
        with zipfile.ZipFile(held) as archive:
            # sha256sum m@v1/a m@v1/b | sha256sum, in base64
            self.assertEqual(toolchain.module_hash(archive),
                             "h1:MWSSXcbrBPE25cl41I8+R7Y9hAxuY9Be76nDJvg0pks=")


if __name__ == "__main__":
    unittest.main()
