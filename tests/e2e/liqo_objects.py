"""Liqo's objects as the fabric makes them, for tests and recordings between `buyer` and `seller`."""
import base64
import hashlib
import json
import tempfile

from on_a_cluster import call

BUYER, SELLER = "buyer", "seller"
AT_BUYER, AT_SELLER = f"liqo-tenant-{SELLER}", f"liqo-tenant-{BUYER}"
SPACES = {BUYER: AT_BUYER, SELLER: AT_SELLER}  # each one's for the other
SLICES = "resourceslices.authentication.liqo.io"  # Kubernetes has some of its own
TAG = hashlib.sha256(BUYER.encode()).hexdigest()[:12]


def certificate_request(keys, name, organization=BUYER):
    """As Liqo makes it for a slice: by the cluster's key, one organization. `keys` is the data of the Secret
    authentication-keys."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(base64.b64decode(keys["privateKey"]))
        file.flush()
        text = call("openssl", "req", "-new", "-key", file.name, "-subj", f"/O={organization}/CN={name}-{TAG}")
    return base64.b64encode(text.encode()).decode()


def slice_of(name, request):
    return {"apiVersion": "authentication.liqo.io/v1beta1", "kind": "ResourceSlice",
            "metadata": {"name": name, "namespace": AT_BUYER,
                         "labels": {"liqo.io/replication": "true", "liqo.io/remoteID": SELLER,
                                    "liqo.io/remote-cluster-id": SELLER},
                         "annotations": {"liqo.io/create-virtual-node": "true"}},
            "spec": {"class": "spillway", "consumerClusterID": BUYER, "providerClusterID": SELLER,
                     "csr": request, "resources": {"cpu": "2", "memory": "4Gi", "pods": "20"}}}


def offloading_of(namespace, remote):
    return {"apiVersion": "offloading.liqo.io/v1beta1", "kind": "NamespaceOffloading",
            "metadata": {"name": "offloading", "namespace": namespace},
            "spec": {"namespaceMappingStrategy": "SelectedName", "remoteNamespaceName": remote,
                     "podOffloadingStrategy": "LocalAndRemote",
                     "clusterSelector": {"nodeSelectorTerms": [{"matchExpressions": [
                         {"key": "liqo.io/remote-cluster-id", "operator": "Exists"}]}]}}}


def grant_of(replica, resources):
    """A merge patch of the status, with the whole list of conditions: it replaces that."""
    said = next(one for one in replica["status"]["conditions"] if one["type"] == "Authentication")
    return {"metadata": {"resourceVersion": replica["metadata"]["resourceVersion"]},
            "status": {"resources": resources, "nodeLabels": {"spillway.io/zone": "here"},
                       "nodeSelector": {}, "storageClasses": None, "ingressClasses": None,
                       "loadBalancerClasses": None,
                       "conditions": [said, {
                           "type": "Resources", "status": "Accepted", "reason": "Contract",
                           "lastTransitionTime": said["lastTransitionTime"]}]}}


# Liqo's chart lets its controller manager read no VkOptionsTemplate; ours does (agent-fabric-rights.yaml).
TEMPLATES = {"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "spillway-liqo-templates"},
     "rules": [{"apiGroups": ["offloading.liqo.io"], "resources": ["vkoptionstemplates"], "verbs": ["get", "list", "watch"]}]},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "spillway-liqo-templates"},
     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "spillway-liqo-templates"},
     "subjects": [{"kind": "ServiceAccount", "name": "liqo-controller-manager", "namespace": "liqo"}]}]}


def let_liqo_read_templates(kubeconfig):
    """What our chart does where it is installed."""
    call("kubectl", f"--kubeconfig={kubeconfig}", "apply", "-f", "-", stdin=json.dumps(TEMPLATES))
