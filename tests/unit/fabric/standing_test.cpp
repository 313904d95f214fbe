#include "fabric/liqo/standing.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "model/json.h"

namespace spillway::fabric::liqo {
namespace {

model::Node binding(std::string_view space, std::string_view role, std::string_view subjects) {
  return model::parse_json(fmt::format(R"({{"metadata":{{"name":"b","namespace":"{}"}},
             "roleRef":{{"name":"{}"}},"subjects":{}}})",
                                       space, role, subjects),
                           "test")
      .value();
}

std::string refusal(const std::vector<model::Node>& bindings) {
  const Status status = check_has_no_standing("milan", bindings);
  return status ? "none" : status.error().message();
}

constexpr const char* k_group = R"([{"kind":"Group","name":"milan"}])";
constexpr const char* k_user = R"([{"kind":"User","name":"milan"}])";

TEST(Standing, AnIdThatIsAGroupOrAUserHereIsRefused) {
  EXPECT_NE(refusal({binding("", "admin", k_group)}).find("ClusterRoleBinding b"),
            std::string::npos);
  EXPECT_NE(refusal({binding("shop", "edit", k_user)}).find("RoleBinding shop/b"),
            std::string::npos);
}

TEST(Standing, ABindingOfAnOddNameIsToldInOneLine) {
  const auto odd = model::parse_json(R"({"metadata":{"name":"a\nb"},"roleRef":{"name":"admin"},
                                         "subjects":[{"kind":"User","name":"milan"}]})",
                                     "test");
  EXPECT_TRUE(is_printable(refusal({*odd}))) << refusal({*odd});
}

TEST(Standing, WhatLiqoGivesItsTenantsDoesNotCount) {
  EXPECT_EQ(refusal({binding("", "liqo-virtual-kubelet-remote-clusterwide", k_user),
                     binding("liqo-tenant-milan", "liqo-remote-controlplane", k_user),
                     binding("sw5-milan-shop", "liqo-virtual-kubelet-remote", k_group)}),
            "none");
}

TEST(Standing, ARoleOfLiqosAnywhereElseCounts) {
  EXPECT_NE(refusal({binding("liqo-tenant-turin", "liqo-remote-controlplane", k_user)}), "none");
  EXPECT_NE(refusal({binding("sw5-turin-shop", "liqo-virtual-kubelet-remote", k_group)}), "none");
  EXPECT_NE(refusal({binding("liqo-tenant-milan", "edit", k_group)}), "none");
}

TEST(Standing, OthersAndServiceAccountsOfThatNameDoNotCount) {
  EXPECT_EQ(refusal({binding("", "admin", R"([{"kind":"Group","name":"milan-ops"}])"),
                     binding("", "admin", R"([{"kind":"ServiceAccount","name":"milan"}])"),
                     binding("", "admin", "[]")}),
            "none");
}

}  // namespace
}  // namespace spillway::fabric::liqo
