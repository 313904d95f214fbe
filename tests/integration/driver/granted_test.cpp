// What a provider grants beyond what was bought reaches no node of its buyer's.
#include "integration/driver/driver_fixture.h"

namespace spillway::driver {
namespace {

class GrantedLabels : public DriverTest {
 protected:
  GrantedLabels() {
    put(unit);
    EXPECT_TRUE(comes_to(unit, "ready"));
    live(40);
  }
  std::string label(std::string_view key) {
    return std::string(model::text_at(node(*liqos.buyer, unit), {"metadata", "labels", key}));
  }
  void grant_labels(const std::string& labels) { grant(R"("nodeLabels":)" + labels); }
  // As whoever provides it, with or without our agent: that one is not to put it right meanwhile.
  void grant(const std::string& said) {
    gates["milan"].refuses = [](const net::Request& request) { return request.method == "PATCH"; };
    const std::string path = "/apis/authentication.liqo.io/v1beta1/namespaces/" +
                             fabric::liqo::tenant_namespace_name("rome") + "/resourceslices/" +
                             unit + "/status";
    const auto told = liqos.ask(*liqos.seller, "PATCH", path, R"({"status":{)" + said + "}}",
                                "application/merge-patch+json");
    EXPECT_EQ(told.status, 200) << model::to_json(told.body);
  }
  size_t count_role() {
    const model::Node* labels = model::look(node(*liqos.buyer, unit), {"metadata", "labels"});
    return labels != nullptr && labels->find(k_role) != nullptr ? 1 : 0;
  }
  std::string troubles() { return model::to_json(ask("GET", "/v1/peerings/rome/milan").body); }

  const std::string unit = unit_of(0);
  static constexpr std::string_view k_role = "node-role.kubernetes.io/control-plane";
};

TEST_F(GrantedLabels, ThatOthersGoByDoNotStayAndAreTold) {
  grant_labels(R"({"node-role.kubernetes.io/control-plane":"yes","zone":"north"})");
  ASSERT_TRUE(comes([&] { return troubles().find(k_role) != std::string::npos; })) << troubles();
  EXPECT_TRUE(comes([&] { return label(k_role).empty(); }));
  live(40);
  EXPECT_EQ(label(k_role), "");
  EXPECT_EQ(label("zone"), "north") << "a label of its own";
  EXPECT_TRUE(is_ready(*liqos.buyer, unit)) << "what runs there runs on";
  grant_labels(R"({"node-role.kubernetes.io/control-plane":null})");
  EXPECT_TRUE(comes([&] { return troubles().find(k_role) == std::string::npos; })) << troubles();
}

// Liqo puts them on while nobody looks.
TEST_F(GrantedLabels, ThatCameWhileTheDriverWasAwayDoNotStayEither) {
  kill();
  grant_labels(R"({"node-role.kubernetes.io/control-plane":"yes"})");
  ASSERT_TRUE(comes([&] { return label(k_role) == "yes"; }));
  grant_labels(R"({"node-role.kubernetes.io/control-plane":null})");
  live(40);
  EXPECT_EQ(label(k_role), "yes") << "Liqo takes none away";
  start();
  EXPECT_TRUE(comes([&] { return label(k_role).empty(); }));
}

// An amount that is one to Kubernetes and none to anybody hides no label beside it.
TEST_F(GrantedLabels, ThatCameWithWhatCannotBeReadDoNotStayEither) {
  grant(
      R"("resources":{"memory":"1500m"},"nodeLabels":{"node-role.kubernetes.io/control-plane":""})");
  ASSERT_TRUE(comes([&] { return troubles().find("cannot be read") != std::string::npos; }));
  live(40);
  EXPECT_EQ(count_role(), 0U);
}

TEST_F(GrantedLabels, ThatAreMoreThanAnybodyReadsDoNotComeAlong) {
  std::string many = R"({"node-role.kubernetes.io/control-plane":"yes")";
  for (int i = 0; i < 600; ++i) many += fmt::format(R"(,"a.example/{}":"x")", i);
  grant_labels(many + "}");
  ASSERT_TRUE(comes([&] { return troubles().find("entries") != std::string::npos; }));
  EXPECT_TRUE(comes([&] { return count_role() == 0; }));
  live(40);
  EXPECT_EQ(count_role(), 0U);
}

// Liqo makes the kubeconfig of a unit of what its provider writes, and not of what was agreed on.
TEST_F(GrantedLabels, NorDoesAVirtualKubeletGoWhereNobodyAllowed) {
  const model::Node copy = liqos.get(
      *liqos.seller, {fabric::liqo::k_slices, fabric::liqo::tenant_namespace_name("rome"), unit});
  const model::Node* agreed = model::look(copy, {"status", "authParams"});
  ASSERT_NE(agreed, nullptr);
  grant(R"("authParams":{"apiServer":"http://elsewhere.test"})");
  ASSERT_TRUE(comes([&] { return troubles().find("elsewhere.test") != std::string::npos; }))
      << troubles();
  EXPECT_TRUE(
      comes([&] { return liqos.list(*liqos.buyer, fabric::liqo::k_virtual_nodes).empty(); }));
  live(40);
  EXPECT_TRUE(liqos.list(*liqos.buyer, fabric::liqo::k_virtual_nodes).empty());
  // Taken back, it leaves the kubeconfig that Liqo made of it.
  grant(R"("authParams":null)");
  live(40);
  EXPECT_NE(troubles().find("elsewhere.test"), std::string::npos) << troubles();
  EXPECT_TRUE(liqos.list(*liqos.buyer, fabric::liqo::k_virtual_nodes).empty());
  grant(R"("authParams":)" + model::to_json(*agreed));
  EXPECT_TRUE(comes_to(unit, "ready"));
}

}  // namespace
}  // namespace spillway::driver
