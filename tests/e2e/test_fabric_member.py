"""Agent and autoscaler of a buyer as the chart installs them with autoscaler.backEnd=liqo: one member, identity, state and
papers in its cluster, each process with the rights of its own account and no others. Real Liqo, on the clusters `buyer`
and `seller`. Run by tests/e2e/run."""
import re
import unittest

import test_fabric
from chart_rights import RIGHTS, Release
from on_a_cluster import PATIENCE_SECONDS, call
from papers import make_papers
from processes import eventually, free_port
from test_fabric import BUYER

GROUP = "milan/small"
SERVICE = "clusterautoscaler.cloudprovider.v1.externalgrpc.CloudProvider"
VALUES = ("agent.enabled=true,agent.fabric=liqo,agent.fabricGuard=false,autoscaler.enabled=true,autoscaler.backEnd=liqo,"
          "autoscaler.tls.serverSecret=s,autoscaler.tls.clientCaSecret=c")
KINDS = RIGHTS | {"Secret", "Lease"}  # all but for the pods and who calls them: those are processes here


def text_field(number, text):
    """Of a protobuf message; short."""
    return bytes([number << 3 | 2, len(text)]) + text


class FabricMember(test_fabric.Fabric):
    test_from_a_purchase_to_nothing = None  # are tried with an agent alone
    test_a_spare_is_there_and_not_ready_until_it_is_bought = None

    def agent(self, side):
        if side != BUYER:
            return super().agent(side)
        self.release = Release(self, BUYER, VALUES, KINDS)
        token = self.market.folder / "token"
        token.write_text(self.market.spillway("token", "create", "--dir", self.market.operator, "--cluster", "site",
                                              "--roles", "consumer", "-o", "plain"))
        return self.market.program("agent-buyer", "agent", "--in-cluster", "e2e-agent", "--kubeconfig",
                                   self.release.account("e2e-agent"), "--fabric", "liqo", "--join", self.market.url,
                                   "--token-file", token)

    def start_autoscaler(self):
        self.papers = make_papers(self.market.folder / "papers")
        self.port = free_port()
        program = self.market.program(
            "autoscaler", "autoscaler", "--in-cluster", "e2e-autoscaler", "--identity-of", "e2e-agent", "--kubeconfig",
            self.release.account("e2e-autoscaler"), "--backend", "liqo", "--listen", f"127.0.0.1:{self.port}",
            "--tls-cert", self.papers / "server.pem", "--tls-key", self.papers / "server.key",
            "--client-ca", self.papers / "authority.pem")
        program.start()
        eventually("the autoscaler", lambda: program.says("autoscaler started"), PATIENCE_SECONDS)
        return program

    def grpc(self, method, message):
        """As the Cluster Autoscaler calls: done."""
        body = self.market.folder / "message"
        body.write_bytes(b"\0" + len(message).to_bytes(4, "big") + message)
        told = call("curl", "-sS", "--http2", "--max-time", "15", "--cacert", self.papers / "authority.pem",
                    "--cert", self.papers / "client.pem", "--key", self.papers / "client.key",
                    "-H", "content-type: application/grpc", "-H", "te: trailers", "--data-binary", f"@{body}",
                    "-D", "-", "-o", self.market.folder / "answer", f"https://127.0.0.1:{self.port}/{SERVICE}/{method}")
        if not re.search(r"^grpc-status: 0\r?$", told, re.MULTILINE):
            raise AssertionError(f"{method}: {told}")
        return True

    def test_what_the_autoscaler_buys_the_agent_makes_a_node_of(self):
        autoscaler = self.start_autoscaler()
        one_more = bytes([1 << 3, 1]) + text_field(2, GROUP.encode())
        eventually("a purchase", lambda: self.grpc("NodeGroupIncreaseSize", one_more), PATIENCE_SECONDS)
        name, node = eventually("a node that is Ready", lambda: next(iter(self.ready().items()), None), PATIENCE_SECONDS)
        self.assertRegex(node["spec"]["providerID"], r"^spillway://[0-9a-z]+/0$")
        self.check_homes()
        # Killed, it finds the identity where the agent keeps it, and its unit as it was.
        autoscaler.kill()
        autoscaler.forget()
        autoscaler.start()
        eventually("the autoscaler", lambda: autoscaler.says("autoscaler started"), PATIENCE_SECONDS)
        self.assertIn(name, self.ready())
        this_one = text_field(1, text_field(1, node["spec"]["providerID"].encode()) + text_field(2, name.encode()))
        eventually("the deletion", lambda: self.grpc("NodeGroupDeleteNodes", this_one + text_field(2, GROUP.encode())),
                   PATIENCE_SECONDS)
        eventually("nothing left", lambda: not self.left(), PATIENCE_SECONDS)

    def check_homes(self):
        """One identity and one set of papers, the agent's; the autoscaler reads the one and shares the other."""
        secrets = {one["metadata"]["name"]: one for one in self.items(BUYER, "secrets", "-n", self.release.space)}
        self.assertIn("key.pem", secrets["e2e-agent-identity"]["data"])
        self.assertNotIn("e2e-autoscaler-identity", secrets)
        papers = [one["metadata"]["name"] for one in self.items(BUYER, "configmaps", "-n", self.release.space,
                                                                "-l", "spillway.dev/paper")]
        self.assertTrue(papers)
        self.assertEqual([one for one in papers if not one.startswith("e2e-agent-paper-")], [])


if __name__ == "__main__":
    unittest.main()
