// The client against an API server that misbehaves, over TLS: credentials that change, and a watch
// through everything that API servers do.
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "integration/cli/program.h"
#include "kube/watch.h"
#include "live/live_cluster.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"
#include "support/text.h"

namespace spillway::kube {
namespace {

using embedded::Fault;
using test::has;

// Real, but for the hour.
class ShiftedLoop final : public host::Loop {
 public:
  explicit ShiftedLoop(net::Poll& poll) : loop_(poll) {}
  Instant now() override { return loop_.now() + shift; }
  void post(host::Task task) override { loop_.post(std::move(task)); }
  void after(Duration delay, host::Task task) override { loop_.after(delay, std::move(task)); }

  Duration shift = {};

 private:
  services::ServiceLoop loop_;
};

class ClientTest : public testing::Test {
 protected:
  ~ClientTest() override {
    thread_.run([this] {
      watch_.reset();
      session_.reset();
      return true;
    });
  }

  void open(const Access& access) {
    thread_.run([&] {
      session_ = Session::open(thread_.poll(), loop_, random_, access).value();
      return true;
    });
  }
  embedded::Cluster& cluster() { return live_.cluster(); }
  // As somebody with a token of the cluster's.
  Access without_identity() const {
    Access access = admin_;
    access.identity.reset();
    return access;
  }
  std::string token() {
    return thread_.run([this] { return cluster().issue_token("ada", {"system:masters"}); });
  }
  Status look() {
    const auto told = thread_.ask<Result<Object>>([this](auto then) {
      session_->api().get(k_namespaces, {"", "default"}, then);
    });
    return told ? Status() : tl::unexpected(told.error());
  }
  void fault(const Fault& fault) {
    thread_.run([&] {
      cluster().faults().add(fault);
      return true;
    });
  }
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
  std::string script(const std::string& text) const {
    const std::string path = folder_ / "plugin";
    std::ofstream(path) << "#!/bin/sh\n" << text;
    ::chmod(path.c_str(), 0700);
    return path;
  }
  Access by_plugin(const std::string& path) const {
    Access access = without_identity();
    access.plugin = ExecPlugin{path, {"get-token"}, {{"GREETING", "hello"}}};
    access.plugin->hint = "install the plugin";
    return access;
  }

  test::TemporaryFolder folder_;
  test::LiveCluster live_;
  test::PollThread& thread_ = live_.thread();
  const Access admin_ = live_.admin();
  ShiftedLoop loop_{thread_.poll()};
  host::SystemRandom random_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Watch> watch_;
};

TEST_F(ClientTest, TokensOfAFileAreReadAgainWhenTheyAreRefused) {
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

TEST_F(ClientTest, CertificatesOfFilesAreReadAgainWhenTheyAreRefused) {
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

TEST_F(ClientTest, CertificatesOfFilesAreTakenWhileTheOldOnesAreStillGood) {
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

TEST_F(ClientTest, AFileThatIsGoneIsNamed) {
  Access access = without_identity();
  access.token_file = folder_ / "nothing";
  open(access);
  const Status told = look();
  ASSERT_FALSE(told);
  EXPECT_TRUE(has(told.error().message(), folder_ / "nothing")) << told.error().message();
}

TEST_F(ClientTest, APluginIsRunOnceForAsLongAsItsTokenLasts) {
  const std::string runs = folder_ / "runs";
  open(by_plugin(script(fmt::format(
      R"(echo "$1 $GREETING $KUBERNETES_EXEC_INFO" >>'{}'
         echo '{{"kind":"ExecCredential","status":{{"token":"{}","expirationTimestamp":"2099-01-01T00:00:00Z"}}}}'
      )",
      runs, token()))));
  for (int i = 0; i < 5; ++i) {
    const Status told = look();
    ASSERT_TRUE(told) << told.error().message();
  }
  std::ifstream file(runs);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_TRUE(has(line, "get-token hello {")) << line;
  EXPECT_FALSE(std::getline(file, line)) << "it ran again";
}

TEST_F(ClientTest, APluginWhoseTokenHasExpiredIsRunAgain) {
  const std::string runs = folder_ / "runs";
  open(by_plugin(script(fmt::format(
      R"(echo run >>'{}'
         echo '{{"status":{{"token":"{}","expirationTimestamp":"2001-01-01T00:00:00Z"}}}}'
      )",
      runs, token()))));
  EXPECT_TRUE(look());
  EXPECT_TRUE(look());
  std::ifstream file(runs);
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(file), {}, '\n'), 2);
}

TEST_F(ClientTest, APluginThatFailsIsNamedWithItsHint) {
  open(by_plugin(folder_ / "there-is-none"));
  Status told = look();
  ASSERT_FALSE(told);
  EXPECT_TRUE(has(told.error().message(), "install the plugin")) << told.error().message();
  for (const std::string text : {"exit 1\n", "echo nonsense\n", "echo '{\"status\":{}}'\n"}) {
    open(by_plugin(script(text)));
    told = look();
    ASSERT_FALSE(told) << text;
    EXPECT_TRUE(has(told.error().message(), "plugin")) << told.error().message();
  }
}

TEST_F(ClientTest, WhatAPluginComplainsAboutIsInTheErrorAndWhatItPrintsIsNowhere) {
  const std::string secret(100, 's');
  open(
      by_plugin(script(fmt::format("echo {0}\n"
                                   "printf 'first\\nsign in \\033[31magain, not with {0}\\n' >&2\n"
                                   "exit 1\n",
                                   secret))));
  testing::internal::CaptureStderr();
  const Status told = look();
  const std::string raw = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(told);
  const std::string message = told.error().message();
  EXPECT_TRUE(has(message, "first / sign in ?[31magain, not with ...")) << message;
  EXPECT_FALSE(has(message, secret)) << message;
  EXPECT_EQ(raw, "");
}

TEST_F(ClientTest, APluginThatDoesNotEndIsEndedWithItsChildren) {
  Access access =
      by_plugin(script(fmt::format("sleep 300 &\n"
                                   "echo $! >'{0}.new'\n"
                                   "mv '{0}.new' '{0}'\n"
                                   "echo waiting >&2\n"
                                   "wait\n",
                                   folder_ / "child")));
  access.plugin->patience = seconds(2);
  open(access);
  const Status told = look();
  ASSERT_FALSE(told);
  EXPECT_TRUE(has(told.error().message(), "it has not ended after 2s")) << told.error().message();
  EXPECT_TRUE(has(told.error().message(), "waiting")) << told.error().message();
  pid_t child = 0;
  ASSERT_TRUE(std::ifstream(folder_ / "child") >> child);
  EXPECT_TRUE(cli::ends(child, std::chrono::seconds(10)));
}

TEST_F(ClientTest, APluginsChildrenAreNotWaitedForWhenItHasEnded) {
  open(by_plugin(
      script(fmt::format("sleep 300 &\n"
                         "echo $! >'{}'\n"
                         "echo '{{\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"{}\"}}}}'\n",
                         folder_ / "child", token()))));
  const auto begun = std::chrono::steady_clock::now();
  const Status told = look();
  EXPECT_TRUE(told) << told.error().message();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  pid_t child = 0;
  ASSERT_TRUE(std::ifstream(folder_ / "child") >> child);
  EXPECT_TRUE(cli::ends(child, std::chrono::seconds(10)));
}

TEST_F(ClientTest, AServerWhoseCertificateHasExpiredIsNotBelievedUntilItIsRenewed) {
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

TEST_F(ClientTest, AfterALostAnswerTheNextStepIsOneThatAClusterHas) {
  open(admin_);
  fault({.verb = "create", .loses_answer = true});
  const auto told = thread_.ask<Result<Object>>([this](auto then) {
    session_->api().create(k_config_maps, new_object(k_config_maps, "ConfigMap", {"default", "a"}),
                           then);
  });
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::unavailable);
  EXPECT_TRUE(has(told.error().next, "look whether it was done")) << told.error().message();
  EXPECT_FALSE(has(told.error().next, "key")) << "keys are the broker's";
}

// Everything at once, while objects come and go: in the end the watch knows what is there.
class WatchUnderFaults : public ClientTest {
 protected:
  void start_watch() {
    thread_.run([this] { return watch_.reset(), true; });
    open(admin_);
    thread_.run([this] {
      heard_.clear();
      WatchCalls calls;
      calls.on_put = [this](const Object& object) { heard_.emplace(name_in(object)); };
      calls.on_gone = [this](const Name& name) { heard_.erase(name.name); };
      watch_ = std::make_unique<Watch>(session_->api(), k_config_maps,
                                       Wanted{.space = "default", .labels = "test=yes"},
                                       std::move(calls));
      watch_->start();
      return true;
    });
  }
  // Straight into the cluster: no fault is in the way.
  void put(const std::string& name) {
    Object made = new_object(k_config_maps, "ConfigMap", {"default", name});
    model::put(model::ensure(made, {"metadata", "labels"}), "test", model::text_node("yes"));
    there_.insert(name);
    change([&](embedded::Objects& objects, const embedded::Kind& kind) {
      EXPECT_TRUE(objects.create(kind, std::move(made)));
    });
  }
  void remove(std::string name) {  // not a reference: it may be one to there_
    there_.erase(name);
    change([&](embedded::Objects& objects, const embedded::Kind& kind) {
      EXPECT_TRUE(objects.remove(kind, {"default", name}));
    });
  }
  template <class F>
  void change(F how) {
    thread_.run([&] {
      embedded::Objects& objects = cluster().objects();
      const embedded::Kind* kind = objects.registry.find("", "v1", "configmaps");
      EXPECT_NE(kind, nullptr);
      if (kind != nullptr) how(objects, *kind);
      return true;
    });
  }
  int64_t injected() {
    return thread_.run([this] { return cluster().faults().injected(); });
  }
  static bool comes_true(const std::function<bool()>& is_so) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < until) {
      if (is_so()) return true;
      std::this_thread::yield();
    }
    return false;
  }
  bool knows_all() {
    return comes_true([this] { return thread_.run([this] { return heard_ == there_; }); });
  }

  std::set<std::string> heard_;
  std::set<std::string> there_;
};

TEST_F(WatchUnderFaults, KnowsInTheEndWhatIsThere) {
  const std::vector<std::pair<std::string, Fault>> faults = {
      {"500", {.per_mille = 500, .code = 500}},
      {"429", {.per_mille = 500, .code = 429, .retry_after_seconds = 1}},
      {"410", {.verb = "watch", .per_mille = 700, .code = 410}},
      {"504", {.verb = "watch", .per_mille = 500, .code = 504}},
      {"cut", {.per_mille = 500, .cuts = true}},
      {"lost answers", {.per_mille = 500, .loses_answer = true}},
      {"garbled", {.verb = "list", .per_mille = 500, .garbles = true}},
      {"cut after an event", {.verb = "watch", .cut_after_events = 1}},
      {"garbage after an event", {.verb = "watch", .garbage_after_events = 1}},
      {"slow bytes", {.verb = "watch", .drop_bytes = 7, .drop_every = milliseconds(1)}},
      {"short streams", {.verb = "watch", .cut_after = milliseconds(50)}},
  };
  // Rules hold for what is asked for later: so that each comes to its turn, no stream lasts long.
  const Fault k_short{.verb = "watch", .cut_after = milliseconds(30)};
  int number = 0;
  for (const auto& [name, each] : faults) {
    fault(each);
    fault(k_short);
    start_watch();  // another one: waits that grew under the last fault would only make this slow
    const int64_t before = injected();
    for (int i = 0; i < 20; ++i) {
      put(fmt::format("c{}", number++));
      if (i % 3 == 0) remove(*there_.begin());
    }
    EXPECT_TRUE(comes_true([&] { return injected() > before; })) << name << " was never met";
    if (number % 2 == 0) thread_.run([this] { return cluster().forget_history(), true; });
    thread_.run([this] { return cluster().faults().clear(), true; });
    fault(k_short);
    EXPECT_TRUE(knows_all()) << name;
    // Without a storm.
    const WatchCounts counts = thread_.run([this] { return watch_->counts(); });
    EXPECT_LT(counts.lists, 20U) << name;
    EXPECT_LT(counts.streams, 50U) << name;
  }
}

TEST_F(WatchUnderFaults, AServerThatComesBackFromABackupIsListedAgain) {
  start_watch();
  for (int i = 0; i < 10; ++i) put(fmt::format("c{}", i));
  EXPECT_TRUE(knows_all());
  thread_.run([this] { return cluster().restart(milliseconds(300), 1000), true; });
  put("after");
  remove("c3");
  EXPECT_TRUE(knows_all());
}

}  // namespace
}  // namespace spillway::kube
