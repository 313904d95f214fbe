// Whatever we have made and somebody deletes by hand is made again, with one event that names it:
// also by an agent that was started after it had been made.
#include "fabric/guest_space.h"
#include "integration/fabric/fabric_fixture.h"

namespace spillway::agent {
namespace {

namespace liqo_words = fabric::liqo;

enum class At { buyer, provider };

struct OfOurs {
  const char* title;
  At side;
  const liqo_words::Kind& kind;
  std::string space;
  std::string name;  // empty: as the unit is called
};

void PrintTo(const OfOurs& one, std::ostream* out) { *out << one.title; }

const std::string k_at_buyer = "liqo-tenant-milan";
const std::string k_at_provider = "liqo-tenant-rome";
const std::string k_guest_space = "sw4-rome-shop";
const std::string k_fence(fabric::k_fence_name);
const std::string k_limits(fabric::k_guests_name);

class Deleted : public FabricTest, public testing::WithParamInterface<std::tuple<OfOurs, bool>> {
 public:
  static std::vector<OfOurs> cases() {
    return {
        {"Identity", At::buyer, liqo_words::k_identities, k_at_buyer, "controlplane-milan"},
        {"ResourceSlice", At::buyer, liqo_words::k_slices, k_at_buyer, ""},
        {"VirtualNode", At::buyer, liqo_words::k_virtual_nodes, k_at_buyer, ""},
        {"Node", At::buyer, liqo_words::k_nodes, "", ""},
        {"VkOptionsTemplate", At::buyer, liqo_words::k_vk_templates, k_at_buyer, "spillway-listed"},
        {"NamespaceOffloading", At::buyer, liqo_words::k_namespace_offloadings, "shop",
         "offloading"},
        {"Tenant", At::provider, liqo_words::k_tenants, k_at_provider, "rome"},
        {"Record", At::provider, liqo_words::k_config_maps, k_at_provider, "spillway-units"},
        {"Role", At::provider, liqo_words::k_roles, k_at_provider, k_fence},
        {"RoleBinding", At::provider, liqo_words::k_role_bindings, k_at_provider, k_fence},
        {"GuestQuota", At::provider, liqo_words::k_resource_quotas, k_guest_space, k_limits},
        {"GuestLimits", At::provider, liqo_words::k_limit_ranges, k_guest_space, k_limits},
        {"GuestNetwork", At::provider, liqo_words::k_network_policies, k_guest_space, k_limits},
    };
  }
  static std::string title(const testing::TestParamInfo<ParamType>& info) {
    return std::get<0>(info.param).title +
           std::string(std::get<1>(info.param) ? "AfterARestart" : "");
  }

 protected:
  Deleted() {
    start(seller);
    start(buyer);
    live(4);
    liqo.rome.create("/api/v1/namespaces", R"({"metadata":{"name":"shop"}})");
    contract_ = trade_units(1);
    EXPECT_TRUE(comes([&] { return all_ready(contract_); }));
    liqo.milan.create("/api/v1/namespaces",
                      fmt::format(R"({{"metadata":{{"name":"{}","labels":)"
                                  R"({{"liqo.io/remote-cluster-id":"rome"}}}}}})",
                                  k_guest_space));
    EXPECT_TRUE(comes([&] { return has_all(); }));
    live(80);  // nothing is under way any more
  }
  static void start(Party& party) {
    FabricOptions options;
    if (party.place.name == "rome") options.offload.namespaces = {"shop"};
    party.start(options);
  }
  bool has_all() {
    for (const OfOurs& one : cases()) {
      if (uid_of(one).empty()) return false;
    }
    return true;
  }
  Party& party_of(const OfOurs& one) { return one.side == At::buyer ? buyer : seller; }
  std::string name_of(const OfOurs& one) const {
    return one.name.empty() ? unit_names(contract_)[0] : one.name;
  }
  std::string path_of(const OfOurs& one) const {
    return test::Place::path(one.kind, one.space, name_of(one));
  }
  // Empty: it is not there, or going.
  std::string uid_of(const OfOurs& one) {
    const test::Told seen = party_of(one).place.ask("GET", path_of(one));
    const bool is_there =
        seen.status == 200 && seen.text({"metadata", "deletionTimestamp"}).empty();
    return is_there ? std::string(seen.text({"metadata", "uid"})) : std::string();
  }
  int told(const OfOurs& one) {
    const fabric::Place at{one.kind, one.space, name_of(one)};
    return events(party_of(one).place, to_text(at) + ": somebody removed it");
  }
  void restart(Party& party) {
    party.kill();
    live(4);
    start(party);
    ASSERT_TRUE(comes([&] { return party.agent->fabric()->status().is_seeing; }));
    live(80);
  }

  model::Contract contract_;
};

TEST_P(Deleted, ByHandItIsMadeAgainWithOneEventThatNamesIt) {
  const auto& [ours, is_restarted] = GetParam();
  if (is_restarted) restart(party_of(ours));
  const std::string before = uid_of(ours);
  ASSERT_FALSE(before.empty()) << path_of(ours);
  EXPECT_EQ(told(ours), 0);
  party_of(ours).place.remove(path_of(ours));
  const auto is_back = [&] {
    const std::string now = uid_of(ours);
    return !now.empty() && now != before;
  };
  ASSERT_TRUE(comes(is_back, 4000)) << path_of(ours);
  EXPECT_TRUE(comes([&] { return told(ours) > 0; }));
  EXPECT_TRUE(comes([&] { return all_ready(contract_); }, 4000));
  live(80);
  EXPECT_EQ(told(ours), 1);
}

INSTANTIATE_TEST_SUITE_P(EachOfOurs, Deleted,
                         testing::Combine(testing::ValuesIn(Deleted::cases()), testing::Bool()),
                         Deleted::title);

}  // namespace
}  // namespace spillway::agent
