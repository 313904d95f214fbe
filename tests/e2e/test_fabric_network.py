"""Two clusters connect their networks, as far as objects go: real CRDs take what the agents write, on both sides, and all
of it goes again. Liqo's networking module is off here (it needs WireGuard and GENEVE), so its part is played: what its
controllers write into status. Run by tests/e2e/run."""
import base64
import json

import test_fabric
from on_a_cluster import PATIENCE_SECONDS
from processes import eventually
from test_fabric import BUYER, SELLER

GROUP = "networking.liqo.io"
KINDS = ("configurations", "gatewayservers", "gatewayclients", "publickeies")
RANGES = {BUYER: "10.10.0.0/16", SELLER: "10.20.0.0/16"}
PEER = {BUYER: SELLER, SELLER: BUYER}


class FabricNetwork(test_fabric.Fabric):
    AGENT = ["--fabric-network", "on", "--fabric-warm", "1s"]

    def setUp(self):
        super().setUp()
        self.addCleanup(self.remove_ranges)
        for side in (BUYER, SELLER):
            for kind, cidr in (("pod-cidr", RANGES[side]), ("external-cidr", "10.70.0.0/16")):
                self.kubectl(side, "apply", "-f", "-", stdin=json.dumps({
                    "apiVersion": "ipam.liqo.io/v1alpha1", "kind": "Network", "spec": {"cidr": cidr},
                    "metadata": {"name": kind, "namespace": "liqo", "labels": {"ipam.liqo.io/network-type": kind}}}))
                self.answer(side, "networks.ipam.liqo.io", kind, {"cidr": cidr}, "liqo")

    def remove_ranges(self):
        for side in (BUYER, SELLER):
            self.kubectl(side, "-n", "liqo", "delete", "networks.ipam.liqo.io", "pod-cidr", "external-cidr")

    def answer(self, side, kind, name, status, namespace=None):
        """As a controller of Liqo's would."""
        self.kubectl(side, "-n", namespace or f"liqo-tenant-{PEER[side]}", "patch", kind, name, "--subresource=status",
                     "--type=merge", "-p", json.dumps({"status": status}))

    def there(self, side, kind):
        found = self.items(side, f"{kind}.{GROUP}", "-A")
        return found[0] if found else None

    def all_there(self):
        return [f"{side} {kind}" for side in (BUYER, SELLER) for kind in KINDS if self.there(side, kind)]

    def comes(self, side, kind):
        return eventually(f"{kind} at the {side}", lambda: self.there(side, kind), PATIENCE_SECONDS)

    def open_gateway(self, side, kind, key, status):
        gateway = self.comes(side, kind)
        name, space = gateway["metadata"]["name"], gateway["metadata"]["namespace"]
        self.assertEqual((name, space), (PEER[side], f"liqo-tenant-{PEER[side]}"))
        self.kubectl(side, "create", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "Secret", "metadata": {
                "name": f"gw-{name}", "namespace": space,
                "labels": {"liqo.io/remote-cluster-id": name, f"{GROUP}/gateway-resource": "true"},
                "ownerReferences": [{"apiVersion": gateway["apiVersion"], "kind": gateway["kind"], "name": name,
                                     "uid": gateway["metadata"]["uid"]}]},
            "data": {"publicKey": key, "privateKey": key}}))
        self.answer(side, f"{kind}.{GROUP}", name, {**status, "secretRef": {"name": f"gw-{name}", "namespace": space}})

    def test_objects_come_on_both_sides_and_go_again(self):
        contract, _ = self.buy(1)  # nodes do not wait for it
        for side in (BUYER, SELLER):
            configuration = self.comes(side, "configurations")
            self.assertEqual(configuration["spec"]["remote"]["cidr"]["pod"], [RANGES[PEER[side]]])
            self.answer(side, f"configurations.{GROUP}", PEER[side], {"remote": {"cidr": {
                "pod": [RANGES[PEER[side]]], "external": ["10.71.0.0/16"]}}})
        keys = {side: base64.b64encode(side.ljust(32, ".").encode()).decode() for side in (BUYER, SELLER)}
        endpoint = {"addresses": ["192.0.2.1"], "port": 51840, "protocol": "UDP"}
        self.open_gateway(SELLER, "gatewayservers", keys[SELLER], {"endpoint": endpoint})
        self.open_gateway(BUYER, "gatewayclients", keys[BUYER], {})
        self.assertEqual(self.there(BUYER, "gatewayclients")["spec"]["endpoint"], endpoint)
        for side in (BUYER, SELLER):
            self.assertEqual(self.comes(side, "publickeies")["spec"]["publicKey"], keys[PEER[side]])

        # Deleted by hand: made again, with what is known.
        self.kubectl(BUYER, "-n", f"liqo-tenant-{SELLER}", "delete", f"publickeies.{GROUP}", SELLER)
        self.comes(BUYER, "publickeies")

        self.market.spillway("contracts", "release", contract, "--dir", self.identities[BUYER])
        eventually("nothing of the network left", lambda: not self.all_there(), PATIENCE_SECONDS)
        eventually("nothing left", lambda: not self.left(), PATIENCE_SECONDS)

    test_from_a_purchase_to_nothing = None  # of test_fabric.py
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None
