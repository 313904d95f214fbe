#include "fabric/leaves.h"

#include <gtest/gtest.h>

#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

model::Node json(const std::string& text) { return model::parse_json(text, "test").value(); }

// Liqo 1.2.0's own, as its chart writes it.
model::Node liqos_own() {
  return json(R"({"apiVersion":"offloading.liqo.io/v1beta1","kind":"VkOptionsTemplate",
    "metadata":{"name":"virtual-kubelet-default","namespace":"liqo","uid":"u","resourceVersion":"3",
      "labels":{"app.kubernetes.io/managed-by":"Helm"}},
    "spec":{"replicas":1,"createNode":true,"disableNetworkCheck":false,
      "containerImage":"virtual-kubelet:v1.2.0","metricsEnabled":false,"resources":{"limits":{}},
      "annotationsNotReflected":["cloud.google.com/neg"],
      "reflectorsConfig":{"pod":{"workers":10},"secret":{"workers":3,"type":"DenyList"},
        "configmap":{"workers":3,"type":"DenyList"},"service":{"workers":3,"type":"DenyList"},
        "ingress":{"workers":3,"type":"DenyList"},"event":{"workers":3,"type":"DenyList"}},
      "extraArgs":["--enable-apiserver-support=true","--disable-ip-reflection=true"]}})");
}

TEST(VkOptions, OursCarriesOnWhatLiqosOwnSaysAndLetsNothingLeaveUnlisted) {
  const model::Node made =
      liqo::options_template(liqos_own(), "liqo-tenant-milan", liqo::Leaving::listed);
  EXPECT_EQ(model::to_json(*model::look(made, {"metadata"})),
            R"({"name":"spillway-listed","namespace":"liqo-tenant-milan"})");
  EXPECT_EQ(model::text_at(made, {"spec", "containerImage"}), "virtual-kubelet:v1.2.0");
  EXPECT_EQ(model::integer_at(made, {"spec", "reflectorsConfig", "secret", "workers"}), 3);
  EXPECT_EQ(model::integer_at(made, {"spec", "reflectorsConfig", "pod", "workers"}), 10);
  EXPECT_EQ(model::text_at(made, {"spec", "reflectorsConfig", "event", "type"}), "DenyList");
  EXPECT_EQ(model::to_json(*model::look(made, {"spec", "extraArgs"})),
            R"(["--disable-ip-reflection=true","--enable-apiserver-support=false"])");
  using By = liqo::Reflection::By;
  EXPECT_EQ(
      liqo::reflection_of_template(made),
      (liqo::Reflection{By::allow_list, By::allow_list, By::allow_list, By::allow_list, false}));
  EXPECT_EQ(liqo::reflection_of_template(liqos_own()), liqo::Reflection{});
  EXPECT_EQ(liqo::reflection_of_template(liqo::options_template(made, "x", liqo::Leaving::all)),
            liqo::Reflection{});
}

TEST(VkOptions, OneThatIsOtherwiseIsMadeRightByOnePatchWhateverItHas) {
  model::Node odd = liqos_own();
  model::put(model::ensure(odd, {"spec"}), "labels", model::Node{});
  const model::Node wanted = liqo::options_template(odd, "x", liqo::Leaving::listed);
  for (model::Node seen : {odd, liqos_own(), json(R"({"spec":7})"), json("{}")}) {
    model::merge(seen, liqo::options_patch(seen, wanted));
    EXPECT_EQ(model::to_json(liqo::options_patch(seen, wanted)), "{}");
  }
}

TEST(VkOptions, WhatRunsIsToldByItsArguments) {
  EXPECT_FALSE(liqo::reflection_of_node(json(R"({"spec":{"clusterID":"milan"}})")));
  const auto told = liqo::reflection_of_node(json(R"({"spec":{"template":{"spec":{"template":{
    "spec":{"containers":[{"args":["--secret-reflection-type=AllowList",
      "--configmap-reflection-type=DenyList","--enable-apiserver-support=false"]}]}}}}}})"));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->secrets, liqo::Reflection::By::allow_list);
  EXPECT_EQ(told->config_maps, liqo::Reflection::By::deny_list);
  EXPECT_FALSE(told->tokens);
}

model::Node named(const std::string& name, const std::string& annotations = "{}",
                  const std::string& more = "") {
  return json(R"({"metadata":{"name":")" + name + R"(","annotations":)" + annotations + "}" + more +
              "}");
}

const char* const k_allowed = R"({"liqo.io/allow-reflection":"true"})";
const char* const k_skipped = R"({"liqo.io/skip-reflection":"true"})";

SpaceContents shop() {
  SpaceContents contents;
  contents.space = "shop";
  contents.secrets = {
      named("plain"), named("listed", k_allowed), named("hidden", k_skipped),
      named("not-listed", R"({"liqo.io/allow-reflection":"False"})"),
      named("account", k_allowed, R"(,"type":"kubernetes.io/service-account-token")")};
  contents.config_maps = {named("kube-root-ca.crt"), named("plain")};
  contents.services = {named("web"), named("open", k_allowed)};
  contents.endpoint_slices = {
      json(R"({"metadata":{"name":"web-1","labels":{"kubernetes.io/service-name":"web"}}})"),
      json(R"({"metadata":{"name":"open-1","labels":{"kubernetes.io/service-name":"open"}}})"),
      json(R"({"metadata":{"name":"open-2","labels":{"kubernetes.io/service-name":"open"},
               "annotations":{"liqo.io/skip-reflection":"true"}}})")};
  contents.ingresses = {named("front")};
  contents.pods = {
      json(R"({"metadata":{"name":"there"},"spec":{"nodeName":"sw-1","volumes":[{"projected":
               {"sources":[{"serviceAccountToken":{"path":"token"}}]}}]}})"),
      json(R"({"metadata":{"name":"here"},"spec":{"nodeName":"n1"}})"),
      json(R"({"metadata":{"name":"waits"},"spec":{"tolerations":[{"operator":"Exists"}]}})"),
      json(R"({"metadata":{"name":"stuck"},"spec":{}})")};
  return contents;
}

// "Kind/name" of what leaves, with its name there where that is another.
std::vector<std::string> leaving(const std::vector<LeavesRow>& rows) {
  std::vector<std::string> all;
  for (const LeavesRow& row : rows) {
    EXPECT_EQ(row.leaves, !row.there.empty());
    EXPECT_FALSE(row.why.empty());
    if (row.leaves) {
      all.push_back(row.kind + "/" + row.name + (row.there == row.name ? "" : "=" + row.there));
    }
  }
  return all;
}

using Lines = std::vector<std::string>;

TEST(Leaves, ByTheListOnlyWhatSaysSo) {
  using By = liqo::Reflection::By;
  const Destination to{"rome",
                       "milan",
                       {By::allow_list, By::allow_list, By::allow_list, By::allow_list, false},
                       {"sw-1"}};
  const auto rows = what_leaves(shop(), to);
  EXPECT_EQ(leaving(rows),
            (Lines{"Secret/listed", "ConfigMap/kube-root-ca.crt=kube-root-ca.crt.rome",
                   "Service/open", "EndpointSlice/open-1", "Pod/there", "Pod/waits"}));
  EXPECT_EQ(rows.size(), 18U) << "what stays is told, too";
}

TEST(Leaves, WhoeverIsTrustedGetsAllThatDoesNotRefuse) {
  const Destination to{"alexandria", "milan", {}, {"sw-1"}};
  EXPECT_EQ(leaving(what_leaves(shop(), to)),
            (Lines{"Secret/account", "Secret/listed", "Secret/not-listed", "Secret/plain",
                   "ConfigMap/kube-root-ca.crt=kube-root-ca.crt.alexa", "ConfigMap/plain",
                   "Token/there=there-token", "Service/open", "Service/web", "EndpointSlice/open-1",
                   "EndpointSlice/web-1", "Ingress/front", "Pod/there", "Pod/waits"}));
}

TEST(Leaves, TheApiServersOwnServiceStays) {
  SpaceContents contents;
  contents.space = "default";
  contents.services = {named("kubernetes")};
  contents.endpoint_slices = {named("kubernetes")};
  EXPECT_TRUE(leaving(what_leaves(contents, {"rome", "milan", {}, {}})).empty());
}

}  // namespace
}  // namespace spillway::fabric
