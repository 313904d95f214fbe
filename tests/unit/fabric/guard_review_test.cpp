#include "fabric/liqo/guard_review.h"

#include <gtest/gtest.h>

#include "fabric/cel/expression.h"
#include "fabric/liqo/guard.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

using model::Node;

Node document(std::string_view text) {
  auto read = model::parse_json(text, "test", model::k_max_document_bytes, 128);
  EXPECT_TRUE(read) << read.error().message() << text;
  return read ? std::move(*read) : Node{};
}

// Of rome, which buys here. As tests/e2e/test_guard.py sends them.
constexpr std::string_view k_slice = R"({
  "metadata": {"name": "unit-1", "namespace": "liqo-tenant-rome", "labels": {
    "liqo.io/replicated": "true", "liqo.io/replication": "false", "liqo.io/originID": "rome",
    "liqo.io/remote-cluster-id": "rome", "liqo.io/remoteID": "milan"}},
  "spec": {"class": "spillway", "consumerClusterID": "rome", "csr": "cmVxdWVzdA==",
           "resources": {"cpu": "1"}}})";
constexpr std::string_view k_map = R"({
  "metadata": {"name": "milan", "labels": {
    "liqo.io/replicated": "true", "liqo.io/replication": "false", "liqo.io/originID": "rome",
    "liqo.io/remote-cluster-id": "rome"}},
  "spec": {"desiredMapping": {"shop": "sw4-rome-shop"}}})";
constexpr std::string_view k_pod = R"({
  "metadata": {"name": "guest"},
  "spec": {"pod": {"automountServiceAccountToken": false, "containers": [{"name": "main",
    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"},
                  "limits": {"cpu": "0.1", "memory": "64Mi"}}}]}}})";
constexpr std::string_view k_service = R"({
  "metadata": {"name": "web"}, "spec": {"type": "ClusterIP", "ports": [{"port": 80}]}})";
constexpr std::string_view k_ingress = R"({
  "metadata": {"name": "web"}, "spec": {"ingressClassName": "public"}})";
constexpr std::string_view k_claim = R"({
  "metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}})";
constexpr std::string_view k_plain = R"({"metadata": {"name": "any"}})";
constexpr std::string_view k_endpoints = R"({
  "metadata": {"name": "web"},
  "spec": {"template": {"endpoints": [{"addresses": ["192.0.2.1"]}]}}})";
constexpr std::string_view k_buyer_lease = R"({
  "metadata": {"name": "spillway-buyer"}, "spec": {"holderIdentity": "rome"}})";

struct Thing {
  std::string_view group;
  std::string_view resource;
  std::string_view honest;
  bool by_unit = true;  // else by the buyer's control plane
};
const std::map<std::string_view, Thing> k_things{
    {"slice", {"authentication.liqo.io", "resourceslices", k_slice, false}},
    {"slice/status", {"authentication.liqo.io", "resourceslices/status", k_slice, false}},
    {"renew", {"authentication.liqo.io", "renews", k_slice, false}},
    {"tenant", {"authentication.liqo.io", "tenants", k_slice, false}},
    {"map", {"offloading.liqo.io", "namespacemaps", k_map, false}},
    {"map/status", {"offloading.liqo.io", "namespacemaps/status", k_map, false}},
    {"lease", {"coordination.k8s.io", "leases", k_buyer_lease, false}},
    {"pod", {"offloading.liqo.io", "shadowpods", k_pod}},
    {"service", {"", "services", k_service}},
    {"ingress", {"networking.k8s.io", "ingresses", k_ingress}},
    {"claim", {"", "persistentvolumeclaims", k_claim}},
    {"secret", {"", "secrets", k_plain}},
    {"config map", {"", "configmaps", k_plain}},
    {"endpoints", {"offloading.liqo.io", "shadowendpointslices", k_endpoints}},
};

// Of an honest guest, with something else or more.
std::string with_container(std::string_view part) {
  const bool has_resources = part.starts_with(R"("resources")");
  return fmt::format(R"({{"spec": {{"pod": {{"containers": [{{"name": "main", {}{}}}]}}}}}})", part,
                     has_resources ? "" : R"(, "resources": {
                       "requests": {"cpu": "100m", "memory": "64Mi"},
                       "limits": {"cpu": "100m", "memory": "64Mi"}})");
}

class GuardReview : public ::testing::Test {
 protected:
  // A CREATE; with `old` an UPDATE of what was honest.
  Review review(std::string_view what, std::string_view patch = "{}", bool is_update = false) {
    const Thing& thing = k_things.at(what);
    Node object = document(thing.honest);
    const Node before = object;
    model::merge(object, document(patch));
    Node request = document(
        R"({"uid": "u", "operation": "CREATE", "namespace": "sw4-rome-shop", "userInfo": {}})");
    model::put(request, "operation", model::text_node(is_update ? "UPDATE" : "CREATE"));
    const size_t slash = thing.resource.find('/');
    model::put(request, "resource",
               document(fmt::format(R"({{"group": "{}", "version": "v1", "resource": "{}"}})",
                                    thing.group, thing.resource.substr(0, slash))));
    if (slash != std::string_view::npos) {
      model::put(request, "subResource", model::text_node(thing.resource.substr(slash + 1)));
    }
    model::put(request, "userInfo",
               document(thing.by_unit ? R"({"username": "unit-1-0123", "groups": ["rome"]})"
                                      : R"({"username": "rome", "groups": ["liqo.io"]})"));
    if (!user.empty()) model::put(request, "userInfo", document(user));
    model::put(request, "object", std::move(object));
    if (is_update) model::put(request, "oldObject", before);
    return {std::move(request)};
  }

  std::string said(const Review& one) {
    const ReviewNeeds needs = guard.needs(one);
    const ReviewFacts facts{needs.space ? &space : nullptr,
                            needs.record && has_record ? &record : nullptr};
    const auto refusal = guard.judge(one, facts);
    return refusal ? refusal->message : "passes";
  }
  std::string create(std::string_view what, std::string_view patch = "{}") {
    return said(review(what, patch));
  }
  std::string update(std::string_view what, std::string_view patch = "{}") {
    return said(review(what, patch, true));
  }

  Guard guard;
  std::string user;
  bool has_record = true;
  Node record = document(R"({"data": {"unit-1": "cmVxdWVzdA=="}})");
  Node space = document(R"({"metadata": {"name": "sw4-rome-shop",
    "labels": {"liqo.io/remote-cluster-id": "rome", "spillway.dev/guard": "1"},
    "annotations": {"spillway.dev/provider": "milan", "spillway.dev/ingress-classes": "public", "spillway.dev/tolerable": "bought",
      "spillway.dev/storage-classes": "slow,fast", "spillway.dev/endpoint-ranges": "192.0.2.0/25"}}})");
};

TEST_F(GuardReview, WhatIsHonestPasses) {
  for (const std::string_view what : {"slice", "map", "pod", "service", "ingress", "claim",
                                      "secret", "config map", "endpoints"}) {
    EXPECT_EQ(create(what), "passes") << what;
  }
  for (const std::string_view what : {"map", "lease", "pod", "service", "claim", "secret"}) {
    EXPECT_EQ(update(what), "passes") << what;
  }
  EXPECT_EQ(create("pod", R"({"spec": {"pod": {"tolerations": [{"key": "bought"},
      {"key": "node.kubernetes.io/not-ready"}], "terminationGracePeriodSeconds": 600,
      "volumes": [{"emptyDir": {}}, {"projected": {"sources": [{"secret": {}}]}}]}}})"),
            "passes");
  EXPECT_EQ(update("lease", R"({"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}})"), "passes");
}

struct Refused {
  std::string_view what;
  std::string patch;
  std::string_view rule;
};

TEST_F(GuardReview, AGuestMayBeAskedByItsOwnName) {
  EXPECT_EQ(create("pod", with_container(R"("livenessProbe": {"httpGet": {"port": 80}},
      "readinessProbe": {"tcpSocket": {"port": 80}}, "startupProbe": {"exec": {"command": ["a"]}},
      "lifecycle": {"preStop": {"exec": {"command": ["a"]}}})")),
            "passes");
}

// As an API server has filled it in.
TEST_F(GuardReview, AGuestMaySayThatItsAccountIsNone) {
  EXPECT_EQ(create("pod", R"({"spec": {"pod": {"serviceAccount": "default",
                "serviceAccountName": "default"}}})"),
            "passes");
}

// How much of it there is to be had, Liqo counts.
TEST_F(GuardReview, AGuestMayAskForMoreThanCpuAndMemory) {
  EXPECT_EQ(create("pod", with_container(R"("resources": {
      "requests": {"cpu": "1", "memory": "1", "nvidia.com/gpu": 1, "ephemeral-storage": "1Gi"},
      "limits": {"cpu": "1", "memory": "1", "nvidia.com/gpu": "1", "ephemeral-storage": "1Gi"}})")),
            "passes");
}

TEST_F(GuardReview, WhatNoContractSaysIsRefusedByRule) {
  for (const Refused& one : std::vector<Refused>{
           {"slice", R"({"spec": {"csr": "YW5vdGhlcg=="}})", "R1: no contract has recorded"},
           {"slice", R"({"spec": {"csr": null}})", "R1: no contract has recorded"},
           {"slice", R"({"metadata": {"name": "unit-2"}})", "R1: no contract has recorded"},
           {"renew", "{}", "R1, R2: buyers write neither"},
           {"tenant", "{}", "R1, R2: buyers write neither"},
           {"slice/status", "{}", "R1, R2: buyers write neither"},
           {"map/status", "{}", "R1, R2: buyers write neither"},
           {"slice", R"({"metadata": {"labels": {"liqo.io/replicated": null}}})",
            "R2: a buyer's object"},
           {"slice", R"({"metadata": {"labels": {"liqo.io/tenant-namespace": "true"}}})",
            "R2: a buyer's object"},
           {"map", R"({"metadata": {"labels": {"liqo.io/replication": "true"}}})",
            "R2: a buyer's object"},
           {"lease", "{}", "R2: a buyer writes no Lease"},
           {"slice", R"({"spec": {"class": "default"}})", "R3: spec.class must be"},
           {"slice", R"({"spec": {"consumerClusterID": "other"}})", "R3: spec.consumerClusterID"},
           {"slice", R"({"metadata": {"finalizers": ["a/b"]}})", "R3: a buyer's slice has neither"},
           {"map", R"({"spec": {"desiredMapping": {"a": "kube-system"}}})",
            "R4: a guest namespace"},
           {"map", R"({"spec": {"desiredMapping": {"a": "sw4-rome-"}}})", "R4: a guest namespace"},
           {"map", R"({"metadata": {"name": "more"}})", "R4: a buyer has one map"},
           {"pod", R"({"spec": {"pod": {"containers": [{"name": "main"}]}}})",
            "R5: every container asks"},
           {"pod", R"({"spec": {"pod": {"containers": [{"resources": {
              "requests": {"cpu": 0, "memory": "1"}, "limits": {"cpu": "1", "memory": "1"}}}]}}})",
            "R5: every container asks"},
           {"pod",
            R"({"spec": {"pod": {"initContainers": [{"restartPolicy": "Always", "resources": {
              "requests": {"cpu": "1", "memory": "1"}, "limits": {"cpu": "1", "memory": "1"}}}]}}})",
            "R5: no sidecar"},
           {"pod", with_container(R"("resources": {"requests": {"cpu": "1m", "memory": "64Mi"},
              "limits": {"cpu": "100m", "memory": "64Mi"}})"),
            "R5: a limit is what is asked for"},
           {"pod", with_container(R"("resources": {"requests": {"cpu": "1", "memory": "1"},
              "limits": {"cpu": "1", "memory": "1", "nvidia.com/gpu": 8}})"),
            "R5: a limit is what is asked for"},
           {"pod", with_container(R"("resources": {
              "requests": {"cpu": "1", "memory": "1", "hugepages-2Mi": "2Mi"},
              "limits": {"cpu": "1", "memory": "1", "hugepages-2Mi": "1Gi"}})"),
            "R5: a limit is what is asked for"},
           {"pod", R"({"spec": {"pod": {"initContainers": [{"resources": {
              "requests": {"cpu": "1", "memory": "1"},
              "limits": {"cpu": "1", "memory": "1", "ephemeral-storage": "1Ti"}}}]}}})",
            "R5: a limit is what is asked for"},
           {"pod", with_container(R"("livenessProbe": {"httpGet": {"host": "192.0.2.1"}})"),
            "R6: probes and hooks"},
           {"pod", with_container(R"("startupProbe": {"tcpSocket": {"host": "192.0.2.1"}})"),
            "R6: probes and hooks"},
           {"pod", with_container(R"("lifecycle": {"preStop": {"httpGet": {"host": "a"}}})"),
            "R6: probes and hooks"},
           {"pod", R"({"spec": {"pod": {"hostNetwork": true}}})", "R6: no namespaces of the host"},
           {"pod", R"({"spec": {"pod": {"nodeName": "n1"}}})", "R6: the provider decides where"},
           {"pod", R"({"spec": {"pod": {"nodeSelector": {"a": "b"}}}})", "R6: the node selector"},
           {"pod", R"({"spec": {"pod": {"tolerations": [{"operator": "Exists"}]}}})",
            "R6: no tolerations but"},
           {"pod", R"({"spec": {"pod": {"volumes": [{"hostPath": {"path": "/"}}]}}})",
            "R6: volumes are of"},
           {"pod", R"({"spec": {"pod": {"automountServiceAccountToken": true}}})",
            "R6: a guest is nobody"},
           {"pod", R"({"spec": {"pod": {"serviceAccountName": "builder"}}})",
            "R6: a guest is nobody"},
           {"pod", R"({"spec": {"pod": {"serviceAccount": "builder"}}})", "R6: a guest is nobody"},
           {"pod", R"({"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "a"}}})",
            "R6: no networks but"},
           {"secret", R"({"type": "kubernetes.io/service-account-token"})", "R6: no Secret that"},
           {"service", R"({"spec": {"type": "NodePort"}})", "R7: Services are of type ClusterIP"},
           {"service", R"({"spec": {"externalIPs": ["192.0.2.1"]}})", "R7: no addresses"},
           {"ingress", R"({"spec": {"ingressClassName": "other"}})", "R7: an Ingress has a class"},
           {"claim", R"({"spec": {"storageClassName": ""}})", "R7: storage is of a class"},
           {"claim", R"({"spec": {"volumeName": "v"}})", "R7: storage is new"},
           {"endpoints",
            R"({"spec": {"template": {"endpoints": [{"addresses": ["192.0.2.129"]}]}}})",
            "R7: endpoints lie"},
           {"endpoints", R"({"spec": {"template": {"endpoints": [{"addresses": ["::1"]}]}}})",
            "R7: endpoints lie"},
           {"pod", R"({"spec": {"pod": {"terminationGracePeriodSeconds": 601}}})",
            "R8: a guest ends within"},
           {"pod", R"({"metadata": {"finalizers": ["a/b"]}})", "R8: a buyer adds no finalizers"},
           {"config map", R"({"metadata": {"finalizers": ["a/b"]}})",
            "R8: a buyer adds no finalizers"},
           {"service", R"({"metadata": {"ownerReferences": [{"name": "a"}]}})",
            "R8: a buyer adds no owners"}}) {
    EXPECT_EQ(create(one.what, one.patch).substr(0, one.rule.size()), one.rule)
        << one.what << one.patch;
  }
}

// Who sells there is not written down yet: no map is called as nobody.
TEST_F(GuardReview, NoMapIsLetInBeforeItIsKnownHowItIsCalled) {
  model::erase(model::ensure(space, {"metadata", "annotations"}), "spillway.dev/provider");
  EXPECT_TRUE(create("map").starts_with("R4: a buyer has one map"));
  EXPECT_TRUE(update("map").starts_with("R4: a buyer has one map"));
  model::erase(model::ensure(space, {"metadata"}), "annotations");
  EXPECT_TRUE(create("map").starts_with("R4: a buyer has one map"));
}

TEST_F(GuardReview, WhatWasAdmittedStays) {
  EXPECT_TRUE(update("slice").starts_with("R3: a buyer's slice does not change"));
  EXPECT_EQ(update("pod", R"({"metadata": {"labels": {"a": "b"}}})"), "passes");
  EXPECT_TRUE(
      update("pod", R"({"spec": {"pod": {"hostPID": true}}})").starts_with("R6: no namesp"));
  EXPECT_TRUE(
      update("map", R"({"metadata": {"finalizers": ["a/b"]}})").starts_with("R3: a buyer ch"));
  EXPECT_TRUE(
      update("lease", R"({"metadata": {"labels": {"a": "b"}}})").starts_with("R3: of its Le"));
}

TEST_F(GuardReview, ASliceNeedsTheRecordAndACopyAlone) {
  has_record = false;
  EXPECT_EQ(create("slice"),
            "R1: no contract has recorded a unit of this name with this certificate request (there "
            "is no record spillway-units in the namespace)");
  // What this cluster buys itself is an original, made in the same namespaces.
  user = R"({"username": "agent", "groups": ["system:serviceaccounts"]})";
  EXPECT_EQ(create("slice", R"({"metadata": {"labels": {"liqo.io/replication": "true"}}})"),
            "passes");
  EXPECT_FALSE(guard.needs(review("pod")).record);
  EXPECT_TRUE(guard.needs(review("pod")).space);
}

TEST_F(GuardReview, OthersAreNotAskedAboutWhatIsTheirs) {
  user = R"({"username": "admin", "groups": ["system:masters"]})";
  for (const std::string_view what : {"slice/status", "renew", "tenant", "lease", "map/status"}) {
    EXPECT_EQ(create(what), "passes") << what;
  }
  EXPECT_EQ(create("service", R"({"spec": {"type": "NodePort"}})"), "passes");
  // Nobody but buyers has a reason to make these.
  EXPECT_NE(create("pod", R"({"spec": {"pod": {"hostNetwork": true}}})"), "passes");
}

TEST_F(GuardReview, OnlyGuestNamespacesAreGuardedAsSuch) {
  space = document(R"({"metadata": {"name": "shop", "labels": {}}})");
  user = R"({"username": "x", "groups": ["liqo.io"]})";
  EXPECT_EQ(create("service", R"({"spec": {"type": "NodePort"}})"), "passes");
  EXPECT_TRUE(create("pod").starts_with("R5: guests start when"));
}

TEST_F(GuardReview, WhatIsNoWriteOrOfNoGuardedKindNeedsNothing) {
  Review other = review("service");
  model::put(other.request, "operation", model::text_node("DELETE"));
  EXPECT_FALSE(guard.needs(other).space);
  EXPECT_EQ(said(other), "passes");
  other = review("slice");
  model::put(other.request, "resource",
             document(R"({"group": "resource.k8s.io", "resource": "resourceslices"})"));
  EXPECT_FALSE(guard.needs(other).space);
}

TEST_F(GuardReview, WhatCannotBeToldIsRefused) {
  EXPECT_EQ(create("pod", R"({"spec": {"pod": {"hostNetwork": "yes"}}})"),
            "R6: no namespaces of the host (it cannot be told: ! is not for string)");
  EXPECT_NE(create("pod", R"({"spec": null})"), "passes");
  EXPECT_NE(create("service", R"({"spec": {"type": null}})"), "passes");
  user = R"({"username": "rome"})";
  EXPECT_TRUE(create("slice").starts_with("who asks (it cannot be told: there is no \"groups\""));
  // A namespace that nobody has looked up.
  user.clear();
  EXPECT_TRUE(guard.judge(review("pod"), {}).has_value());
  EXPECT_TRUE(guard.judge(review("service", R"({"spec": {"type": "NodePort"}})"), {}).has_value());
}

TEST_F(GuardReview, AnObjectThatIsMadeToTakeLongIsRefused) {
  Review huge = review("pod");
  Node& tolerations = model::put(model::ensure(huge.request, {"object", "spec", "pod"}),
                                 "tolerations", model::array_node());
  for (int i = 0; i < 100'000; ++i) tolerations.items.push_back(document(R"({"key": "bought"})"));
  EXPECT_TRUE(said(huge).ends_with("(it cannot be told: there is too much in it to be judged)"));
  Review pod = review("pod");
  Node& spec = model::ensure(pod.request, {"object", "spec", "pod"});
  Node containers = *spec.find("containers");
  const Node container = containers.items.front();
  for (int i = 0; i < 100; ++i) containers.items.push_back(container);
  model::put(spec, "containers", std::move(containers));
  EXPECT_EQ(said(pod), "passes");  // far more than anybody has
}

TEST(GuardReviews, EveryExpressionOfEveryPolicyIsRead) {
  size_t count = 0;
  const auto read = [&count](const GuardPolicy& policy, std::string_view text) {
    const auto whole = cel::parse(text);
    EXPECT_TRUE(whole) << policy.name << ": " << whole.error().message() << "\n" << text;
    ++count;
    for (size_t cut = 0; cut < text.size(); ++cut) {
      const auto part = cel::parse(text.substr(0, cut));  // half of one is read or refused
      EXPECT_TRUE(part || !part.error().reason.empty());
    }
  };
  for (const GuardPolicy& policy : guard_policies()) {
    for (const GuardCondition& one : conditions_of(policy)) read(policy, one.holds);
    for (const GuardVariable& one : policy.variables) read(policy, one.expression);
    for (const GuardRule& one : policy.rules) read(policy, guarded_rule(policy, one));
  }
  EXPECT_GT(count, 60U);
}

TEST(GuardReviews, AnswersAreWhatAnApiServerReads) {
  EXPECT_EQ(model::to_json(review_answer("u-1", std::nullopt)),
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",)"
            R"("response":{"allowed":true,"uid":"u-1"}})");
  const Node refused = review_answer("u-1", Refusal{"spillway-copies", "R3: no"});
  EXPECT_EQ(model::text_at(refused, {"response", "status", "message"}), "spillway-copies: R3: no");
  // Liqo's replicator gives up for good on 403.
  EXPECT_EQ(model::integer_at(refused, {"response", "status", "code"}), 422);
  EXPECT_EQ(model::text_at(refused, {"response", "status", "reason"}), "Invalid");
  const Node later = review_failure("u-1");
  EXPECT_FALSE(model::boolean_at(later, {"response", "allowed"}, true));
  EXPECT_EQ(model::integer_at(later, {"response", "status", "code"}), 503);
}

TEST(GuardReviews, WhatIsNoReviewIsRefused) {
  for (const std::string_view bad :
       {"{}", "[]", R"({"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview"})",
        R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"})",
        R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {}})"}) {
    EXPECT_FALSE(read_review(document(bad))) << bad;
  }
  EXPECT_TRUE(read_review(document(R"({"apiVersion": "admission.k8s.io/v1",
      "kind": "AdmissionReview", "request": {"uid": "u"}})")));
}

}  // namespace
}  // namespace spillway::fabric::liqo
