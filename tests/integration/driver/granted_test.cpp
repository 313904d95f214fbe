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
  // As whoever provides it, with or without our agent: that one is not to put it right meanwhile.
  void grant_labels(const std::string& labels) {
    gates["milan"].refuses = [](const net::Request& request) { return request.method == "PATCH"; };
    const std::string path = "/apis/authentication.liqo.io/v1beta1/namespaces/" +
                             fabric::liqo::tenant_namespace_name("rome") + "/resourceslices/" +
                             unit + "/status";
    const auto told =
        liqos.ask(*liqos.seller, "PATCH", path, R"({"status":{"nodeLabels":)" + labels + "}}",
                  "application/merge-patch+json");
    EXPECT_EQ(told.status, 200) << model::to_json(told.body);
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

}  // namespace
}  // namespace spillway::driver
