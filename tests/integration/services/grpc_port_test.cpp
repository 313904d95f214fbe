// The port's certificate files are replaced while it serves: connections from then on get the new
// ones, those that are there go on, and what does not go together is not taken.
#include "services/autoscaler/grpc_port.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "live/federation.h"
#include "net/grpc_client.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"

namespace spillway::services {
namespace {

using net::GrpcCode;
using test::TestAuthority;
using testing::HasSubstr;
using testing::Not;

class Same final : public net::GrpcHandler {
 public:
  void handle(net::GrpcCall call, Reply reply) override {
    reply({GrpcCode::ok, {}, std::move(call.message)});
  }
};

class GrpcPortTest : public testing::Test {
 protected:
  GrpcPortTest()
      : log_file_(
            ::open((folder_ / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)),
        log_(log_file_, Level::info, "autoscaler") {
    show(first_);
    keep("ca.pem", first_.pem());
    const GrpcPortOptions options{.listen = "127.0.0.1:0",
                                  .trust = net::GrpcTrust::mutual,
                                  .certificate = folder_ / "server.pem",
                                  .key = folder_ / "server.key",
                                  .client_authorities = folder_ / "ca.pem"};
    thread_.run([&] {
      port_ = std::make_unique<GrpcPort>(thread_.poll(), log_, options);
      const Status listening = port_->listen(handler_);
      EXPECT_TRUE(listening) << (listening ? "" : listening.error().message());
      return true;
    });
  }
  ~GrpcPortTest() override {
    thread_.run([this] {
      clients_.clear();
      port_.reset();
      return true;
    });
    ::close(log_file_);
  }

  void keep(const std::string& name, const std::string& text) {
    ASSERT_TRUE(pki::write_private(folder_ / name, text));
  }
  test::CertificateAndKey show(TestAuthority& authority) {
    auto made = authority.issue({.name = "server", .ip = "127.0.0.1", .is_server = true});
    keep("server.pem", made.certificate_pem + authority.pem());
    keep("server.key", made.key_pem);
    return made;
  }
  void look() {
    thread_.run([this] { return port_->look_now(), true; });
  }
  // A connection of its own, by somebody whom `issuer` vouches for and who trusts `trusted`.
  net::GrpcClient& connect(TestAuthority& trusted, TestAuthority& issuer) {
    const auto made = issuer.issue({.name = "cluster-autoscaler"});
    const net::TlsIdentity identity{made.certificate_pem, made.key_pem};
    net::ClientTrust trust;
    trust.authorities_pem = trusted.pem();
    trust.identity = &identity;
    net::GrpcClientOptions options;
    options.tls = net::client_context(std::move(trust)).value();
    return *thread_.run([&] {
      options.port = port_->port();
      return clients_.emplace_back(std::make_unique<net::GrpcClient>(thread_.poll(), options))
          .get();
    });
  }
  GrpcCode call(net::GrpcClient& client) {
    return thread_
        .ask<net::GrpcAnswer>([&](auto then) { client.call("/t.T/Same", "x", seconds(20), then); })
        .code;
  }
  std::string log() const { return test::read_text(folder_ / "log"); }

  test::TemporaryFolder folder_;
  TestAuthority first_{"first"};
  TestAuthority second_{"second"};
  int log_file_;
  LineLog log_;
  Same handler_;
  test::PollThread thread_;
  std::unique_ptr<GrpcPort> port_;
  std::vector<std::unique_ptr<net::GrpcClient>> clients_;
};

TEST_F(GrpcPortTest, ShowsNewConnectionsTheNewCertificate) {
  net::GrpcClient& early = connect(first_, first_);
  ASSERT_EQ(call(early), GrpcCode::ok);
  show(second_);
  EXPECT_EQ(call(connect(first_, first_)), GrpcCode::ok);  // nobody has looked yet
  look();
  EXPECT_EQ(call(connect(second_, first_)), GrpcCode::ok);
  EXPECT_EQ(call(connect(first_, first_)), GrpcCode::unavailable);
  EXPECT_EQ(call(early), GrpcCode::ok);
  EXPECT_THAT(log(), HasSubstr("certificate taken into use"));
}

TEST_F(GrpcPortTest, KeepsTheLastGoodOneWhenTheFilesDoNotGoTogether) {
  const auto next = show(second_);
  keep("server.key", first_.issue({}).key_pem);
  look();
  EXPECT_EQ(call(connect(first_, first_)), GrpcCode::ok);
  EXPECT_THAT(log(), HasSubstr("certificate not taken; the last good one holds"));
  EXPECT_THAT(log(), Not(HasSubstr("taken into use")));
  keep("server.key", next.key_pem);  // the other half of the replacement
  look();
  EXPECT_EQ(call(connect(second_, first_)), GrpcCode::ok);
}

TEST_F(GrpcPortTest, KeepsTheLastGoodOneWhenAFileIsGoneOrNonsense) {
  std::filesystem::remove(folder_ / "server.pem");
  look();
  EXPECT_EQ(call(connect(first_, first_)), GrpcCode::ok);
  EXPECT_THAT(log(), HasSubstr("server.pem"));  // it names what is missing
  keep("server.pem", "not a certificate\n");
  look();
  EXPECT_EQ(call(connect(first_, first_)), GrpcCode::ok);
  show(first_);
  keep("ca.pem", "");
  look();
  EXPECT_EQ(call(connect(first_, first_)), GrpcCode::ok);
  EXPECT_EQ(call(connect(first_, second_)), GrpcCode::unavailable);
}

TEST_F(GrpcPortTest, TakesCallersOfTheNewAuthority) {
  EXPECT_EQ(call(connect(first_, second_)), GrpcCode::unavailable);
  keep("ca.pem", first_.pem() + second_.pem());  // both for as long as both are in use
  look();
  EXPECT_EQ(call(connect(first_, first_)), GrpcCode::ok);
  EXPECT_EQ(call(connect(first_, second_)), GrpcCode::ok);
  keep("ca.pem", second_.pem());
  look();
  EXPECT_EQ(call(connect(first_, first_)), GrpcCode::unavailable);
  EXPECT_EQ(call(connect(first_, second_)), GrpcCode::ok);
}

}  // namespace
}  // namespace spillway::services
