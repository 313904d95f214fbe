// At the buyer: namespaces that the policy lets leave are ready before anything is bought, pods
// that waited may leave, and nobody's virtual nodes copy more than the policy says.
#include "fabric/spaces.h"

#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

namespace liqo_words = fabric::liqo;

fabric::OffloadPolicy lets(std::vector<std::string> spaces) {
  fabric::OffloadPolicy policy;
  policy.namespaces = std::move(spaces);
  return policy;
}

class FabricSpaces : public FabricTest {
 protected:
  void start(fabric::OffloadPolicy policy = lets({"shop"})) {
    FabricOptions options;
    options.offload = std::move(policy);
    seller.start();
    buyer.start(std::move(options));
    live(4);
  }
  void add_space(const std::string& name) {
    liqo.rome.create("/api/v1/namespaces", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
  }
  static std::string offloading(const std::string& space) {
    return test::Place::path(liqo_words::k_namespace_offloadings, space, "offloading");
  }
  static std::string template_at(liqo_words::Leaving leaving) {
    return test::Place::path(liqo_words::k_vk_templates, "liqo-tenant-milan",
                             template_name(leaving));
  }
  std::string template_of(const std::string& unit) {
    return std::string(
        liqo.rome
            .ask("GET", test::Place::path(liqo_words::k_virtual_nodes, "liqo-tenant-milan", unit))
            .text({"spec", "vkOptionsTemplateRef", "name"}));
  }
  std::string secrets_by(liqo_words::Leaving leaving) {
    return std::string(liqo.rome.ask("GET", template_at(leaving))
                           .text({"spec", "reflectorsConfig", "secret", "type"}));
  }
  std::string trouble_with(std::string_view words) {
    for (const std::string& one : buyer.agent->fabric()->status().troubles) {
      if (one.find(words) != std::string::npos) return one;
    }
    return {};
  }
  std::vector<std::string> events_of(const std::string& space, const std::string& pod) {
    std::vector<std::string> all;
    for (const model::Node& one : model::items_at(
             liqo.rome.ask("GET", "/api/v1/namespaces/" + space + "/events").body, {"items"})) {
      if (model::text_at(one, {"involvedObject", "name"}) == pod &&
          model::text_at(one, {"reason"}) == "Fabric") {
        all.emplace_back(model::text_at(one, {"message"}));
      }
    }
    return all;
  }
  // Of virtual nodes.
  int64_t tolerations_of(const std::string& path) {
    const test::Told pod = liqo.rome.ask("GET", path);
    const auto& all = model::items_at(pod.body, {"spec", "tolerations"});
    return std::count_if(all.begin(), all.end(), [](const model::Node& one) {
      return model::text_at(one, {"key"}) == liqo_words::k_taint;
    });
  }
};

TEST_F(FabricSpaces, ANamespaceIsReadyBeforeAnythingIsBoughtAndNoLongerWhenThePolicyDropsIt) {
  add_space("desk");
  start();
  live(8);
  EXPECT_FALSE(liqo.rome.has(offloading("shop")));
  add_space("shop");  // later than the policy
  ASSERT_TRUE(comes([&] { return liqo.rome.has(offloading("shop")); }));
  const test::Told made = liqo.rome.ask("GET", offloading("shop"));
  EXPECT_EQ(made.text({"spec", "remoteNamespaceName"}), "sw4-rome-shop");
  EXPECT_EQ(made.text({"spec", "podOffloadingStrategy"}), "LocalAndRemote");
  EXPECT_FALSE(liqo.rome.has(offloading("desk")));
  // What somebody edits is put right.
  liqo.rome.merge(offloading("shop"), R"({"spec":{"podOffloadingStrategy":"Local"}})");
  EXPECT_TRUE(comes([&] {
    return liqo.rome.ask("GET", offloading("shop")).text({"spec", "podOffloadingStrategy"}) ==
           "LocalAndRemote";
  }));
  EXPECT_TRUE(comes([&] {
    return events(liqo.rome, "NamespaceOffloading offloading in shop: somebody edited it") == 1;
  }));
  buyer.agent->fabric()->set_offload(lets({"desk"}));
  EXPECT_TRUE(comes(
      [&] { return !liqo.rome.has(offloading("shop")) && liqo.rome.has(offloading("desk")); }));
  EXPECT_TRUE(buyer.agent->fabric()->status().troubles.empty());
}

TEST_F(FabricSpaces, OneThatWasMadeByHandIsLeftAloneAndNamed) {
  add_space("shop");
  liqo.rome.create(
      test::Place::path(liqo_words::k_namespace_offloadings, "shop"),
      R"({"apiVersion":"offloading.liqo.io/v1beta1","kind":"NamespaceOffloading",)"
      R"("metadata":{"name":"offloading"},"spec":{"namespaceMappingStrategy":"DefaultName"}})");
  const auto before = liqo.rome.ask("GET", offloading("shop")).body;
  start();
  ASSERT_TRUE(comes([&] { return !trouble_with("somebody else has made").empty(); }));
  EXPECT_TRUE(model::same(before, liqo.rome.ask("GET", offloading("shop")).body));
  buyer.agent->fabric()->set_offload({});
  EXPECT_TRUE(comes([&] { return trouble_with("somebody else has made").empty(); }));
  EXPECT_TRUE(liqo.rome.has(offloading("shop")));
}

TEST_F(FabricSpaces, APodThatWaitedMayLeaveAndIsToldSo) {
  for (const char* space : {"shop", "desk"}) {
    add_space(space);
    liqo.rome.create(fmt::format("/api/v1/namespaces/{}/pods", space), test::pod_text("web"));
  }
  start();
  const std::string web = "/api/v1/namespaces/shop/pods/web";
  ASSERT_TRUE(comes([&] { return tolerations_of(web) > 0; }));
  EXPECT_TRUE(comes([&] { return events_of("shop", "web").size() == 1; }));
  EXPECT_NE(events_of("shop", "web").at(0).find(liqo_words::k_taint), std::string::npos);
  // Not there, and not again.
  live(80);
  EXPECT_EQ(tolerations_of(web), 1);
  EXPECT_EQ(tolerations_of("/api/v1/namespaces/desk/pods/web"), 0);
  EXPECT_EQ(events_of("shop", "web").size(), 1U);
}

TEST_F(FabricSpaces, UnitsCopyOnlyWhatIsListedAndTheTemplateGoesWithTheLast) {
  start();
  const model::Contract contract = trade_units(2);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  for (const std::string& unit : unit_names(contract)) {
    EXPECT_EQ(template_of(unit), "spillway-listed");
  }
  EXPECT_EQ(secrets_by(liqo_words::Leaving::listed), "AllowList");
  const test::Told made = liqo.rome.ask("GET", template_at(liqo_words::Leaving::listed));
  EXPECT_EQ(made.text({"spec", "containerImage"}), "virtual-kubelet:v1.2.0");
  EXPECT_EQ(model::to_json(*model::look(made.body, {"spec", "extraArgs"})),
            R"(["--enable-apiserver-support=false"])");
  // By whose hand ever: it is put right, and follows Liqo's own.
  liqo.rome.merge(template_at(liqo_words::Leaving::listed),
                  R"({"spec":{"reflectorsConfig":{"secret":{"type":"DenyList"}},"extraArgs":[]}})");
  EXPECT_TRUE(comes([&] { return secrets_by(liqo_words::Leaving::listed) == "AllowList"; }));
  const auto edits = [&] {
    return events(liqo.rome, "VkOptionsTemplate spillway-listed in liqo-tenant-milan: somebody");
  };
  EXPECT_TRUE(comes([&] { return edits() == 1; }));
  liqo.rome.merge(
      test::Place::path(liqo_words::k_vk_templates, "liqo", liqo_words::k_default_template),
      R"({"spec":{"containerImage":"virtual-kubelet:v1.2.1","metricsEnabled":null}})");
  EXPECT_TRUE(comes([&] {
    const test::Told now = liqo.rome.ask("GET", template_at(liqo_words::Leaving::listed));
    return now.text({"spec", "containerImage"}) == "virtual-kubelet:v1.2.1" &&
           model::look(now.body, {"spec", "metricsEnabled"}) == nullptr;
  }));
  EXPECT_EQ(edits(), 1) << "that was Liqo's own";
  tell_both(closed(contract), "contract-closed");
  EXPECT_TRUE(comes([&] { return !liqo.rome.has(template_at(liqo_words::Leaving::listed)); }));
  EXPECT_TRUE(comes([&] { return left_of(unit_names(contract)[0]).empty(); }));
}

TEST_F(FabricSpaces, WhoeverThePolicyTrustsGetsEverything) {
  fabric::OffloadPolicy policy = lets({"shop"});
  policy.trusted.clusters = {ClusterId("edge-1")};
  start(policy);
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  const std::string unit = unit_names(contract)[0];
  EXPECT_EQ(template_of(unit), "spillway-all");
  EXPECT_EQ(secrets_by(liqo_words::Leaving::all), "DenyList");
  // Trusted no longer: what runs goes on, and that is told; what comes next goes by the list.
  buyer.agent->fabric()->set_offload(lets({"shop"}));
  EXPECT_TRUE(comes([&] { return !trouble_with("made to copy everything").empty(); }));
  EXPECT_TRUE(liqo.rome.has(template_at(liqo_words::Leaving::all))) << "Liqo needs it";
  const model::Contract next = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(next); }));
  EXPECT_EQ(template_of(unit_names(next)[0]), "spillway-listed");
}

TEST_F(FabricSpaces, WhoeverIsPinnedByHandIsTrustedIfThePolicySaysSo) {
  fabric::OffloadPolicy policy = lets({"shop"});
  policy.trusted.pinned = true;
  start(policy);
  const model::Contract first = trade_units(1);  // met on first use
  ASSERT_TRUE(comes([&] { return all_ready(first); }));
  EXPECT_EQ(template_of(unit_names(first)[0]), "spillway-listed");
  buyer.papers.trust.pins[ClusterId("edge-1")].how = model::Trust::given;
  const model::Contract second = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(second); }));
  EXPECT_EQ(template_of(unit_names(second)[0]), "spillway-all");
}

// An API server may make one long after it was asked to, when all else of the peering has gone.
TEST_F(FabricSpaces, ATemplateThatAppearsForAForgottenProviderIsTakenDown) {
  start();
  const auto is_forgotten = [this] { return buyer.agent->fabric()->status().peers == 0; };
  const std::string late = template_at(liqo_words::Leaving::listed);
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  tell_both(closed(contract), "contract-closed");
  ASSERT_TRUE(comes([&] { return liqo.rome.all(liqo_words::k_slices).empty(); }));
  loop.run_for(FabricOptions{}.warm);
  ASSERT_TRUE(comes(is_forgotten));
  ASSERT_FALSE(liqo.rome.has(late));
  liqo.rome.create(test::Place::path(liqo_words::k_vk_templates, "liqo-tenant-milan"),
                   R"({"apiVersion":"offloading.liqo.io/v1beta1","kind":"VkOptionsTemplate",)"
                   R"("metadata":{"name":"spillway-listed"},"spec":{"createNode":true}})");
  ASSERT_TRUE(liqo.rome.has(late));
  loop.run_for(FabricOptions{}.warm);
  EXPECT_TRUE(comes([&] { return !liqo.rome.has(late); }));
  EXPECT_TRUE(comes(is_forgotten));
}

// Without it nobody can write a VirtualNode, so Liqo could not end one: it was made again only
// while something was bought.
TEST_F(FabricSpaces, ATemplateThatSomebodyDeletesIsMadeAgainAlsoForWhatEnds) {
  start();
  const std::string ours = template_at(liqo_words::Leaving::listed);
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  liqo.rome.remove(ours);
  EXPECT_TRUE(comes([&] { return liqo.rome.has(ours); }));
  buyer.kill();
  tell_both(closed(contract), "contract-closed");
  liqo.rome.remove(ours);
  buyer.start();
  EXPECT_TRUE(comes([&] { return left_of(unit_names(contract)[0]).empty(); }));
  EXPECT_TRUE(comes([&] { return !liqo.rome.has(ours); }));
}

TEST_F(FabricSpaces, WithoutLiqosOwnTemplateNoNodeIsMade) {
  const std::string own =
      test::Place::path(liqo_words::k_vk_templates, "liqo", liqo_words::k_default_template);
  liqo.rome.remove(own);
  start();
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return !trouble_with("virtual-kubelet-default").empty(); }));
  live(80);
  EXPECT_TRUE(liqo.rome.all(liqo_words::k_virtual_nodes).empty());
  liqo.rome.add_default_template();
  EXPECT_TRUE(comes([&] { return all_ready(contract); }));
  EXPECT_EQ(trouble_with("virtual-kubelet-default"), "");
}

}  // namespace
}  // namespace spillway::agent
