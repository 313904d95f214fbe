// Clusters that somebody has peered by hand, and members that claim to be one of them.
#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

class PeeredByHand : public FabricTest {
 protected:
  static constexpr const char* k_slice = R"({
    "metadata": {"name": "mypool", "labels": {
      "liqo.io/replicated": "true", "liqo.io/replication": "false", "liqo.io/originID": "rome",
      "liqo.io/remote-cluster-id": "rome", "liqo.io/remoteID": "milan"}},
    "spec": {"class": "default", "consumerClusterID": "rome", "providerClusterID": "milan",
             "csr": "QQ==", "resources": {"cpu": "1"}}})";
  static constexpr const char* k_tenant = R"({
    "metadata": {"name": "rome", "labels": {"liqo.io/remote-cluster-id": "rome"}},
    "spec": {"clusterID": "rome", "publicKey": "QQ==", "csr": "QQ==", "signature": "QQ=="}})";
  static constexpr const char* k_identity = R"({
    "metadata": {"name": "controlplane-milan",
                 "labels": {"liqo.io/remote-cluster-id": "milan"}},
    "spec": {"type": "ControlPlane", "clusterID": "milan", "namespace": "liqo-tenant-rome",
             "authParams": {"ca": "QQ==", "signedCRT": "QQ==",
                            "apiServer": "https://the-real-milan:6443"}}})";

  void begin() {
    seller.start();
    buyer.start();
    live(4);
  }
  static void add_space(test::Place& at, const std::string& peer) {
    const test::Told made = at.create(
        "/api/v1/namespaces",
        fmt::format(R"({{"metadata":{{"name":"liqo-tenant-{0}","labels":{{)"
                    R"("liqo.io/remote-cluster-id":"{0}","liqo.io/tenant-namespace":"true"}}}}}})",
                    peer));
    ASSERT_EQ(made.status, 201);
  }
  static std::string add(test::Place& at, const fabric::liqo::Kind& kind, const std::string& space,
                         const char* object, const std::string& name) {
    EXPECT_EQ(at.create(test::Place::path(kind, space), object).status, 201) << kind.plural;
    return test::Place::path(kind, space, name);
  }
  static std::string uid(test::Place& at, const std::string& path) {
    return std::string(at.ask("GET", path).text({"metadata", "uid"}));
  }
};

TEST_F(PeeredByHand, ATenantAndItsSlicesStayWhoeverBuysUnderItsId) {
  liqo.is_replicating = false;
  add_space(liqo.milan, "rome");
  const auto tenant =
      add(liqo.milan, fabric::liqo::k_tenants, "liqo-tenant-rome", k_tenant, "rome");
  const auto slice = add(liqo.milan, fabric::liqo::k_slices, "liqo-tenant-rome", k_slice, "mypool");
  const std::string first = uid(liqo.milan, tenant);
  begin();
  const model::Contract contract = trade_units(1);
  EXPECT_TRUE(comes([&] { return events(liqo.milan, "peered with that Liqo id by hand") == 1; }));
  live(200);
  EXPECT_EQ(uid(liqo.milan, tenant), first);
  EXPECT_TRUE(liqo.milan.has(slice));
  tell_both(closed(contract), "contract-closed");
  live(200);
  EXPECT_EQ(uid(liqo.milan, tenant), first);
  EXPECT_TRUE(liqo.milan.has(slice));
  EXPECT_EQ(events(liqo.milan, "peered with that Liqo id by hand"), 1);
}

TEST_F(PeeredByHand, AnIdentityStaysAndNothingIsMadeUntilItGoes) {
  add_space(liqo.rome, "milan");
  const auto identity = add(liqo.rome, fabric::liqo::k_identities, "liqo-tenant-milan", k_identity,
                            "controlplane-milan");
  begin();
  const model::Contract contract = trade_units(1);
  EXPECT_TRUE(comes([&] { return events(liqo.rome, "peered with that Liqo id by hand") == 1; }));
  live(100);
  EXPECT_EQ(liqo.rome.ask("GET", identity).text({"spec", "authParams", "apiServer"}),
            "https://the-real-milan:6443");
  EXPECT_FALSE(liqo.rome.has(slice_path(liqo.rome, unit_names(contract)[0])));
  liqo.rome.remove(identity);
  EXPECT_TRUE(comes([&] { return all_ready(contract); }));
}

}  // namespace
}  // namespace spillway::agent
