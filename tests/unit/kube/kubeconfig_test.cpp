#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "kube/access.h"
#include "support/temporary_folder.h"

namespace spillway::kube {
namespace {

// Of every field that matters one line, to be replaced by tests.
std::string kubeconfig(const std::string& cluster, const std::string& user) {
  return fmt::format(R"(apiVersion: v1
kind: Config
preferences: {{}}
current-context: main
contexts:
- name: main
  context: {{cluster: site, user: me, namespace: team}}
- name: lost
  context: {{cluster: nowhere, user: me}}
- name: anonymous
  context: {{cluster: site}}
clusters:
- name: site
  cluster:
    server: https://192.0.2.7:6443/k8s/site/
    {}
users:
- name: me
  user:
    {}
)",
                     cluster, user);
}

const std::string k_authority = "certificate-authority-data: " + to_base64("AUTHORITY");

TEST(WireKubeconfig, GivesServerAuthorityAndIdentity) {
  const auto access = read_wire_kubeconfig(
      kubeconfig(k_authority, fmt::format("{{client-certificate-data: {}, client-key-data: {}}}",
                                          to_base64("CERT"), to_base64("KEY"))));
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->server.host, "192.0.2.7");
  EXPECT_EQ(access->server.port, 6443);
  EXPECT_EQ(access->prefix, "/k8s/site");
  EXPECT_EQ(access->authorities_pem, "AUTHORITY");
  ASSERT_TRUE(access->identity);
  EXPECT_EQ(access->identity->certificate_chain_pem, "CERT");
  EXPECT_EQ(access->identity->key_pem, "KEY");
  EXPECT_EQ(access->space, "team");
  EXPECT_EQ(access->files.authorities + access->files.certificate + access->files.key, "");
}

TEST(WireKubeconfig, MayNameNoFileNoProgramAndNoWayAroundTls) {
  const std::string token = "token: abc";
  const std::vector<std::array<std::string, 3>> refused = {
      {"certificate-authority: /etc/passwd", token, "certificate-authority"},
      {k_authority, "client-key: /etc/key", "client-key"},
      {k_authority, "client-certificate: cert.pem", "client-certificate"},
      {k_authority, "tokenFile: /var/token", "tokenFile"},
      {k_authority, "exec: {command: /bin/true}", "exec"},
      {k_authority, "auth-provider: {name: gcp}", "auth-provider"},
      {k_authority, "{username: a, password: b}", "username"},
      {k_authority, "{token: abc, as: admin}", "as"},
      {"insecure-skip-tls-verify: true", token, "insecure-skip-tls-verify"},
      {k_authority + "\n    proxy-url: http://192.0.2.1", token, "proxy-url"},
      {"tls-server-name: x", token, "certificate-authority-data"},
      {k_authority, "token: \"a b\"", "token"},
      {k_authority, "client-key-data: '!'", "client-key-data"},
      {k_authority, "client-key-data: " + to_base64("KEY"), "needs its"},
  };
  for (const auto& [cluster, user, named] : refused) {
    const auto access = read_wire_kubeconfig(kubeconfig(cluster, user));
    ASSERT_FALSE(access) << cluster << " " << user;
    EXPECT_EQ(access.error().code, Code::invalid);
    EXPECT_NE(access.error().message().find(named), std::string::npos) << access.error().message();
  }
}

TEST(WireKubeconfig, RefusesPlainHttpAndWhatIsMissing) {
  std::string plain = kubeconfig(k_authority, "token: abc");
  plain.replace(plain.find("https://"), 8, "http://");
  EXPECT_FALSE(read_wire_kubeconfig(plain));
  const std::string whole = kubeconfig(k_authority, "token: abc");
  EXPECT_FALSE(read_wire_kubeconfig(whole, "lost"));
  EXPECT_FALSE(read_wire_kubeconfig(whole, "none"));
  EXPECT_FALSE(read_wire_kubeconfig("[]"));
  EXPECT_FALSE(read_wire_kubeconfig("{"));
  EXPECT_TRUE(read_wire_kubeconfig(whole, "anonymous"));
  EXPECT_TRUE(
      read_wire_kubeconfig(whole, "none").error().next.starts_with("use one that it has: \""));
}

TEST(OwnKubeconfig, MayNameFilesAndPrograms) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "ca.crt") << "AUTHORITY";
  std::ofstream(folder / "config")
      << kubeconfig("certificate-authority: ca.crt",
                    "{tokenFile: token, exec: {command: ./plugin, args: [get, token], env: [{name: "
                    "A, value: b}]}}");
  const auto access = read_own_kubeconfig(folder / "config");
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->authorities_pem, "AUTHORITY");
  EXPECT_EQ(access->files.authorities, folder / "ca.crt");
  EXPECT_EQ(access->token_file, folder / "token");
  ASSERT_TRUE(access->plugin);
  EXPECT_EQ(access->plugin->command, folder / "./plugin");
  EXPECT_EQ(access->plugin->arguments, (std::vector<std::string>{"get", "token"}));
  EXPECT_EQ(access->plugin->environment[0].second, "b");
}

TEST(OwnKubeconfig, SaysWhichFilesAreToBeReadAgain) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "me.crt") << "CERT";
  std::ofstream(folder / "me.key") << "KEY";
  std::ofstream(folder / "config")
      << kubeconfig(k_authority, fmt::format("{{client-certificate: me.crt, client-key: {}}}",
                                             folder / "me.key"));
  const auto access = read_own_kubeconfig(folder / "config");
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->identity->key_pem, "KEY");
  EXPECT_EQ(access->files.certificate, folder / "me.crt");
  EXPECT_EQ(access->files.key, folder / "me.key");
  EXPECT_EQ(access->files.authorities, "") << "inline: there is nothing to read again";
}

TEST(PodAccess, ReadsTheFolderAndTheEnvironment) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "ca.crt") << "AUTHORITY";
  std::ofstream(folder / "namespace") << "spillway";
  const auto access = read_pod_access(
      {{"KUBERNETES_SERVICE_HOST", "2001:db8::1"}, {"KUBERNETES_SERVICE_PORT", "443"}},
      folder.path().string());
  ASSERT_TRUE(access) << access.error().message();
  EXPECT_EQ(access->server.host, "2001:db8::1");
  EXPECT_EQ(access->space, "spillway");
  EXPECT_EQ(access->files.authorities, folder / "ca.crt");
  EXPECT_EQ(access->token_file, folder / "token");
  EXPECT_FALSE(read_pod_access({}, folder.path()));
}

}  // namespace
}  // namespace spillway::kube
