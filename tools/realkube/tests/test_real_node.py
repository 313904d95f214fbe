"""What a real node needs around it: images, control groups, and mounts that are gone before files."""
import hashlib
import io
import json
import sys
import tarfile
import tempfile
import tomllib
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from clusters import cgroups, image, kubelet, layout, lifecycle, mounts, nodes  # noqa: E402


class AFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Images(AFolder):
    def setUp(self):
        super().setUp()
        archive = self.folder / "image.tar"
        image.write(archive, "example/x:1", {"bin/x": b"program"}, {"bin/y": "x"}, ["/bin/x"])
        with tarfile.open(archive) as tar:
            self.files = {entry.name: tar.extractfile(entry).read() for entry in tar}

    def blob(self, descriptor):
        data = self.files["blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")]
        self.assertEqual(len(data), descriptor["size"])
        self.assertEqual("sha256:" + hashlib.sha256(data).hexdigest(), descriptor["digest"])
        return data

    def test_every_part_is_found_by_its_digest(self):
        (described,) = json.loads(self.files["index.json"])["manifests"]
        self.assertEqual(described["annotations"]["io.containerd.image.name"], "example/x:1")
        manifest = json.loads(self.blob(described))
        config = json.loads(self.blob(manifest["config"]))
        (layer,) = manifest["layers"]
        self.assertEqual(config["rootfs"]["diff_ids"], [layer["digest"]])
        self.assertEqual(config["config"]["Cmd"], ["/bin/x"])
        with tarfile.open(fileobj=io.BytesIO(self.blob(layer))) as tar:
            self.assertEqual(tar.extractfile("bin/x").read(), b"program")
            self.assertEqual(tar.getmember("bin/x").mode, 0o755)
            self.assertEqual(tar.getmember("bin/y").linkname, "x")


class Mounts(unittest.TestCase):
    TABLE = "\n".join(f"{number} 1 0:1 / {point} rw - tmpfs none rw" for number, point in enumerate(
        ["/", "/a", "/a/b", "/ab", r"/a/with\040space", "/a/b/c"]))

    def test_only_what_lies_below_and_the_latest_first(self):
        self.assertEqual(mounts.below("/a", self.TABLE), ["/a/b/c", "/a/with space", "/a/b"])

    def test_a_folder_with_a_similar_name_is_another_folder(self):
        self.assertEqual(mounts.below("/ab", self.TABLE), [])


class ControlGroups(AFolder):
    def test_in_version_1_a_group_is_told_its_processors(self):
        for controller in ("cpu", "cpuset"):
            (self.folder / controller).mkdir()
            (self.folder / controller / "cgroup.procs").touch()
        (self.folder / "cpuset" / "cpuset.cpus").write_text("0-1\n")
        (self.folder / "cpuset" / "mine").mkdir()
        (self.folder / "cpuset" / "mine" / "cpuset.cpus").touch()  # the kernel would make it
        cgroups.make("mine", self.folder)
        self.assertTrue((self.folder / "cpu" / "mine").is_dir())
        self.assertEqual((self.folder / "cpuset" / "mine" / "cpuset.cpus").read_text(), "0-1\n")

    def test_removing_what_is_not_there_is_nothing_to_do(self):
        (self.folder / "cgroup.controllers").touch()
        cgroups.remove("mine", self.folder)


class Settings(AFolder):
    def setUp(self):
        super().setUp()
        self.cluster = layout.State(self.folder).add("a", 0, kubelet=True)

    def test_containerd_shares_nothing_with_another(self):
        config = tomllib.loads(kubelet.containerd_config(self.cluster))
        for path in (config["root"], config["state"], config["grpc"]["address"]):
            self.assertTrue(path.startswith(str(self.cluster.folder)))
        cri = config["plugins"]["io.containerd.grpc.v1.cri"]
        self.assertEqual(cri["sandbox_image"], image.PAUSE)
        self.assertTrue(cri["netns_mounts_under_state_dir"])

    def test_real_pods_have_other_addresses_than_played_ones(self):
        network = json.loads(kubelet.cni_config(self.cluster))["plugins"][0]
        self.assertEqual(network["ipam"]["ranges"][0][0]["subnet"], self.cluster.real_pod_cidr)
        self.assertNotEqual(self.cluster.real_pod_cidr, self.cluster.pod_cidr)

    def test_the_kubelet_lets_nobody_in_unasked(self):
        config = json.loads(kubelet.kubelet_config(self.cluster))
        self.assertFalse(config["authentication"]["anonymous"]["enabled"])
        self.assertEqual(config["authorization"]["mode"], "Webhook")
        self.assertEqual(config["cgroupRoot"], f"/{self.cluster.namespace}")

    def test_a_cluster_with_a_real_node_is_up_only_with_its_programs(self):
        self.assertEqual(nodes.names(self.cluster), ["a-real"])
        self.assertIn("kubelet", lifecycle.programs_of(self.cluster))
        self.assertIn("containerd", lifecycle.programs_of(self.cluster))


if __name__ == "__main__":
    unittest.main()
