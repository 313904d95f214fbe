"""Contracts become nodes also where the provider has the guard: the agents' own traffic is honest (docs/fabric-rules.md).
Run by tests/e2e/run."""
import os
import unittest

import test_fabric
from guarded_peering import put_up_guard, take_down_guard
from liqo_objects import SELLER


class FabricWithAGuard(test_fabric.Fabric):
    @classmethod
    def setUpClass(cls):
        kubeconfig = os.environ[f"REALKUBE_KUBECONFIG_{SELLER.upper()}"]
        cls.addClassCleanup(take_down_guard, kubeconfig)
        put_up_guard(kubeconfig)


if __name__ == "__main__":
    unittest.main()
