// What a provider may add to its buyer's node, and what is taken away again.
#include "fabric/granted_labels.h"

#include <gtest/gtest.h>

namespace spillway::fabric {
namespace {

const liqo::Texts k_labels_bought = {{"disk", "ssd"},
                                     {"topology.kubernetes.io/region", "eu-north"},
                                     {"liqo.io/remote-cluster-id", "milan"}};

TEST(GrantedLabels, AProviderMayAddItsOwn) {
  EXPECT_TRUE(
      labels_beyond(k_labels_bought, {{"zone", "north"}, {"milan.example/rack", "7"}}).empty());
  EXPECT_TRUE(labels_beyond(k_labels_bought, k_labels_bought).empty());
}

TEST(GrantedLabels, NothingOfWhatWasBoughtIsSaidOtherwise) {
  EXPECT_EQ(labels_beyond(k_labels_bought, {{"disk", "hdd"}}), std::vector<std::string>{"disk"});
  EXPECT_EQ(labels_beyond(k_labels_bought, {{"liqo.io/remote-cluster-id", "rome"}}).size(), 1U);
  EXPECT_EQ(labels_beyond(k_labels_bought, {{"topology.kubernetes.io/region", "eu-own"}}).size(),
            1U);
}

TEST(GrantedLabels, NothingIsSaidThatOthersGoBy) {
  for (const char* key :
       {"node-role.kubernetes.io/control-plane", "node-restriction.kubernetes.io/pci",
        "topology.kubernetes.io/zone", "kubernetes.io/arch", "cluster-autoscaler.kubernetes.io/x",
        "k8s.io/x", "liqo.io/type", "spillway.dev/provider"}) {
    EXPECT_EQ(labels_beyond(k_labels_bought, {{key, "x"}}), std::vector<std::string>{key});
  }
}

TEST(GrantedLabels, WhatCameInThatWayIsRemovedAlsoWhenItIsGrantedNoMore) {
  liqo::Texts seen = k_labels_bought;
  seen["zone"] = "north";
  EXPECT_TRUE(labels_to_remove(k_labels_bought, seen).empty());
  seen["node-role.kubernetes.io/control-plane"] = "";
  seen["liqo.io/more"] = "x";
  EXPECT_EQ(labels_to_remove(k_labels_bought, seen).size(), 2U);
}

}  // namespace
}  // namespace spillway::fabric
