"""Contracts become nodes by the paper's way, too: the buyer's agent makes its Tenant itself, with a kubeconfig for minutes from
the provider (docs/fabric.md). And what the account behind it may not do, with its own credentials. Run by tests/e2e/run."""
import base64
import json
import os
import unittest

import test_fabric
from guarded_peering import put_up_guard, take_down_guard
from liqo_objects import AT_SELLER, BUYER, SELLER
from on_a_cluster import PATIENCE_SECONDS, call
from processes import eventually, free_port

ACCOUNT = "spillway-handshake"
REQUEST = "spillway.dev/control-plane-request"
TENANTS = "tenants.authentication.liqo.io"


class ByKubeconfig(test_fabric.Fabric):
    AGENT = ("--fabric-warm", "0s")
    test_from_a_purchase_to_nothing = None
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    @classmethod
    def setUpClass(cls):
        kubeconfig = os.environ[f"REALKUBE_KUBECONFIG_{SELLER.upper()}"]
        cls.addClassCleanup(take_down_guard, kubeconfig)
        put_up_guard(kubeconfig)

    def setUp(self):
        super().setUp()
        eventually("the guard seen by the provider", lambda: self.offers()[0]["offer"].get("enforcement") == "full",
                   PATIENCE_SECONDS)
        # A peering that an earlier test left warm needs no account: these agents keep none so.
        eventually("no Tenant of before", lambda: not self.items(SELLER, TENANTS, "-A"), 3 * PATIENCE_SECONDS)

    def server(self):
        return self.config()["clusters"][0]["cluster"]["server"]

    def config(self):
        return json.loads(self.kubectl(SELLER, "config", "view", "--raw", "--minify", "-o", "json"))

    def agent(self, side):
        words = {BUYER: ("--fabric-handshake", "kubeconfig"), SELLER: ("--fabric-handshake-server", self.server())}
        common = type(self).AGENT
        self.AGENT = (*common, *words[side])
        return super().agent(side)

    def account(self):
        """What is there of it."""
        found = [f"{kind} {one['metadata']['name']}" for kind in ("serviceaccounts", "roles", "rolebindings")
                 for one in self.items(SELLER, kind, "-A") if one["metadata"]["name"] == ACCOUNT]
        spaces = [one["metadata"]["name"] for one in self.items(SELLER, "namespaces")
                  if REQUEST in one["metadata"].get("annotations", {})]
        return found + spaces

    def release(self, *contracts):
        for one in contracts:
            self.market.spillway("contracts", "release", one, "--dir", self.identities[BUYER])
        eventually("nothing left", lambda: not self.left(), PATIENCE_SECONDS)
        eventually("no Tenant", lambda: not self.items(SELLER, TENANTS, "-A"), 3 * PATIENCE_SECONDS)
        self.assertEqual(self.account(), [])


class FabricByKubeconfig(ByKubeconfig):
    def test_from_a_purchase_to_ready_and_nothing_of_the_way_is_left(self):
        contract, _ = self.buy(1)
        # The provider has heard no signature: it was not its agent that made the Tenant.
        heard = json.loads((self.identities[SELLER] / "state" / "agent.json").read_text())
        proofs = [one["request"]["proof"] for one in heard["fabric"]["contracts"].values()]
        self.assertEqual([(one["nonce"], one["signature"]) for one in proofs], [("", "")])
        eventually("nothing of the account", lambda: not self.account(), PATIENCE_SECONDS)
        second, _ = self.buy(1)  # the peering is there
        self.release(contract, second)


class AccountAndGuard(ByKubeconfig):
    """The kubeconfig leads nowhere, so that the account stands while the buyer tries; then it goes by the relay."""

    def agent(self, side):
        self.nowhere = f"https://127.0.0.1:{free_port()}"
        return super().agent(side)

    def server(self):
        return self.nowhere

    def access(self):
        """The account's own, as a file."""
        token = self.kubectl(SELLER, "-n", AT_SELLER, "create", "token", ACCOUNT).strip()
        config = self.config()
        config["users"] = [{"name": config["users"][0]["name"], "user": {"token": token}}]
        path = self.identities[SELLER] / "account"
        path.write_text(json.dumps(config))
        return path

    def refused(self, access, thing, why, *words):
        said = call("kubectl", f"--kubeconfig={access}", "create", "--validate=false", *words, "-f", "-",
                    stdin=json.dumps(thing), fails=True)
        self.assertIn(why, said)

    def test_the_account_makes_the_tenant_of_the_contract_and_nothing_else(self):
        contract = self.hold(1)
        eventually("an account", lambda: len(self.account()) == 4, PATIENCE_SECONDS, 0.1)
        access = self.access()
        request = json.loads(self.kubectl(SELLER, "get", "namespace", AT_SELLER, "-o", "json"))["metadata"]["annotations"][REQUEST]
        keys = json.loads(self.kubectl(BUYER, "-n", "liqo", "get", "secret", "authentication-keys", "-o", "json"))["data"]
        rule, right = "ValidatingAdmissionPolicy 'spillway-handshake'", "is forbidden: User"

        def tenant(meta=(), **spec):
            return {"apiVersion": "authentication.liqo.io/v1beta1", "kind": "Tenant",
                    "metadata": {"name": BUYER, "namespace": AT_SELLER,
                                 "labels": {"liqo.io/remote-cluster-id": BUYER}, **dict(meta)},
                    "spec": {"clusterID": BUYER, "csr": request, "publicKey": keys["publicKey"],
                             "signature": base64.b64encode(b"none").decode(), "authzPolicy": "KeysExchange",
                             "tenantCondition": "Active", **spec}}
        call("kubectl", f"--kubeconfig={access}", "create", "--dry-run=server", "-f", "-", stdin=json.dumps(tenant()))
        other = base64.b64encode(base64.b64decode(request) + b"\n").decode()
        for thing, why in (
                (tenant(csr=other), "R1: no contract has recorded"),
                (tenant(csr=base64.b64encode(b"none").decode()), "R1: no contract has recorded"),
                (tenant(clusterID="naples"), "R1: a Tenant is the buyer's own"),
                (tenant({"name": "naples"}), "R1: a Tenant is the buyer's own"),
                (tenant(authzPolicy="TolerateNoHandshake"), "R1: a Tenant comes by Liqo's handshake"),
                (tenant(proxyURL="https://elsewhere:1"), "R1: a Tenant comes by Liqo's handshake"),
                (tenant(tenantCondition="Drained"), "R1: a Tenant comes by Liqo's handshake"),
                (tenant({"finalizers": ["example.com/kept"]}), "R3: a Tenant has neither finalizers"),
                (tenant({"labels": {"liqo.io/remote-cluster-id": BUYER, "more": "true"}}), "R3: a Tenant has neither")):
            with self.subTest(why=why, thing=thing):
                self.refused(access, thing, why)
                self.refused(access, thing, rule)
        self.refused(access, tenant({"namespace": "default"}), right)
        self.refused(access, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "liqo-nonce", "namespace": AT_SELLER}},
                     right)
        kubectl = ("kubectl", f"--kubeconfig={access}")
        call(*kubectl, "-n", AT_SELLER, "get", "secret", "liqo-nonce")
        for words in (("-n", AT_SELLER, "get", "secrets"), ("get", TENANTS, "-A"), ("-n", AT_SELLER, "get", "configmaps"),
                      ("get", "namespaces"), ("-n", AT_SELLER, "delete", TENANTS, BUYER),
                      ("-n", AT_SELLER, "create", "token", ACCOUNT)):
            self.assertIn("orbidden", call(*kubectl, *words, fails=True), words)

        # What leads nowhere is given up, and the relay serves.
        eventually("a node that is Ready", lambda: len(self.ready()) == 1, 3 * PATIENCE_SECONDS)
        self.assertTrue(self.agents[BUYER].says("came to nothing"))
        eventually("nothing of the account", lambda: not self.account(), PATIENCE_SECONDS)
        said = call(*kubectl, "-n", AT_SELLER, "get", TENANTS, BUYER, fails=True)
        self.assertRegex(said, "orbidden|provide credentials")
        self.release(contract)


if __name__ == "__main__":
    unittest.main()
