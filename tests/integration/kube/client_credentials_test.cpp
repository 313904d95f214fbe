// Credentials in files that change, and a server whose certificate ends.
#include <filesystem>
#include <fstream>

#include "integration/cli/program.h"
#include "integration/kube/client_fixture.h"
#include "support/test_certificates.h"

namespace spillway::kube {
namespace {

using test::has;

class ClientCredentials : public ClientTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  net::TlsIdentity identity_of(const std::string& user, const std::string& group) {
    return thread_.run([&] {
      const auto made = live_.cluster().issue(user, {group}).value();
      return net::TlsIdentity{made.certificate_pem, made.key_pem};
    });
  }
  // With everything in files, as in folder_ now.
  Access by_files() const {
    Access access = admin_;
    access.files = {folder_ / "ca.crt", folder_ / "me.crt", folder_ / "me.key"};
    access.authorities_pem = cli::text_of(access.files.authorities);
    access.identity = {cli::text_of(access.files.certificate), cli::text_of(access.files.key)};
    return access;
  }
};

TEST_F(ClientCredentials, TokensOfAFileAreReadAgainWhenTheyAreRefused) {
  const std::string path = folder_ / "token";
  std::ofstream(path) << "expired\n";
  Access access = without_identity();
  access.token_file = path;
  open(access);
  const Status refused = look();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::denied) << refused.error().message();
  std::ofstream(path) << token() << "\n";
  const Status good = look();
  EXPECT_TRUE(good) << good.error().message();
}

TEST_F(ClientCredentials, CertificatesOfFilesAreReadAgainWhenTheyAreRefused) {
  test::TestAuthority stranger;
  const auto strange = stranger.issue({.name = "ada"});
  write("ca.crt", stranger.pem());
  write("me.crt", strange.certificate_pem);
  write("me.key", strange.key_pem);
  open(by_files());
  const Status server = look();
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, Code::denied) << server.error().message();
  write("ca.crt", admin_.authorities_pem);
  const Status client = look();
  ASSERT_FALSE(client) << "the server took a stranger";
  EXPECT_EQ(client.error().code, Code::denied) << client.error().message();
  // One after the other, as files are replaced: the half that does not fit changes nothing.
  const net::TlsIdentity good = identity_of("ada", "system:masters");
  write("me.crt", good.certificate_chain_pem);
  EXPECT_FALSE(look());
  write("me.key", good.key_pem);
  const Status told = look();
  EXPECT_TRUE(told) << told.error().message();
}

TEST_F(ClientCredentials, CertificatesOfFilesAreTakenWhileTheOldOnesAreStillGood) {
  const net::TlsIdentity before = identity_of("ada", "system:masters");
  const net::TlsIdentity after = identity_of("bob", "nobody");
  write("ca.crt", admin_.authorities_pem);
  write("me.crt", before.certificate_chain_pem);
  write("me.key", before.key_pem);
  open(by_files());
  EXPECT_TRUE(look());
  write("me.crt", after.certificate_chain_pem);
  write("me.key", after.key_pem);
  thread_.run([this] { return loop_.shift = RenewingChannel::k_keep, true; });
  const Status told = look();
  ASSERT_FALSE(told);
  EXPECT_TRUE(has(told.error().message(), "bob")) << told.error().message();
  // A file that is gone for a while is no reason to stop.
  std::filesystem::remove(folder_ / "me.key");
  thread_.run(
      [this] { return loop_.shift = RenewingChannel::k_keep + RenewingChannel::k_keep, true; });
  EXPECT_TRUE(has(look().error().message(), "bob"));
}

TEST_F(ClientCredentials, AFileThatIsGoneIsNamed) {
  Access access = without_identity();
  access.token_file = folder_ / "nothing";
  open(access);
  const Status told = look();
  ASSERT_FALSE(told);
  EXPECT_TRUE(has(told.error().message(), folder_ / "nothing")) << told.error().message();
}

TEST_F(ClientCredentials, AServerWhoseCertificateHasExpiredIsNotBelievedUntilItIsRenewed) {
  open(admin_);
  ASSERT_TRUE(look());
  thread_.run([this] {
    EXPECT_TRUE(cluster().expire_certificate());
    session_.reset();
    return true;
  });
  open(admin_);
  const Status told = look();
  ASSERT_FALSE(told);
  EXPECT_TRUE(has(told.error().message(), "expired")) << told.error().message();
  thread_.run([this] { return cluster().renew_certificate().has_value(); });
  EXPECT_TRUE(look());
}

}  // namespace
}  // namespace spillway::kube
