#include "demand/node_image.h"

#include <gtest/gtest.h>

#include "model/reserved.h"

namespace spillway::demand {
namespace {

// Labels and taints of an offer are its provider's words. What others act on is not for it to say:
// our agent lifts a taint of its own as often as Liqo would put it back.
TEST(NodeImage, TakesNoKeyThatOthersActOn) {
  model::Offer offer;
  offer.id = OfferId("milan/small");
  offer.labels = {{"disk", "ssd"}, {"liqo.io/type", "none"}, {"spillway.dev/provider", "oslo"}};
  for (const char* key : {"spillway.dev/provider-dead", "node.kubernetes.io/unschedulable",
                          "ToBeDeletedByClusterAutoscaler", "virtual-node.liqo.io/not-allowed"}) {
    offer.taints.push_back({key, "", model::TaintEffect::no_execute});
  }
  offer.taints.push_back({"example.com/gpu", "", model::TaintEffect::no_schedule});
  const NodeImage image = node_image(offer, "unit", {});
  EXPECT_EQ(*model::find_label(image.labels, "disk"), "ssd");
  EXPECT_EQ(*model::find_label(image.labels, "liqo.io/type"), "virtual-node");
  EXPECT_EQ(*model::find_label(image.labels, "spillway.dev/provider"), "milan");
  ASSERT_EQ(image.taints.size(), 2U);
  EXPECT_EQ(image.taints[0].key, "example.com/gpu");
  EXPECT_EQ(image.taints[1].key, "virtual-node.liqo.io/not-allowed");
}

TEST(ReservedKeys, AreThoseOfADomainAndBelowIt) {
  EXPECT_TRUE(model::is_reserved_label("liqo.io/type"));
  EXPECT_TRUE(model::is_reserved_label("offloading.liqo.io/name"));
  EXPECT_FALSE(model::is_reserved_label("notliqo.io/type"));
  EXPECT_FALSE(model::is_reserved_label("liqo.io"));
  EXPECT_FALSE(model::is_reserved_label("node.kubernetes.io/instance-type"));
  EXPECT_TRUE(model::is_reserved_taint("node.kubernetes.io/not-ready"));
}

TEST(ReservedKeys, AreWhatKubernetesActsOn) {
  for (const char* label :
       {"node-role.kubernetes.io/control-plane", "node-restriction.kubernetes.io/secure",
        "kubernetes.io/hostname", "node.kubernetes.io/exclude-disruption"}) {
    EXPECT_TRUE(model::is_reserved_label(label)) << label;
  }
  for (const char* label : {"kubernetes.io/arch", "topology.kubernetes.io/region", "hostname"}) {
    EXPECT_FALSE(model::is_reserved_label(label)) << label;
  }
  for (const char* note : {"cluster-autoscaler.kubernetes.io/scale-down-disabled",
                           "volumes.kubernetes.io/controller-managed-attach-detach", "k8s.io/x",
                           "spillway.dev/owner", "liqo.io/x"}) {
    EXPECT_TRUE(model::is_reserved_annotation(note)) << note;
  }
  EXPECT_FALSE(model::is_reserved_annotation("example.com/kubernetes.io"));
  EXPECT_FALSE(model::is_reserved_taint("node-role.kubernetes.io/control-plane"));
}

}  // namespace
}  // namespace spillway::demand
