#include "net/tcp_probe.h"

#include <gtest/gtest.h>

#include "support/raw_client.h"
#include "support/test_server.h"

namespace spillway::net {
namespace {

TEST(TcpProbe, ReadsAddressesAndNoNames) {
  for (const char* good : {"192.0.2.7:443", "[2001:db8::7]:1", "127.0.0.1:65535"}) {
    EXPECT_TRUE(is_address_and_port(good)) << good;
  }
  for (const char* bad :
       {"", ":443", "192.0.2.7", "192.0.2.7:0", "192.0.2.7:65536", "localhost:443",
        "2001:db8::7:443", "[192.0.2.7]:443", "192.0.2.7:44x", "[::1", "::1]:5"}) {
    EXPECT_FALSE(is_address_and_port(bad)) << bad;
  }
}

TEST(TcpProbe, KnowsWhatIsOutsideOfTheOpenNetwork) {
  for (const char* open : {"8.8.8.8:53", "172.32.0.1:1", "100.128.0.1:1", "[2a00:1450::1]:443"}) {
    EXPECT_TRUE(is_public_address(open)) << open;
  }
  for (const char* closed : {"127.0.0.1:80",
                             "10.1.2.3:80",
                             "172.16.0.1:80",
                             "172.31.255.255:80",
                             "192.168.1.1:80",
                             "169.254.169.254:80",
                             "100.64.0.1:80",
                             "0.0.0.0:80",
                             "224.0.0.1:80",
                             "255.255.255.255:80",
                             "192.0.2.7:80",
                             "[::1]:80",
                             "[::]:80",
                             "[fe80::1]:80",
                             "[fd00::1]:80",
                             "[ff02::1]:80",
                             "[::ffff:10.0.0.1]:80",
                             "[2001:db8::1]:80",
                             "[2002:a00:1::]:80",
                             "nonsense"}) {
    EXPECT_FALSE(is_public_address(closed)) << closed;
  }
}

std::optional<int64_t> measured(const std::string& address) {
  Poll poll;
  std::optional<int64_t> told;
  measure_round_trip(poll, address, seconds(5), [&](std::optional<int64_t> micros) {
    told = micros;
    poll.stop();
  });
  poll.run();
  return told;
}

TEST(TcpProbe, MeasuresUntilAConnectionStands) {
  test::TestServer server;
  const auto micros = measured(fmt::format("127.0.0.1:{}", server.port()));
  ASSERT_TRUE(micros);
  EXPECT_GE(*micros, 0);
  EXPECT_LT(*micros, 5'000'000);
}

TEST(TcpProbe, HasNoFigureForWhatCannotBeReached) {
  EXPECT_EQ(measured("127.0.0.1:1"), std::nullopt);
  EXPECT_EQ(measured("not an address"), std::nullopt);
}

}  // namespace
}  // namespace spillway::net
