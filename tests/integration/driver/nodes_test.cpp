// The autoscaler's back end `driver`: nodes by orders, over the driver's own face.
#include "integration/driver/driver_fixture.h"
#include "services/autoscaler/driver_nodes.h"
#include "support/cluster_channel.h"

namespace spillway::driver {
namespace {

using autoscaler::DriverNodes;
using autoscaler::NodeSight;

// Whoever is behind the port just now: also nobody.
struct Door final : net::Handler {
  explicit Door(std::optional<Face>& the_face) : face(the_face) {}
  void handle(net::Request request, const net::Peer& peer,
              std::shared_ptr<net::Exchange> exchange) override {
    if (face) return face->handle(std::move(request), peer, std::move(exchange));
    exchange->respond({503, {}, "nobody"});
  }
  net::Response refuse(int status, std::string_view) override { return {status, {}, {}}; }
  std::optional<Face>& face;
};

class DriverNodesTest : public DriverTest {
 protected:
  DriverNodesTest() {
    auto certificate = std::make_shared<net::PeerCertificate>();
    certificate->uri = "spillway://driver/tenant";
    certificate->not_after = k_last_instant;
    channel.emplace(loop(), door, net::Peer{"127.0.0.1:7", certificate});
    begin_nodes();
  }
  void begin_nodes() {
    nodes.emplace(loop(), random, *channel, log, "rome", "lab/rome");
    nodes->start([this] { changes += 1; });
  }
  static demand::NodeImage image_of(const std::string& unit) {
    model::Offer offer;
    offer.id = OfferId("milan/small");
    offer.shape.cpu_millis = 2000;
    offer.shape.memory_bytes = int64_t{4} << 30;
    offer.shape.pods = 20;
    offer.labels = {{"disk", "ssd"}};
    const UnitName name = parse_unit(unit).value();
    return demand::node_image(offer, unit, unit_provider_id(name.contract, name.number));
  }
  bool is_seen_as(const std::string& unit, NodeSight sight) {
    return comes([&] { return nodes->look(unit) == sight; });
  }

  Door door{face};
  std::optional<test::ClusterChannel> channel;
  std::optional<DriverNodes> nodes;
  int changes = 0;
};

TEST_F(DriverNodesTest, ANodeIsMadeAsItsImageSaysAndRemoved) {
  const std::string unit = unit_of(0);
  EXPECT_EQ(nodes->look(unit), NodeSight::unknown);
  ASSERT_TRUE(is_seen_as(unit, NodeSight::absent));
  std::optional<Status> made;
  nodes->make(image_of(unit), [&](const Status& status) { made = status; });
  ASSERT_TRUE(comes([&] { return made.has_value(); }));
  EXPECT_TRUE(*made) << made->error().message();
  ASSERT_TRUE(is_seen_as(unit, NodeSight::ready));
  EXPECT_GT(changes, 1);
  const model::Node dressed =
      liqos.get(*liqos.buyer, {fabric::liqo::k_virtual_nodes, "liqo-tenant-milan", unit});
  EXPECT_EQ(model::text_at(dressed, {"spec", "labels", "disk"}), "ssd");
  EXPECT_EQ(model::text_at(dressed, {"spec", "labels", "spillway.dev/offer"}), "small");
  std::optional<Status> again;
  nodes->make(image_of(unit), [&](const Status& status) { again = status; });
  ASSERT_TRUE(comes([&] { return again.has_value(); }));
  EXPECT_TRUE(*again);
  // A second unit of the same contract is alike, but for what is its own.
  std::optional<Status> second;
  nodes->make(image_of(unit_of(1)), [&](const Status& status) { second = status; });
  ASSERT_TRUE(is_seen_as(unit_of(1), NodeSight::ready));
  std::optional<Status> removed;
  nodes->remove(unit, [&](const Status& status) { removed = status; });
  ASSERT_TRUE(comes([&] { return removed.has_value(); }));
  EXPECT_TRUE(*removed);
  ASSERT_TRUE(is_seen_as(unit, NodeSight::absent));
  EXPECT_EQ(left_of(unit), std::vector<std::string>());
}

TEST_F(DriverNodesTest, OthersUnitsAreNotOurs) {
  put(unit_of(0, 2));
  ASSERT_TRUE(comes_to(unit_of(0, 2), "ready"));
  nodes->make(image_of(unit_of(0)), [](const Status&) {});
  ASSERT_TRUE(is_seen_as(unit_of(0), NodeSight::ready));
  begin_nodes();  // as after a restart
  ASSERT_TRUE(is_seen_as(unit_of(0), NodeSight::ready));
  EXPECT_EQ(nodes->names(), std::vector<std::string>{unit_of(0)});
}

TEST_F(DriverNodesTest, ADriverThatIsAwayIsNotKnownAndComesBack) {
  nodes->make(image_of(unit_of(0)), [](const Status&) {});
  ASSERT_TRUE(is_seen_as(unit_of(0), NodeSight::ready));
  driver->events().close_all();
  kill();
  ASSERT_TRUE(is_seen_as(unit_of(0), NodeSight::unknown));
  std::optional<Status> refused;
  nodes->make(image_of(unit_of(1)), [&](const Status& status) { refused = status; });
  ASSERT_TRUE(comes([&] { return refused.has_value(); }));
  ASSERT_FALSE(*refused);
  EXPECT_TRUE(describe(refused->error().code).not_now) << refused->error().message();
  start();
  EXPECT_TRUE(is_seen_as(unit_of(0), NodeSight::ready));
}

TEST_F(DriverNodesTest, ARefusalIsToldExactly) {
  demand::NodeImage image = image_of(unit_of(0));
  for (model::Label& label : image.labels) {
    if (label.key == demand::k_provider_label) label.value = "oslo";
  }
  std::optional<Status> refused;
  nodes->make(image, [&](const Status& status) { refused = status; });
  ASSERT_TRUE(comes([&] { return refused.has_value(); }));
  ASSERT_FALSE(*refused);
  EXPECT_EQ(refused->error().code, Code::denied);
}

}  // namespace
}  // namespace spillway::driver
