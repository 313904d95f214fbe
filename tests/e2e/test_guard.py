"""The provider's guard on real Liqo, with a buyer's own credentials: what no contract says is refused, by us and by
name; beside it everything honest goes through (docs/fabric-rules.md). Run by tests/e2e/run."""
import copy
import json
import subprocess
import unittest

from guarded_peering import BINDINGS, POLICIES, PREFIX, GuardedPeering
from liqo_objects import AT_SELLER, BUYER, SELLER, SLICES, certificate_request
from market import SPILLWAY
from on_a_cluster import PATIENCE_SECONDS, call
from processes import eventually

AMOUNTS = {"cpu": "100m", "memory": "64Mi"}
HONEST = {"name": "main", "image": "none", "resources": {"requests": AMOUNTS, "limits": AMOUNTS}}


def copy_labels(buyer=BUYER):
    return {"liqo.io/replicated": "true", "liqo.io/replication": "false", "liqo.io/originID": buyer,
            "liqo.io/remote-cluster-id": buyer, "liqo.io/remoteID": SELLER}


class Guard(GuardedPeering):
    # ---- honest traffic -----------------------------------------------------------------------

    def send_guest(self, name, space):
        """By the buyer's own virtual kubelet: what comes by another way, that deletes."""
        self.create(BUYER, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": space},
            "spec": {"nodeSelector": {"kubernetes.io/hostname": self.unit}, "containers": [HONEST],
                     "tolerations": [{"key": "spillway.io/bought", "operator": "Exists"}]}})

    def is_running(self, side, name, space):
        return self.get(side, "-n", space, "pod", name)["status"]["phase"] == "Running"

    def test_an_honest_guest_runs(self):
        self.send_guest("guest", self.space)
        for side, space in ((BUYER, self.space), (SELLER, self.guests)):
            eventually(f"a guest that runs, seen by the {side}",
                       lambda side=side, space=space: self.is_running(side, "guest", space), PATIENCE_SECONDS)

    def test_an_honest_service_config_map_and_secret_arrive(self):
        for thing in ({"kind": "Service", "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}},
                      {"kind": "ConfigMap", "data": {"a": "b"}}, {"kind": "Secret", "stringData": {"a": "b"}}):
            self.create(BUYER, {"apiVersion": "v1", "metadata": {"name": "honest", "namespace": self.space},
                                **thing})
            eventually(f"the {thing['kind']} at the seller", lambda kind=thing["kind"]: self.get(
                SELLER, "-n", self.guests, kind, "honest"), PATIENCE_SECONDS)

    # ---- R1, R2, R3: slices -------------------------------------------------------------------

    def slice(self, **spec):
        return {"apiVersion": "authentication.liqo.io/v1beta1", "kind": "ResourceSlice",
                "metadata": {"name": self.other, "namespace": AT_SELLER, "labels": copy_labels()},
                "spec": {"class": "spillway", "consumerClusterID": BUYER, "providerClusterID": SELLER,
                         "csr": self.requests[self.other], "resources": {"cpu": "1"}, **spec}}

    def refuses_slice(self, thing, rule):
        self.refuses(self.access_of_control_plane, thing, rule)

    def test_the_slice_that_was_recorded_passes(self):
        self.passes(self.access_of_control_plane, self.slice())

    def test_r1_a_foreign_subject_is_refused_before_anything_is_signed(self):
        before = {one["metadata"]["name"] for one in self.items(SELLER, "certificatesigningrequests")}
        for organization in ("liqo.io", "system:masters", "another"):
            request = certificate_request(self.keys, self.other, organization)
            self.refuses_slice(self.slice(csr=request), "R1: no contract has recorded")
        self.refuses_slice(self.slice(csr=self.requests[self.unit]), "R1: no contract has recorded")
        unknown = self.slice(csr=certificate_request(self.keys, "unknown"))
        unknown["metadata"]["name"] = "unknown"
        self.refuses_slice(unknown, "R1: no contract has recorded")
        without = self.slice()
        del without["spec"]["csr"]
        self.refuses_slice(without, "R1: no contract has recorded")
        after = {one["metadata"]["name"] for one in self.items(SELLER, "certificatesigningrequests")}
        self.assertEqual(after, before)
        names = {one["metadata"]["name"] for one in self.items(SELLER, "-n", AT_SELLER, "secrets")}
        self.assertNotIn(f"liqo-remote-certificate-{self.other}", names)

    def test_r1_certificates_are_not_renewed_past_the_record(self):
        self.refuses(self.access_of_control_plane, {
            "apiVersion": "authentication.liqo.io/v1beta1", "kind": "Renew",
            "metadata": {"name": "renew", "namespace": AT_SELLER, "labels": copy_labels()},
            "spec": {"consumerClusterID": BUYER, "csr": self.requests[self.unit],
                     "identityType": "ControlPlane"}}, "R1, R2: buyers write neither")

    def test_r1_a_buyers_id_is_nobody_at_the_provider(self):
        def check(buyer, **more):
            return call(SPILLWAY, "fabric", "guard", "--check", "--kubeconfig", self.kubeconfigs[SELLER],
                        "--buyer", buyer, **more)
        self.assertIn(f"{BUYER} has no rights of its own", check(BUYER))  # but for those that Liqo gives it
        name = f"staff-{self.unit}"
        self.addCleanup(self.kubectl, SELLER, "delete", "clusterrolebinding", name)
        self.kubectl(SELLER, "create", "clusterrolebinding", name, "--clusterrole=view", "--group=staff")
        self.assertIn(f"has rights here already, by the ClusterRoleBinding {name}", check("staff", fails=True))

    def test_r2_no_status_is_a_buyers(self):
        for kind, name in ((SLICES, self.unit), ("namespacemaps", SELLER)):
            self.refuses_patch(self.access_of_control_plane, "R1, R2: buyers write neither", "-n", AT_SELLER, kind,
                               name, "--subresource=status", patch={"status": {"conditions": [], "currentMapping": {}}})

    def test_r2_a_copy_has_the_labels_of_one(self):
        for change in ({"liqo.io/replicated": None}, {"liqo.io/replication": "true"},
                       {"liqo.io/originID": "another"}, {"liqo.io/remote-cluster-id": "another"},
                       {"liqo.io/tenant-namespace": "true"}):
            thing = self.slice()
            labels = {**thing["metadata"]["labels"], **change}
            thing["metadata"]["labels"] = {key: value for key, value in labels.items() if value is not None}
            self.refuses_slice(thing, "R2: a buyer's object has the labels of a copy")

    def test_r3_only_our_class_and_the_buyers_own_id(self):
        self.refuses_slice(self.slice(**{"class": "default"}), "R3: spec.class must be spillway")
        self.refuses_slice(self.slice(consumerClusterID="another"), "R3: spec.consumerClusterID")

    def test_r3_no_finalizers_and_owners_on_a_slice(self):
        for part in ({"finalizers": ["example.com/stay"]},
                     {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "b"}]}):
            thing = self.slice()
            thing["metadata"].update(part)
            self.refuses_slice(thing, "R3: a buyer's slice has neither finalizers nor owners")

    def test_r3_nothing_of_a_slice_changes(self):
        for patch in ({"spec": {"resources": {"cpu": "64"}}}, {"metadata": {"annotations": {"a": "b"}}},
                      {"metadata": {"finalizers": ["example.com/stay"]}}, {"metadata": {"labels": {"a": "b"}}}):
            self.refuses_patch(self.access_of_control_plane, "R3: a buyer's slice does not change", "-n", AT_SELLER,
                               SLICES, self.unit, patch=patch)

    # ---- R4: namespaces -----------------------------------------------------------------------

    def refuses_names(self, names, rule):
        self.refuses_patch(self.access_of_control_plane, rule, "-n", AT_SELLER, "namespacemaps", SELLER,
                           patch={"spec": {"desiredMapping": names}})

    def test_r4_only_names_that_are_the_buyers(self):
        for name in ("kube-system", "liqo", AT_SELLER, "default", f"shop-{BUYER}", f"sw5-{BUYER}", PREFIX,
                     "sw7-another-shop", f"sw6-{BUYER}-shop", f"x{PREFIX}shop"):
            self.refuses_names({"mine": name}, "R4: a guest namespace is called")

    def test_r4_not_more_than_sixteen(self):
        self.refuses_names({f"n{at}": f"{PREFIX}n{at}" for at in range(17)}, "R4: a buyer has 16")

    def test_r4_a_map_of_ones_own_making(self):
        thing = {"apiVersion": "offloading.liqo.io/v1beta1", "kind": "NamespaceMap",
                 "metadata": {"name": "more", "namespace": AT_SELLER, "labels": copy_labels()},
                 "spec": {"desiredMapping": {"a": PREFIX + "a"}}}
        self.refuses(self.access_of_control_plane, thing, "R4: a buyer has one map of namespaces")
        thing["metadata"]["labels"]["liqo.io/replication"] = "true"
        self.refuses(self.access_of_control_plane, thing, "R2: a buyer's object has the labels of a copy")

    def test_r4_the_map_that_liqo_makes_passes(self):
        call("kubectl", f"--kubeconfig={self.access_of_control_plane}", "-n", AT_SELLER, "patch", "namespacemaps", SELLER,
             "--type=merge", "--dry-run=server", "-p", json.dumps({"spec": {"desiredMapping": {"a": PREFIX + "a"}}}))

    def test_r4_whose_map_it_is_only_the_provider_says(self):
        said = call("kubectl", f"--kubeconfig={self.access_of_control_plane}", "annotate", "namespace", AT_SELLER,
                    "spillway.dev/provider=more", "--overwrite", fails=True)
        self.assertIn("forbidden", said.lower())

    # ---- R5, R6, R8: guests -------------------------------------------------------------------

    def shadow_pod(self, name="bad", space=None, container=None, meta=None, **pod):
        return {"apiVersion": "offloading.liqo.io/v1beta1", "kind": "ShadowPod",
                "metadata": {"name": name, "namespace": space or self.guests,
                             "labels": {"offloading.liqo.io/origin": BUYER, "offloading.liqo.io/destination": SELLER,
                                        "offloading.liqo.io/nodename": self.unit}, **(meta or {})},
                "spec": {"pod": {"automountServiceAccountToken": False,
                                 "containers": [{**copy.deepcopy(HONEST), **(container or {})}], **pod}}}

    def refuses_pod(self, rule, **changes):
        self.refuses(self.unit_access, self.shadow_pod(**changes), rule)

    def test_what_a_virtual_kubelet_sends_passes(self):
        self.passes(self.unit_access, self.shadow_pod())
        self.passes(self.unit_access, self.shadow_pod(
            tolerations=[{"key": "spillway.io/bought", "operator": "Exists"},
                         {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
                          "tolerationSeconds": 300}],
            initContainers=[{**HONEST, "name": "first"}], terminationGracePeriodSeconds=600,
            volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "b"}},
                     {"name": "c", "secret": {"secretName": "c"}},
                     {"name": "d", "projected": {"sources": [{"secret": {"name": "d"}}, {"downwardAPI": {
                         "items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.namespace"}}]}}]}}],
            container={"securityContext": {"allowPrivilegeEscalation": False,
                                           "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}},
                       "ports": [{"containerPort": 80}]}))

    def test_r5_requests_and_limits_on_every_container(self):
        for resources in ({}, {"requests": AMOUNTS}, {"limits": AMOUNTS},
                          {"requests": {"cpu": "1"}, "limits": AMOUNTS},
                          {"requests": {**AMOUNTS, "cpu": "0"}, "limits": AMOUNTS}):
            self.refuses_pod("R5: every container asks", container={"resources": resources})
        self.refuses_pod("R5: every container asks", initContainers=[{"name": "first", "image": "none"}])

    def test_r5_a_buyer_is_told_why_its_pod_does_not_start(self):
        self.create(BUYER, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "limitless", "namespace": self.space},
            "spec": {"nodeSelector": {"kubernetes.io/hostname": self.unit},
                     "containers": [{"name": "main", "image": "none"}]}})
        eventually("an event that names the rule", lambda: any(
            "R5: every container asks" in one.get("message", "") for one in self.items(
                BUYER, "-n", self.space, "events", "--field-selector=involvedObject.name=limitless")),
            PATIENCE_SECONDS)

    def test_r5_limits_are_what_is_asked_for(self):
        small = {"cpu": "1m", "memory": "1Mi"}
        for what in AMOUNTS:
            self.refuses_pod("R5: a limit is what is asked for", container={"resources": {
                "requests": {**AMOUNTS, what: small[what]}, "limits": AMOUNTS}})

    def test_r5_nothing_is_limited_that_is_not_asked_for(self):
        for what, amount in (("nvidia.com/gpu", 8), ("hugepages-2Mi", "1Gi"), ("ephemeral-storage", "1Ti")):
            container = {"resources": {"requests": AMOUNTS, "limits": {**AMOUNTS, what: amount}}}
            self.refuses_pod("R5: a limit is what is asked for", container=container)
            self.refuses_pod("R5: a limit is what is asked for", initContainers=[
                {**HONEST, "name": "first", **container}])

    def test_r5_nothing_is_had_that_the_unit_has_not(self):
        """By Liqo itself: what is asked for is counted, and of what is not in the Quota there is nothing."""
        asked = {**AMOUNTS, "nvidia.com/gpu": "1"}
        said = call("kubectl", f"--kubeconfig={self.unit_access}", "create", "--validate=false", "-f", "-",
                    stdin=json.dumps(self.shadow_pod(container={"resources": {"requests": asked, "limits": asked}})),
                    fails=True)
        self.assertIn("nvidia.com/gpu quota limit not found for this peering", said)

    def test_r5_no_sidecars(self):
        self.refuses_pod("R5: no sidecar", initContainers=[{**HONEST, "name": "side", "restartPolicy": "Always"}])

    def test_r5_guests_wait_for_the_limits_of_their_namespace(self):
        bare = self.offload(f"{self.space}-bare")
        self.refuses_pod("R5: guests start when their namespace has its limits", space=bare)
        self.guard(bare, 1)
        self.passes(self.unit_access, self.shadow_pod(space=bare))

    def test_r5_no_more_pods_than_granted(self):
        few = self.offload(f"{self.space}-few", pods=2)
        for at in range(3):
            self.send_guest(f"many-{at}", f"{self.space}-few")
        eventually("three that want to", lambda: len(self.items(SELLER, "-n", few, "shadowpods")) == 3,
                   PATIENCE_SECONDS)
        eventually("two that do", lambda: sum(self.is_running(SELLER, one["metadata"]["name"], few) for one in
                                              self.items(SELLER, "-n", few, "pods")) == 2, PATIENCE_SECONDS)
        said = self.kubectl(SELLER, "-n", few, "run", "one-more", "--image=none", "--dry-run=server", "--overrides",
                            json.dumps({"spec": {"containers": [HONEST]}}), fails=True)
        self.assertIn("exceeded quota: spillway-guests", said)
        self.assertEqual(len(self.items(SELLER, "-n", few, "pods")), 2)

    def test_r5_no_guest_is_larger_than_a_unit(self):
        huge = {**HONEST, "resources": {"requests": AMOUNTS, "limits": {"cpu": "3", "memory": "64Mi"}}}
        said = self.kubectl(SELLER, "-n", self.guests, "run", "huge", "--image=none", "--dry-run=server",
                            "--overrides", json.dumps({"spec": {"containers": [huge]}}), fails=True)
        self.assertIn("maximum cpu usage per Pod is 2", said)

    def test_r6_nothing_of_the_host(self):
        for part in ("hostNetwork", "hostPID", "hostIPC"):
            self.refuses_pod("R6: no namespaces of the host", **{part: True})
        self.refuses_pod("R6: no port of the host",
                         container={"ports": [{"containerPort": 80, "hostPort": 80}]})

    def test_r6_probes_and_hooks_ask_nobody_else(self):
        own = {"readinessProbe": {"httpGet": {"port": 80, "path": "/"}}, "livenessProbe": {"tcpSocket": {"port": 80}},
               "startupProbe": {"exec": {"command": ["true"]}}, "lifecycle": {"preStop": {"exec": {"command": ["true"]}}}}
        self.passes(self.unit_access, self.shadow_pod(container=own))
        for way in ({"httpGet": {"port": 80, "host": "192.0.2.1"}}, {"tcpSocket": {"port": 80, "host": "192.0.2.1"}}):
            for part in ({"livenessProbe": way}, {"readinessProbe": way}, {"startupProbe": way},
                         {"lifecycle": {"postStart": way}}, {"lifecycle": {"preStop": way}}):
                self.refuses_pod("R6: probes and hooks", container=part)

    def test_r6_the_provider_decides_where(self):
        expression = {"key": "a", "operator": "Exists"}
        for pod in ({"nodeName": f"{SELLER}-1"}, {"schedulerName": "mine"},
                    {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}},
                    {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "kubernetes.io/hostname", "namespaceSelector": {}}]}}}):
            self.refuses_pod("R6: the provider decides where", **pod)
        self.refuses_pod("R6: a guest keeps away from", affinity={"podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "namespaceSelector": {}}]}})
        self.refuses_pod("R6: the node selector", nodeSelector={"kubernetes.io/hostname": f"{SELLER}-1"})

    def test_r6_the_granted_node_selector_and_no_other(self):
        user = self.get(SELLER, "-n", AT_SELLER, "quotas.offloading.liqo.io", "-o", "json")["items"][0]["spec"]["user"]
        note = "spillway.dev/node-selectors"
        self.kubectl(SELLER, "annotate", "namespace", self.guests, f"{note}={user}:pool=small,zone=a",
                     "--overwrite")
        self.addCleanup(self.kubectl, SELLER, "annotate", "namespace", self.guests, f"{note}=", "--overwrite")
        eventually("the selector that was granted passes", lambda: self.passes(
            self.unit_access, self.shadow_pod(nodeSelector={"pool": "small", "zone": "a"})) is None,
            PATIENCE_SECONDS)
        for selector in ({}, {"pool": "small"}, {"pool": "large", "zone": "a"},
                         {"pool": "small", "zone": "a", "more": "b"}):
            self.refuses_pod("R6: the node selector", nodeSelector=selector)

    def test_r6_tolerations_as_granted(self):
        for toleration in ({"operator": "Exists"}, {"key": "node-role.kubernetes.io/control-plane"},
                           {"key": "dedicated", "operator": "Exists"}):
            self.refuses_pod("R6: no tolerations but", tolerations=[toleration])

    def test_r6_no_priority_runtime_class_and_devices(self):
        for pod in ({"priorityClassName": "system-node-critical"}, {"priority": 1000}, {"runtimeClassName": "bare"},
                    {"resourceClaims": [{"name": "a", "resourceClaimName": "b"}]}):
            self.refuses_pod("R6: no priority, no runtime class", **pod)

    def test_r6_no_privileges(self):
        for context in ({"privileged": True}, {"allowPrivilegeEscalation": True}, {"procMount": "Unmasked"},
                        {"windowsOptions": {"hostProcess": True}}):
            self.refuses_pod("R6: not privileged", container={"securityContext": context})
        self.refuses_pod("R6: not privileged", initContainers=[
            {**HONEST, "name": "first", "securityContext": {"privileged": True}}])
        self.refuses_pod("R6: no capability is added", container={
            "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}})
        self.refuses_pod("R6: no sysctls", securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]})
        self.refuses_pod("R6: no ephemeral containers", ephemeralContainers=[{"name": "late", "image": "none"}])

    def test_r6_volumes_of_harmless_kinds_only(self):
        for kind in ({"hostPath": {"path": "/"}}, {"nfs": {"server": "a", "path": "/"}}, {"csi": {"driver": "a"}},
                     {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {
                         "requests": {"storage": "1Gi"}}}}}},
                     {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}):
            self.refuses_pod("R6: volumes are of", volumes=[{"name": "a", **kind}])

    def test_r6_a_guest_is_nobody_at_the_provider(self):
        self.refuses_pod("R6: a guest is nobody", automountServiceAccountToken=True)
        for field in ("serviceAccountName", "serviceAccount"):
            self.refuses_pod("R6: a guest is nobody", **{field: "builder"})
        self.refuses(self.unit_access, {
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
            "metadata": {"name": "bad", "namespace": self.guests,
                         "annotations": {"kubernetes.io/service-account.name": "default"}}}, "R6: no Secret that")

    def test_r6_no_other_networks(self):
        self.refuses_pod("R6: no networks but", meta={"annotations": {"k8s.v1.cni.cncf.io/networks": "host"}})

    def test_r6_what_was_admitted_does_not_change(self):
        self.send_guest("stays", self.space)
        eventually("a guest", lambda: self.is_running(SELLER, "stays", self.guests), PATIENCE_SECONDS)
        self.refuses_patch(self.unit_access, "R6: no namespaces of the host", "-n", self.guests, "shadowpod",
                           "stays", patch={"spec": {"pod": {"hostNetwork": True}}})
        self.refuses_patch(self.unit_access, "R6: no networks but", "-n", self.guests, "shadowpod", "stays",
                           patch={"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "host"}}})
        call("kubectl", f"--kubeconfig={self.unit_access}", "-n", self.guests, "label", "shadowpod", "stays", "a=b")

    def test_r6_the_namespace_has_a_pod_security_level(self):
        said = self.kubectl(SELLER, "-n", self.guests, "run", "bad", "--image=none", "--dry-run=server",
                            "--overrides", json.dumps({"spec": {"hostNetwork": True, "containers": [HONEST]}}),
                            fails=True)
        self.assertIn('violates PodSecurity "baseline', said)

    def test_r8_a_guest_can_be_ended(self):
        self.refuses_pod("R8: a guest ends within ten minutes", terminationGracePeriodSeconds=601)
        self.refuses_pod("R8: a buyer adds no finalizers", meta={"finalizers": ["example.com/stay"]})
        self.refuses_pod("R8: a buyer adds no owners", meta={"ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "b"}]})
        for kind in ("ConfigMap", "Secret"):
            self.refuses(self.unit_access, {"apiVersion": "v1", "kind": kind, "metadata": {
                "name": "bad", "namespace": self.guests, "finalizers": ["example.com/stay"]}},
                "R8: a buyer adds no finalizers")

    # ---- R7: what is reached from outside, and what stays ------------------------------------

    def service(self, **spec):
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "bad", "namespace": self.guests},
                "spec": {"ports": [{"port": 80}], **spec}}

    def test_r7_services_stay_inside(self):
        self.passes(self.unit_access, self.service())
        self.passes(self.unit_access, self.service(clusterIP="None"))
        for spec in ({"type": "NodePort"}, {"type": "LoadBalancer"}, {"type": "LoadBalancer", "loadBalancerClass": "a/b"},
                     {"type": "ExternalName", "externalName": "example.com"}):
            self.refuses(self.unit_access, self.service(**spec), "R7: Services are of type ClusterIP")
        self.refuses(self.unit_access, self.service(externalIPs=["192.0.2.1"]), "R7: no addresses of one's own")

    def test_r7_no_ingress(self):
        for spec in ({}, {"ingressClassName": "nginx"}):
            self.refuses(self.unit_access, {
                "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
                "metadata": {"name": "bad", "namespace": self.guests},
                "spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}, **spec}},
                "R7: an Ingress has a class")

    def claim(self, **spec):
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "metadata": {"name": "bad", "namespace": self.guests},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}}

    def test_r7_no_storage(self):
        for spec in ({}, {"storageClassName": "fast"}, {"storageClassName": ""}):
            self.refuses(self.unit_access, self.claim(**spec), "R7: storage is of a class")
        said = self.kubectl(SELLER, "create", "--dry-run=server", "-f", "-", stdin=json.dumps(self.claim()), fails=True)
        self.assertIn("exceeded quota: spillway-guests", said)

    def test_r7_storage_of_a_granted_class_is_new(self):
        note = "spillway.dev/storage-classes"
        self.kubectl(SELLER, "annotate", "namespace", self.guests, f"{note}=slow,fast", "--overwrite")
        self.addCleanup(self.kubectl, SELLER, "annotate", "namespace", self.guests, f"{note}=", "--overwrite")
        eventually("the class passes, and the quota refuses", lambda: "exceeded quota" in call(
            "kubectl", f"--kubeconfig={self.unit_access}", "create", "-f", "-",
            stdin=json.dumps(self.claim(storageClassName="fast")), fails=True), PATIENCE_SECONDS)
        for spec in ({"volumeName": "somebodys"}, {"selector": {"matchLabels": {"a": "b"}}}):
            self.refuses(self.unit_access, self.claim(storageClassName="fast", **spec), "R7: storage is new")

    def test_r7_endpoints_only_where_granted(self):
        def endpoints(address):
            return {"apiVersion": "offloading.liqo.io/v1beta1", "kind": "ShadowEndpointSlice",
                    "metadata": {"name": "bad", "namespace": self.guests},
                    "spec": {"template": {"addressType": "IPv4", "endpoints": [{"addresses": [address]}],
                                          "ports": [{"port": 80}]}}}
        self.refuses(self.unit_access, endpoints("192.0.2.1"), "R7: endpoints lie in the ranges")
        note = "spillway.dev/endpoint-ranges"
        self.kubectl(SELLER, "annotate", "namespace", self.guests, f"{note}=192.0.2.0/25", "--overwrite")
        self.addCleanup(self.kubectl, SELLER, "annotate", "namespace", self.guests, f"{note}=", "--overwrite")
        eventually("an endpoint within passes", lambda: self.passes(
            self.unit_access, endpoints("192.0.2.1")) is None, PATIENCE_SECONDS)
        self.refuses(self.unit_access, endpoints("192.0.2.129"), "R7: endpoints lie in the ranges")

    # ---- whether it is there ------------------------------------------------------------------

    def test_a_check_tells_what_is_enforced(self):
        check = (SPILLWAY, "fabric", "guard", "--check", "--kubeconfig", self.kubeconfigs[SELLER])
        self.assertRegex(call(*check), r"^enforced by \d+ policies; Liqo v1\.(2\.0|1\.2)\n$")
        doctor = subprocess.run([SPILLWAY, "doctor", "--dir", self.folder / "nobody", *check[-2:]], text=True,
                                capture_output=True, check=False, timeout=PATIENCE_SECONDS).stdout
        self.assertRegex(doctor, r"✓ guard +enforced by \d+ policies")
        self.assertIn("not enforced", call(*check[:-1], self.kubeconfigs[BUYER], fails=True))
        guard = call(SPILLWAY, "fabric", "guard")
        self.addCleanup(self.kubectl, SELLER, "apply", "-f", "-", stdin=guard)
        self.kubectl(SELLER, "patch", "validatingadmissionpolicybinding", "spillway-services", "--type=merge",
                     "-p", json.dumps({"spec": {"validationActions": ["Audit"]}}))
        said = call(*check, fails=True)
        self.assertIn("partly enforced: 0 missing, 1 not as this version writes them", said)
        self.assertIn("ValidatingAdmissionPolicyBinding spillway-services", said)
        for kind in (POLICIES, BINDINGS):
            self.assertEqual(len(self.items(SELLER, kind, "-l", "spillway.dev/guard=1")),
                             guard.count("\nkind: ValidatingAdmissionPolicy\n"))


if __name__ == "__main__":
    unittest.main()
