"""Names and addresses: unique where they must be, and the same every time."""
import ipaddress
import json
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from clusters import layout, lifecycle  # noqa: E402
from clusters.shell import Trouble  # noqa: E402


class Names(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.state = layout.State(self.folder / "state")

    def test_state_folders_do_not_share_namespaces(self):
        other = layout.State(self.folder / "other")
        self.assertNotEqual(self.state.hub, other.hub)
        self.assertNotEqual(self.state.add("a", 2).namespace, other.add("a", 2).namespace)

    def test_a_link_to_a_state_folder_is_that_folder(self):
        self.state.folder.mkdir()
        (self.folder / "link").symlink_to(self.state.folder)
        self.assertEqual(layout.State(self.folder / "link").hub, self.state.hub)

    def test_no_namespace_of_a_cluster_is_the_hub(self):
        self.assertTrue(self.state.add("a", 0).namespace.startswith(f"{self.state.hub}-"))

    def test_names_that_a_namespace_or_a_certificate_would_not_take_are_refused(self):
        for name in ("", "A", "-a", "a-", "a/b", "..", "a b", "a" * 21, "1a"):
            with self.subTest(name), self.assertRaises(Trouble):
                self.state.add(name, 2)
            with self.subTest(name), self.assertRaises(Trouble):
                self.state.cluster(name)
        self.state.add("a" * 20, 2)

    def test_such_names_are_refused_before_anything_is_made(self):
        with unittest.mock.patch.object(lifecycle, "need_root"), \
                unittest.mock.patch.object(lifecycle.network, "make_hub") as make_hub:
            with self.assertRaises(Trouble):
                lifecycle.up(self.state, ["good", "not-good-"], 2, False, {})
        make_hub.assert_not_called()
        self.assertEqual(self.state.names(), [])

    def test_every_cluster_has_addresses_of_its_own(self):
        made = [self.state.add(f"c{number}", 2) for number in range(layout.MOST_CLUSTERS)]
        hub = ipaddress.ip_network(f"{layout.HUB_ADDRESS}/{layout.PREFIX_LENGTH}", strict=False)
        addresses = {cluster.address for cluster in made} | {layout.HUB_ADDRESS}
        self.assertEqual(len(addresses), layout.MOST_CLUSTERS + 1)
        self.assertTrue(all(ipaddress.ip_address(address) in hub for address in addresses))
        ranges = [hub] + [ipaddress.ip_network(cidr) for cluster in made
                          for cidr in (cluster.pod_cidr, cluster.real_pod_cidr,
                                       cluster.service_cidr)]
        for number, one in enumerate(ranges):
            self.assertFalse(any(one.overlaps(other) for other in ranges[number + 1:]))
        with self.assertRaises(Trouble):
            self.state.add("one-too-many", 2)

    def test_a_number_is_free_again_when_its_cluster_is_gone(self):
        first, second = self.state.add("a", 2), self.state.add("b", 2)
        (first.folder / "cluster.json").unlink()
        first.folder.rmdir()
        self.assertEqual(self.state.add("c", 2).number, first.number)
        self.assertEqual(self.state.cluster("b").address, second.address)

    def test_a_record_that_cannot_be_read_is_no_cluster(self):
        cluster = self.state.add("a", 2)
        for text in ("", "{", "[]", json.dumps({"number": 1})):
            (cluster.folder / "cluster.json").write_text(text)
            with self.subTest(text), self.assertRaises(Trouble):
                self.state.cluster("a")

    def test_a_cluster_of_before_nodes_had_shapes_is_still_known(self):
        cluster = self.state.add("a", 2)
        (cluster.folder / "cluster.json").write_text(
            json.dumps({"number": 1, "nodes": 2, "kubelet": False}))
        self.assertEqual(self.state.cluster("a").shape, {})

    def test_programs_are_told_what_is_there_and_where_its_kubeconfig_is(self):
        cluster = self.state.add("a", 2, shape={"cpu": "8"})
        (self.state.folder / "clusters" / "half").mkdir(parents=True)
        with unittest.mock.patch.object(lifecycle.network, "of_state", lambda state: []):
            told = {row["name"]: row for row in lifecycle.describe(self.state)}
        self.assertEqual(told["a"]["kubeconfig"], str(cluster.kubeconfig()))
        self.assertIn("8 cpu", told["a"]["nodes"])
        self.assertIn("without etcd", told["a"]["condition"])
        self.assertEqual(told["half"], {"name": "half", "condition": "left over"})

    def test_a_folder_without_a_record_is_in_nobodys_way(self):
        (self.state.folder / "clusters" / "half").mkdir(parents=True)
        self.assertEqual(self.state.add("a", 2).number, 1)

    def test_the_state_folder_comes_from_the_environment(self):
        chosen = layout.state_from({"REALKUBE_STATE": str(self.folder / "chosen")})
        self.assertEqual(chosen.folder, (self.folder / "chosen").resolve())
        default = layout.state_from({"XDG_STATE_HOME": str(self.folder)})
        self.assertEqual(default.folder, self.folder.resolve() / "spillway" / "realkube")

    def test_no_name_leads_the_deleting_out_of_the_state_folder(self):
        (self.state.folder / "logs").mkdir(parents=True)
        with self.assertRaises(Trouble):
            lifecycle._take_down(self.state, ["../logs"])
        self.assertTrue((self.state.folder / "logs").exists())


if __name__ == "__main__":
    unittest.main()
