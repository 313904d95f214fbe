// The paper's way of peering at the provider: who gets a kubeconfig, when, and what is left of it.
#include "fabric/account.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "fabric/seller.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

constexpr Instant k_account_now{1'800'000'000'000};
constexpr Instant k_later{k_account_now.ms + 600'000};

// milan has sold one unit to rome, which has asked for a kubeconfig.
struct HandingOut : testing::Test {
  HandingOut() {
    Sale sale{ContractId("01m7jvqwfj4xxt60c2xbz461h3"), {{"sw-1-0"}}, {}, RequestTalk{}};
    sale.request->proof = Proof{{}, {}, "key", "request"};
    sale.buyer_key = "key";
    wish.sales.push_back(std::move(sale));
    wish.hand_out.handing = Handing::on;
    sight.has_space = true;
    sight.provider = "milan";
    sight.record.emplace();
    sight.nonce = liqo::new_nonce("rome");
    sight.nonce->nonce = "nonce";
  }
  Plan plan(Instant now = k_account_now) const { return plan_seller(wish, sight, now); }
  // As the API server has it then.
  void make_account() {
    sight.account = {"uid-1", Right::right, Right::right, to_base64("request")};
  }
  void issue() { wish.hand_out.issued = Issued{"uid-1", {"kubeconfig", k_later}}; }
  void add_tenant(const std::string& request, const std::string& key = "key") {
    sight.tenant = liqo::new_tenant("rome", {key, request, "signature"});
    sight.tenant->meta.uid = "tenant-1";
  }
  static std::vector<std::string> said(const Plan& made) {
    std::vector<std::string> steps;
    for (const Deed& deed : made.deeds) {
      if (const auto* say = std::get_if<Say>(&deed)) steps.push_back(say->step);
    }
    return steps;
  }
  template <class T>
  static std::vector<std::string> kinds(const Plan& made, std::string_view name) {
    std::vector<std::string> all;
    for (const Deed& deed : made.deeds) {
      const auto* one = std::get_if<T>(&deed);
      if (one != nullptr && one->at.name == name) all.emplace_back(one->at.kind.kind);
    }
    return all;
  }
  static bool removes_tenant(const Plan& made) { return !kinds<Remove>(made, "rome").empty(); }

  using Steps = std::vector<std::string>;
  SellerWish wish{"milan", "rome", std::string(64, 'a'), {}, k_account_now};
  SellerSight sight;
};

TEST_F(HandingOut, WhoAsksGetsAnAccountThenATokenThenAKubeconfig) {
  Plan made = plan();
  EXPECT_EQ(kinds<Create>(made, k_account_name), (Steps{"ServiceAccount", "Role", "RoleBinding"}));
  EXPECT_EQ(kinds<Merge>(made, "liqo-tenant-rome"), Steps{"Namespace"});
  EXPECT_FALSE(made.needs_token);
  EXPECT_EQ(said(made), Steps{}) << "it knows the nonce, and does not want it";

  make_account();
  made = plan();
  EXPECT_TRUE(made.needs_token);
  EXPECT_EQ(said(made), Steps{});

  issue();
  made = plan();
  EXPECT_FALSE(made.needs_token);
  EXPECT_EQ(said(made), Steps{"kubeconfig"});
  const auto say = std::find_if(made.deeds.begin(), made.deeds.end(),
                                [](const Deed& deed) { return std::holds_alternative<Say>(deed); });
  EXPECT_EQ(std::get<Say>(*say).worthless, k_later);
  EXPECT_EQ(read_kubeconfig_talk(std::get<Say>(*say).body)->kubeconfig, "kubeconfig");
}

// The right to make Tenants has no name in it: nothing may be given away before the guard can tell.
TEST_F(HandingOut, NoTokenBeforeTheRequestIsWrittenDownAndTheRightsAreRight) {
  make_account();
  sight.account.request = to_base64("another");
  EXPECT_FALSE(plan().needs_token);
  make_account();
  sight.account.role = Right::wrong;
  EXPECT_FALSE(plan().needs_token);
  issue();
  EXPECT_EQ(said(plan()), Steps{}) << "nor one that was made before";
}

TEST_F(HandingOut, TheRoleIsForTheNonceAndTenantsAlone) {
  const Plan made = plan();
  for (const Deed& deed : made.deeds) {
    const auto* one = std::get_if<Create>(&deed);
    if (one == nullptr || one->at.kind.kind != "Role" || one->at.name != k_account_name) continue;
    EXPECT_EQ(
        model::to_json(*one->object.find("rules")),
        R"([{"apiGroups":[""],"resources":["secrets"],"resourceNames":["liqo-nonce"],"verbs":["get"]},)"
        R"({"apiGroups":["authentication.liqo.io"],"resources":["tenants"],"verbs":["create"]},)"
        R"({"apiGroups":["authentication.liqo.io"],"resources":["tenants"],"resourceNames":["rome"],"verbs":["get"]}])");
    EXPECT_EQ(judge_account_role(one->object, "rome"), Right::right);
    EXPECT_EQ(judge_account_role(one->object, "naples"), Right::wrong);
    return;
  }
  FAIL() << "no Role";
}

TEST_F(HandingOut, WhoDoesNotAskIsToldTheNonceAndThatItMay) {
  wish.sales[0].request.reset();
  const Plan made = plan();
  ASSERT_EQ(said(made), Steps{"nonce"});
  EXPECT_TRUE(kinds<Create>(made, k_account_name).empty());
  EXPECT_TRUE(read_nonce_talk(std::get<Say>(made.deeds.back()).body)->hands_out);
}

TEST_F(HandingOut, OffOrUnguardedItIsTheRelayAsEver) {
  for (const Handing handing : {Handing::off, Handing::unguarded}) {
    wish.hand_out.handing = handing;
    const Plan made = plan();
    ASSERT_EQ(said(made), Steps{"nonce"});
    EXPECT_TRUE(kinds<Create>(made, k_account_name).empty());
    EXPECT_FALSE(read_nonce_talk(std::get<Say>(made.deeds.back()).body)->hands_out);
    EXPECT_EQ(made.troubles.size(), handing == Handing::unguarded ? 1U : 0U);
  }
}

TEST_F(HandingOut, WhileATokenIsRefusedTheRelayServesAndAnotherIsAskedFor) {
  make_account();
  wish.hand_out.is_refused = true;
  Plan made = plan();
  EXPECT_TRUE(made.needs_token);
  EXPECT_TRUE(kinds<Remove>(made, k_account_name).empty());
  ASSERT_EQ(said(made), Steps{"nonce"});
  EXPECT_FALSE(read_nonce_talk(std::get<Say>(made.deeds.back()).body)->hands_out);
  wish.sales[0].request->proof = Proof{"nonce", to_base64("signed"), "key", "request"};
  made = plan();
  EXPECT_EQ(kinds<Create>(made, "rome"), Steps{"Tenant"});
  EXPECT_FALSE(made.needs_token);
  EXPECT_EQ(kinds<Remove>(made, k_account_name), (Steps{"RoleBinding", "Role", "ServiceAccount"}));
}

TEST_F(HandingOut, AGuardThatGoesTakesTheAccountWithIt) {
  make_account();
  issue();
  wish.hand_out.handing = Handing::unguarded;
  const Plan made = plan();
  EXPECT_EQ(said(made), Steps{"nonce"});
  EXPECT_EQ(kinds<Remove>(made, k_account_name), (Steps{"RoleBinding", "Role", "ServiceAccount"}));
}

TEST_F(HandingOut, AnExpiredTokenEndsTheAccountAndIsAskedForAgain) {
  make_account();
  issue();
  Plan made = plan(k_later);
  EXPECT_EQ(kinds<Remove>(made, k_account_name), (Steps{"RoleBinding", "Role", "ServiceAccount"}));
  EXPECT_EQ(said(made), Steps{"nonce"}) << "who still wants one asks";
  wish.hand_out.issued.reset();
  made = plan(k_later);
  EXPECT_TRUE(made.needs_token);
}

TEST_F(HandingOut, ATokenOfAnAccountThatWasMadeAnewIsWorthNothing) {
  make_account();
  issue();
  sight.account.uid = "uid-2";
  const Plan made = plan();
  EXPECT_TRUE(made.needs_token);
  EXPECT_EQ(said(made), Steps{});
}

TEST_F(HandingOut, ItsTenantStaysAndTheAccountGoesWithLiqosAnswer) {
  make_account();
  issue();
  add_tenant("request");
  wish.hand_out.is_tenant_signed = true;
  Plan made = plan();
  EXPECT_FALSE(removes_tenant(made));
  EXPECT_TRUE(kinds<Remove>(made, k_account_name).empty()) << "it looks for the answer";
  sight.tenant->answer.emplace();
  made = plan();
  EXPECT_FALSE(removes_tenant(made));
  EXPECT_EQ(kinds<Remove>(made, k_account_name), (Steps{"RoleBinding", "Role", "ServiceAccount"}));
  EXPECT_EQ(said(made), Steps{"identity"});
  EXPECT_TRUE(kinds<Merge>(made, "liqo-tenant-rome").empty());

  sight.account = {{}, Right::absent, Right::absent, to_base64("request")};
  made = plan();
  ASSERT_EQ(kinds<Merge>(made, "liqo-tenant-rome"), Steps{"Namespace"}) << "last of all";
  EXPECT_FALSE(is_clear(sight));
}

TEST_F(HandingOut, ATenantThatIsNotAsAgreedIsTakenDown) {
  make_account();
  issue();
  add_tenant("request");
  EXPECT_TRUE(removes_tenant(plan())) << "it has signed another nonce: Liqo will never answer";
  wish.hand_out.is_tenant_signed = true;
  add_tenant("another request");
  EXPECT_TRUE(removes_tenant(plan()));
  add_tenant("request", "another key");
  EXPECT_TRUE(removes_tenant(plan()));
}

TEST_F(HandingOut, WithTheContractAllOfItGoes) {
  make_account();
  issue();
  wish.sales.clear();
  Plan made = plan();
  EXPECT_EQ(kinds<Remove>(made, k_account_name), (Steps{"RoleBinding", "Role", "ServiceAccount"}));
  EXPECT_FALSE(is_clear(sight));
}

// Then accounts are not watched: the annotation tells that there may be one.
TEST_F(HandingOut, SwitchedOffWhatWasLeftIsTakenDown) {
  wish.hand_out.handing = Handing::off;
  sight.account.request = to_base64("request");
  const Plan made = plan();
  EXPECT_EQ(kinds<Remove>(made, k_account_name), (Steps{"RoleBinding", "Role", "ServiceAccount"}));
  EXPECT_EQ(kinds<Merge>(made, "liqo-tenant-rome"), Steps{"Namespace"});
}

// The credential of one is not for another, who has signed for the same Liqo id with a key of its
// own.
TEST_F(HandingOut, OnlyWhoseRequestItIsHearsOfTheAccount) {
  make_account();
  issue();
  Sale other = wish.sales[0];
  other.contract = ContractId("01m7jvqwfj4xxt60c2xbz461h4");
  other.request->proof->request = "another request";
  wish.sales.push_back(std::move(other));
  const Plan made = plan();
  ASSERT_EQ(said(made), (Steps{"kubeconfig", "nonce"}));
  for (const Deed& deed : made.deeds) {
    const auto* say = std::get_if<Say>(&deed);
    if (say == nullptr) continue;
    EXPECT_EQ(say->contract == wish.sales[0].contract, say->step == "kubeconfig");
  }
}

TEST_F(HandingOut, ASignedProofIsTakenAsEver) {
  wish.sales[0].request->proof = Proof{"nonce", to_base64("signed"), "key", "request"};
  const Plan made = plan();
  EXPECT_EQ(kinds<Create>(made, "rome"), Steps{"Tenant"});
  EXPECT_TRUE(kinds<Create>(made, k_account_name).empty());
}

}  // namespace
}  // namespace spillway::fabric
