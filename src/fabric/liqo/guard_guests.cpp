// What a buyer's units may write in its guest namespaces.
#include "fabric/liqo/guard_rules.h"

namespace spillway::fabric::liqo {
namespace {

constexpr GuardVariable k_notes{"notes", "namespaceObject.metadata.?annotations.orValue({})"};
// Rights in a guest namespace come by the group that is called as the buyer. Its control plane has
// none there, and would be taken for the buyer's if it had.
constexpr GuardVariable k_is_buyers{
    "isBuyers",
    "'liqo.io' in request.userInfo.groups ||"
    " namespaceObject.metadata.?labels[?'liqo.io/remote-cluster-id'].orValue('') in"
    " request.userInfo.groups"};
constexpr std::string_view k_others = "!variables.isBuyers";

constexpr GuardVariable k_pod{"pod", "object.spec.pod"};
constexpr GuardVariable k_containers{
    "containers", "variables.pod.containers + variables.pod.?initContainers.orValue([])"};
// Without asking: what Kubernetes gives every pod, and what the buyer's agent gives those that wait
// for us (fabric/death.h).
constexpr GuardVariable k_tolerable{
    "tolerable",
    "['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable',"
    " 'spillway.dev/provider-dead'] +"
    " variables.notes[?'spillway.dev/tolerable'].orValue('').split(',').filter(key, key != '')"};
// Of the unit that asks: a list of one list of pairs, or of none.
constexpr GuardVariable k_granted{
    "granted",
    "variables.notes[?'spillway.dev/node-selectors'].orValue('').split(';')"
    ".filter(unit, unit.startsWith(request.userInfo.username + ':'))"
    ".map(unit, unit.substring(size(request.userInfo.username) + 1).split(','))"};
constexpr GuardVariable k_pairs{"pairs",
                                "variables.granted.size() == 0 ? [] : variables.granted[0]"};
constexpr GuardVariable k_selector{"selector", "variables.pod.?nodeSelector.orValue({})"};

std::vector<GuardRule> pod_rules() {
  return {
      {"R5: guests start when their namespace has its limits",
       "namespaceObject.metadata.?labels[?'spillway.dev/guard'].orValue('') == '1'"},
      {"R5: every container asks for cpu and memory, with a limit on both",
       "variables.containers.all(one, ['cpu', 'memory'].all(what,"
       " one.?resources.?requests[?what].hasValue() && one.?resources.?limits[?what].hasValue() &&"
       " quantity(string(one.resources.requests[what])).isGreaterThan(quantity('0'))))"},
      // Of whatever it is: of a GPU that only has a limit Liqo counts none, and Kubernetes asks for
      // as many as the limit says. What is asked for and not in the unit's Quota, Liqo refuses.
      {"R5: a limit is what is asked for, since that alone is counted",
       "variables.containers.all(one, one.?resources.?limits.orValue({}).all(what,"
       " one.?resources.?requests[?what].hasValue() &&"
       " !quantity(string(one.resources.limits[what])).isGreaterThan("
       "quantity(string(one.resources.requests[what])))))"},
      {"R5: no sidecar containers, no requests of the pod itself",
       "variables.pod.?initContainers.orValue([]).all(one, !one.?restartPolicy.hasValue()) &&"
       " !variables.pod.?resources.hasValue() && !variables.pod.?overhead.hasValue()"},
      {"R6: no namespaces of the host",
       "!variables.pod.?hostNetwork.orValue(false) && !variables.pod.?hostPID.orValue(false) &&"
       " !variables.pod.?hostIPC.orValue(false)"},
      {"R6: no port of the host",
       "variables.containers.all(one, one.?ports.orValue([]).all(port,"
       " port.?hostPort.orValue(0) == 0))"},
      {"R6: probes and hooks ask nobody but the guest",
       "variables.containers.all(one, [one.?livenessProbe, one.?readinessProbe, one.?startupProbe,"
       " one.?lifecycle.?postStart, one.?lifecycle.?preStop].all(asked,"
       " asked.?httpGet.?host.orValue('') == '' && asked.?tcpSocket.?host.orValue('') == ''))"},
      {"R6: the provider decides where a guest runs, and by which scheduler",
       "variables.pod.?nodeName.orValue('') == '' &&"
       " variables.pod.?schedulerName.orValue('default-scheduler') == 'default-scheduler' &&"
       " !variables.pod.?affinity.?nodeAffinity.hasValue() &&"
       " !variables.pod.?affinity.?podAffinity.hasValue()"},
      {"R6: a guest keeps away from guests of its own namespace only",
       "variables.pod.?affinity.?podAntiAffinity"
       ".?requiredDuringSchedulingIgnoredDuringExecution.orValue([]).all(term,"
       " !term.?namespaces.hasValue() && !term.?namespaceSelector.hasValue()) &&"
       " variables.pod.?affinity.?podAntiAffinity"
       ".?preferredDuringSchedulingIgnoredDuringExecution.orValue([]).all(one,"
       " !one.podAffinityTerm.?namespaces.hasValue() &&"
       " !one.podAffinityTerm.?namespaceSelector.hasValue())"},
      {"R6: the node selector must be the one that was granted",
       "size(variables.selector) == size(variables.pairs) && variables.pairs.all(pair,"
       " pair.split('=')[0] in variables.selector &&"
       " variables.selector[pair.split('=')[0]] == pair.split('=')[1])"},
      {"R6: no tolerations but those that were granted",
       "variables.pod.?tolerations.orValue([]).all(one,"
       " one.?key.orValue('') in variables.tolerable)"},
      {"R6: no priority, no runtime class, no claims on devices",
       "variables.pod.?priorityClassName.orValue('') == '' &&"
       " variables.pod.?priority.orValue(0) == 0 &&"
       " variables.pod.?runtimeClassName.orValue('') == '' &&"
       " variables.pod.?resourceClaims.orValue([]).size() == 0"},
      {"R6: not privileged, no more privileges later, no bare /proc, nothing of Windows' host",
       "variables.containers.all(one, !one.?securityContext.?privileged.orValue(false) &&"
       " !one.?securityContext.?allowPrivilegeEscalation.orValue(false) &&"
       " one.?securityContext.?procMount.orValue('Default') == 'Default' &&"
       " !one.?securityContext.?windowsOptions.hasValue()) &&"
       " !variables.pod.?securityContext.?windowsOptions.hasValue()"},
      {"R6: no capability is added but NET_BIND_SERVICE",
       "variables.containers.all(one, one.?securityContext.?capabilities.?add.orValue([])"
       ".all(name, name == 'NET_BIND_SERVICE'))"},
      {"R6: no sysctls", "variables.pod.?securityContext.?sysctls.orValue([]).size() == 0"},
      {"R6: no ephemeral containers", "variables.pod.?ephemeralContainers.orValue([]).size() == 0"},
      {"R6: volumes are of config maps, secrets, the pod's own data, empty, or claims",
       "variables.pod.?volumes.orValue([]).all(one, one.?configMap.hasValue() ||"
       " one.?secret.hasValue() || one.?downwardAPI.hasValue() || one.?emptyDir.hasValue() ||"
       " one.?persistentVolumeClaim.hasValue() || (one.?projected.hasValue() &&"
       " one.projected.?sources.orValue([]).all(source, source.?configMap.hasValue() ||"
       " source.?secret.hasValue() || source.?downwardAPI.hasValue())))"},
      // By the older name, too: Kubernetes takes that where the other says nothing.
      {"R6: a guest is nobody to the provider's API server",
       "variables.pod.?serviceAccountName.orValue('') in ['', 'default'] &&"
       " variables.pod.?serviceAccount.orValue('') in ['', 'default'] &&"
       " variables.pod.?automountServiceAccountToken.orValue(true) == false"},
      {"R6: no networks but the pods' own",
       "object.metadata.?annotations.orValue({}).all(key,"
       " !key.startsWith('k8s.v1.cni.cncf.io/') && !key.startsWith('v1.multus-cni.io/'))"},
      {"R8: a guest ends within ten minutes when it is told to",
       "variables.pod.?terminationGracePeriodSeconds.orValue(30) <= 600"}};
}

// An UPDATE that leaves the spec alone is about labels and annotations: what runs stays as it was
// admitted.
GuardPolicy shadow_pods() {
  return {.name = "spillway-shadow-pods",
          .guarded = Guarded::everywhere,
          .kinds = {{"offloading.liqo.io", {"shadowpods"}}},
          .except =
              "request.operation == 'UPDATE' && object.spec == oldObject.spec &&"
              " object.metadata.?annotations.orValue({}) =="
              " oldObject.metadata.?annotations.orValue({})",
          .variables = {k_notes, k_pod, k_containers, k_tolerable, k_granted, k_pairs, k_selector},
          .rules = pod_rules()};
}

GuardPolicy services() {
  return {.name = "spillway-services",
          .guarded = Guarded::in_guest_spaces,
          .kinds = {{"", {"services"}}},
          .except = k_others,
          .variables = {k_notes, k_is_buyers},
          .rules = {{"R7: Services are of type ClusterIP, or have a load balancer's class that was"
                     " granted",
                     "object.spec.type == 'ClusterIP' || (object.spec.type == 'LoadBalancer' &&"
                     " object.spec.?loadBalancerClass.orValue('') != '' &&"
                     " object.spec.?loadBalancerClass.orValue('') in"
                     " variables.notes[?'spillway.dev/load-balancer-classes'].orValue('')"
                     ".split(','))"},
                    {"R7: no addresses of one's own choice",
                     "object.spec.?externalIPs.orValue([]).size() == 0 &&"
                     " object.spec.?externalName.orValue('') == '' &&"
                     " object.spec.?loadBalancerIP.orValue('') == ''"}}};
}

GuardPolicy ingresses() {
  return {.name = "spillway-ingresses",
          .guarded = Guarded::in_guest_spaces,
          .kinds = {{"networking.k8s.io", {"ingresses"}}},
          .except = k_others,
          .variables = {k_notes, k_is_buyers},
          .rules = {{"R7: an Ingress has a class that was granted",
                     "object.spec.?ingressClassName.orValue('') != '' &&"
                     " object.spec.?ingressClassName.orValue('') in"
                     " variables.notes[?'spillway.dev/ingress-classes'].orValue('').split(',')"},
                    {"R7: an Ingress neither names its class twice nor brings configuration",
                     "object.metadata.?annotations.orValue({}).all(key,"
                     " key != 'kubernetes.io/ingress.class' && !key.contains('snippet'))"}}};
}

GuardPolicy claims() {
  return {.name = "spillway-claims",
          .guarded = Guarded::in_guest_spaces,
          .kinds = {{"", {"persistentvolumeclaims"}}},
          .except = k_others,
          .variables = {k_notes, k_is_buyers},
          .rules = {{"R7: storage is of a class that was granted",
                     "object.spec.?storageClassName.orValue('') != '' &&"
                     " object.spec.?storageClassName.orValue('') in"
                     " variables.notes[?'spillway.dev/storage-classes'].orValue('').split(',')"},
                    {"R7: storage is new and empty: no volume, selector or source is named",
                     "request.operation == 'UPDATE' ||"
                     " (object.spec.?volumeName.orValue('') == '' &&"
                     " !object.spec.?selector.hasValue() &&"
                     " !object.spec.?dataSource.hasValue() &&"
                     " !object.spec.?dataSourceRef.hasValue())"}}};
}

GuardPolicy secrets() {
  return {.name = "spillway-secrets",
          .guarded = Guarded::in_guest_spaces,
          .kinds = {{"", {"secrets"}}},
          .except = k_others,
          .variables = {k_is_buyers},
          .rules = {{"R6: no Secret that Kubernetes would fill with a token",
                     "object.?type.orValue('Opaque') != 'kubernetes.io/service-account-token'"}}};
}

GuardPolicy endpoints() {
  return {.name = "spillway-endpoints",
          .guarded = Guarded::in_guest_spaces,
          .kinds = {{"offloading.liqo.io", {"shadowendpointslices"}}},
          .except = k_others,
          .variables = {k_notes,
                        k_is_buyers,
                        {"ranges",
                         "variables.notes[?'spillway.dev/endpoint-ranges'].orValue('').split(',')"
                         ".filter(range, isCIDR(range))"}},
          .rules = {{"R7: endpoints lie in the ranges that were granted",
                     "object.spec.?template.?endpoints.orValue([]).all(one,"
                     " one.?addresses.orValue([]).all(address, isIP(address) &&"
                     " variables.ranges.exists(range, cidr(range).containsIP(address))))"}}};
}

// A finalizer would keep what it is on, and its namespace, for as long as its owner likes.
GuardPolicy held() {
  return {.name = "spillway-held",
          .guarded = Guarded::in_guest_spaces,
          .kinds = {{"", {"configmaps", "persistentvolumeclaims", "secrets", "services"}},
                    {"networking.k8s.io", {"ingresses"}},
                    {"offloading.liqo.io", {"shadowendpointslices", "shadowpods"}}},
          .except = k_others,
          .variables = {k_is_buyers,
                        {"before",
                         "request.operation == 'UPDATE' ?"
                         " oldObject.metadata.?finalizers.orValue([]) : []"}},
          .rules = {{"R8: a buyer adds no finalizers",
                     "object.metadata.?finalizers.orValue([]).all(one,"
                     " one == 'kubernetes.io/pvc-protection' || one in variables.before)"},
                    {"R8: a buyer adds no owners",
                     "object.metadata.?ownerReferences.orValue([]).size() == 0 ||"
                     " (request.operation == 'UPDATE' && object.metadata.?ownerReferences =="
                     " oldObject.metadata.?ownerReferences)"}}};
}

}  // namespace

std::vector<GuardPolicy> guest_policies() {
  return {shadow_pods(), services(), ingresses(), claims(), secrets(), endpoints(), held()};
}

}  // namespace spillway::fabric::liqo
