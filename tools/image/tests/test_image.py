"""The image: what is in it, that it is the same every time, and that its program runs with nothing around it."""
import gzip
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent.parent / "make_image"
loader = importlib.machinery.SourceFileLoader("make_image", str(TOOL))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_image", loader))
loader.exec_module(tool)

# Any program with libraries will do for the form of it; the one that ships when it is built.
BUILT = Path(os.environ.get("SPILLWAY_BINARY_DIR", "build/release")) / "spillway"
PROGRAM = BUILT if BUILT.exists() else Path("/bin/true")


def files_of(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.archive = tool.make(PROGRAM, "1.2.3", "example/x:1.2.3")
        cls.files = files_of(cls.archive)
        (cls.described,) = json.loads(cls.files["index.json"])["manifests"]
        cls.manifest = json.loads(cls.blob(cls.described))
        cls.config = json.loads(cls.blob(cls.manifest["config"]))
        cls.layers = [gzip.decompress(cls.blob(one)) for one in cls.manifest["layers"]]

    @classmethod
    def blob(cls, descriptor):
        data = cls.files["blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")]
        assert len(data) == descriptor["size"]
        assert "sha256:" + hashlib.sha256(data).hexdigest() == descriptor["digest"]
        return data

    def entries(self):
        for data in self.layers:
            with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                yield from tar

    def test_it_says_what_it_is(self):
        self.assertEqual(self.described["annotations"]["io.containerd.image.name"], "example/x:1.2.3")
        self.assertEqual(self.config["config"]["User"], "65532:65532")
        self.assertEqual(self.config["config"]["Entrypoint"], ["/usr/bin/spillway"])
        self.assertEqual(self.config["rootfs"]["diff_ids"],
                         ["sha256:" + hashlib.sha256(data).hexdigest() for data in self.layers])

    def test_it_is_the_same_every_time(self):
        self.assertEqual(tool.make(PROGRAM, "1.2.3", "example/x:1.2.3"), self.archive)
        self.assertEqual({entry.mtime for entry in self.entries()}, {0})

    def test_nothing_in_it_can_be_changed_by_its_user_and_there_is_no_shell(self):
        for entry in self.entries():
            self.assertEqual((entry.uid, entry.gid), (0, 0), entry.name)
            if entry.name != "tmp":
                self.assertEqual(entry.mode & 0o022, 0, entry.name)
        names = {Path(entry.name).name for entry in self.entries()}
        self.assertFalse(names & {"sh", "bash", "dash", "busybox", "apt", "dpkg"})

    def test_it_is_small(self):
        self.assertLess(len(self.archive), tool.MOST_BYTES)

    def test_what_the_loader_cannot_find_is_told(self):
        with self.assertRaises((tool.Trouble, subprocess.CalledProcessError)):
            tool.libraries("/etc/passwd")

    @unittest.skipUnless(PROGRAM == BUILT, "the program is not built")
    def test_its_program_runs_with_nothing_around_it(self):
        chroot = "/usr/sbin/chroot"  # not in everybody's PATH
        enter = ["unshare", "--user", "--map-root-user", chroot]
        if os.geteuid() == 0:
            enter = [chroot, f"--userspec={tool.USER}:{tool.USER}"]
        elif subprocess.run(["unshare", "--user", "true"], check=False).returncode != 0:
            self.skipTest("not root, and without namespaces of its own")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            for data in self.layers:
                with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                    tar.extractall(folder)
            done = subprocess.run([*enter, folder, "/usr/bin/spillway", "--version"], text=True,
                                  capture_output=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith("spillway "), done.stdout)


if __name__ == "__main__":
    unittest.main()
