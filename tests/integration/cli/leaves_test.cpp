// spillway leaves against an embedded cluster with Liqo: what it tells, and what it refuses to.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "fabric/liqo/namespaces.h"
#include "fabric/liqo/virtual_node.h"
#include "fabric/liqo/vk_options.h"
#include "integration/cli/program.h"
#include "live/live_cluster.h"
#include "services/fabric/resource.h"
#include "support/comes_true.h"

namespace spillway::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace liqo = fabric::liqo;

embedded::ClusterOptions with_liqo() {
  embedded::ClusterOptions options;
  options.name = "rome";
  options.liqo = embedded::LiqoOptions{};
  return options;
}

class LeavesVerb : public testing::Test {
 protected:
  explicit LeavesVerb(const embedded::ClusterOptions& options = with_liqo()) : home_(options) {
    EXPECT_TRUE(pki::write_private(folder_ / "kubeconfig", home_.kubeconfig()));
  }

  void create(const liqo::Kind& kind, const model::Node& object) {
    const auto made = home_.thread().ask<Result<kube::Object>>(
        [&](auto then) { home_.api().create(agent::resource_of(kind), object, then); });
    EXPECT_TRUE(made) << made.error().message();
  }
  void create(const liqo::Kind& kind, const std::string& json) {
    create(kind, model::parse_json(json, "object").value());
  }
  void add_space(const std::string& name) {
    create(liqo::k_namespaces, fmt::format(R"({{"apiVersion":"v1","kind":"Namespace",
      "metadata":{{"name":"{}"}}}})",
                                           name));
  }
  void add_secret(const std::string& name, const std::string& annotations) {
    create(liqo::k_secrets, fmt::format(R"({{"apiVersion":"v1","kind":"Secret",
      "metadata":{{"name":"{}","namespace":"shop","annotations":{}}}}})",
                                        name, annotations));
  }
  // A unit of milan's, as the agent makes them, without anybody at the other end.
  void add_unit(liqo::Leaving leaving = liqo::Leaving::listed) {
    add_space("liqo-tenant-milan");
    create(liqo::k_vk_templates,
           liqo::options_template(model::object_node(), "liqo-tenant-milan", leaving));
    liqo::VirtualNode unit =
        liqo::new_virtual_node({"sw-1", "milan", std::string(template_name(leaving)), {}, {}, {}});
    unit.create_node = false;
    create(liqo::k_virtual_nodes, to_object(unit));
    create(liqo::k_nodes, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"sw-1",
      "labels":{"liqo.io/type":"virtual-node","liqo.io/remote-cluster-id":"milan"}}})");
  }
  Ended leaves(const std::string& words) {
    return run_spillway(fmt::format("leaves {} --kubeconfig '{}'", words, folder_ / "kubeconfig"));
  }

  test::TemporaryFolder folder_;
  test::LiveCluster home_;
};

TEST_F(LeavesVerb, TellsWhatLeavesToWhomAndWhy) {
  add_space("shop");
  add_secret("card", "{}");
  add_secret("mail", R"({"liqo.io/allow-reflection":"true"})");
  create(liqo::k_namespace_offloadings, to_object(liqo::new_offloading("shop", "sw4-rome-shop")));
  const Ended early = leaves("shop -o plain");
  EXPECT_THAT(early.out, HasSubstr("(any)\tSecret\tmail\tsw4-rome-shop/mail\tit says"));
  add_unit();
  EXPECT_TRUE(test::comes_true([&] {
    return leaves("shop -o plain")
               .out.find(
                   "milan\tSecret\tmail\tsw4-rome-shop/mail\tit says liqo.io/allow-reflection") !=
           std::string::npos;
  }));
  const Ended told = leaves("shop -o plain");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out,
              HasSubstr("milan\tSecret\tcard\tstays\tit does not say liqo.io/allow-reflection"));
  const Ended json = leaves("shop -o json");
  EXPECT_THAT(json.out, HasSubstr(R"("provider":"milan","namespace":"sw4-rome-shop")"));
  EXPECT_THAT(json.out,
              HasSubstr(R"({"kind":"Secret","name":"mail","leaves":true,"there":"mail")"));
}

TEST_F(LeavesVerb, SaysWhyItTellsNothing) {
  const Ended absent = leaves("shop");
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.err, HasSubstr("namespace shop: there is none in this cluster; "));
  add_space("shop");
  add_secret("mail", R"({"liqo.io/allow-reflection":"true"})");
  const Ended kept = leaves("shop");
  EXPECT_EQ(kept.code, 1);
  EXPECT_THAT(kept.err, HasSubstr("namespace shop: it is not offloaded"));
  EXPECT_THAT(kept.err, HasSubstr("--preview"));
  const Ended preview = leaves("shop --preview");
  EXPECT_EQ(preview.code, 0) << preview.err;
  EXPECT_THAT(preview.out, HasSubstr("sw4-rome-shop/mail"));
}

// Nothing is mapped before the agent offloads it: who sells is known by its units.
TEST_F(LeavesVerb, APreviewGoesByTheRuleOfWhoeverSells) {
  add_space("shop");
  add_secret("card", "{}");
  const Ended nobody = leaves("shop --preview -o plain");
  EXPECT_THAT(nobody.out, HasSubstr("(any)\tSecret\tcard\tstays\t"));
  EXPECT_THAT(nobody.out, HasSubstr("(trusted)\tSecret\tcard\tsw4-rome-shop/card\t"));
  add_unit(liqo::Leaving::all);
  const Ended trusted = leaves("shop --preview -o plain");
  EXPECT_THAT(trusted.out, HasSubstr("milan\tSecret\tcard\tsw4-rome-shop/card\t"));
  EXPECT_THAT(trusted.out, Not(HasSubstr("(any)")));
}

TEST_F(LeavesVerb, WhatCanNeverLeaveHasNoPreview) {
  add_unit();  // with a tenant's namespace
  create(liqo::k_namespaces, R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"guests",
    "labels":{"liqo.io/remote-cluster-id":"milan"}}})");
  add_space("platform");
  create(liqo::k_secrets, R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"agent-state",
    "namespace":"platform"},"data":{"agent.json":"e30="}})");
  for (const auto& [space, why] : std::vector<std::pair<std::string, std::string>>{
           {"kube-system", "Kubernetes itself lives there"},
           {"liqo", "Liqo lives there"},
           {"liqo-tenant-milan", "Liqo lives there"},
           {"guests", "it is a peer's"},
           {"platform", "an agent lives there"}}) {
    const Ended ended = leaves(space + " --preview");
    EXPECT_EQ(ended.code, 1) << space;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("it is never offloaded: " + why));
  }
  const std::string long_name(60, 'a');
  add_space(long_name);
  const Ended too_long = leaves(long_name + " --preview");
  EXPECT_EQ(too_long.code, 1);
  EXPECT_THAT(too_long.err, HasSubstr("which is longer than 63 characters"));
}

class LeavesWithoutLiqo : public LeavesVerb {
 protected:
  LeavesWithoutLiqo() : LeavesVerb(embedded::ClusterOptions{}) {}
};

TEST_F(LeavesWithoutLiqo, SaysThatThereIsNone) {
  add_space("shop");
  const Ended ended = leaves("shop");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("Liqo"));
}

}  // namespace
}  // namespace spillway::cli
