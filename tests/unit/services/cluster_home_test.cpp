#include "services/agent/cluster_home.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "model/json.h"
#include "pki/authority.h"
#include "pki/private_file.h"
#include "pki/request.h"
#include "pki/token.h"
#include "services/wire/fields.h"
#include "support/temporary_folder.h"
#include "unit/services/agent_fixture.h"

namespace spillway::agent {
namespace {

// The objects of an API server, by path, with versions that must fit.
struct Shelf {
  std::map<std::string, kube::Object> objects;
  int version = 0;
  bool takes_new = true;

  static net::Response status(int code, std::string_view reason) {
    return {code, {}, fmt::format(R"({{"kind":"Status","code":{},"reason":"{}"}})", code, reason)};
  }
  net::Response answer(const net::Request& request) {
    std::string path = request.target.substr(0, request.target.find('?'));
    if (request.method == "GET") {
      if (!objects.contains(path)) return status(404, "NotFound");
      return {200, {}, model::to_json(objects[path])};
    }
    auto body = model::parse_json(request.body, "body", size_t{8} << 20).value();
    if (request.method == "POST") {
      if (!takes_new) return status(403, "Forbidden");
      path += "/" + std::string(kube::name_in(body));
      if (objects.contains(path)) return status(409, "AlreadyExists");
    } else if (!objects.contains(path)) {
      return status(404, "NotFound");
    } else if (kube::version_in(body) != kube::version_in(objects[path])) {
      return status(409, "Conflict");
    }
    return {200, {}, model::to_json(store(path, std::move(body)))};
  }
  kube::Object& store(const std::string& path, kube::Object body) {
    model::put(model::ensure(body, {"metadata"}), "resourceVersion",
               model::text_node(std::to_string(++version)));
    return objects[path] = std::move(body);
  }
  std::string text_of(const std::string& secret, std::string_view file) {
    const auto coded = model::text_at(objects[secret], {"data", file});
    return from_base64(coded).value_or("");
  }
  // Somebody who does not know of us.
  void write(const std::string& secret, std::string_view file, std::string_view bytes) {
    kube::Object object = objects[secret];
    model::put(model::ensure(object, {"data"}), file, model::text_node(to_base64(bytes)));
    store(secret, std::move(object));
  }
  void label(const std::string& secret) {
    kube::Object object = objects[secret];
    model::put(model::ensure(object, {"metadata", "labels"}), "release", model::text_node("2"));
    store(secret, std::move(object));
  }
};

const std::string k_space = "/api/v1/namespaces/spillway/secrets";
const std::string k_identity = k_space + "/a-identity";
const std::string k_state = k_space + "/a-state";

class ClusterHomeTest : public ::testing::Test {
 protected:
  ClusterHomeTest() : authority(pki::Authority::create("lab", loop.now() - hours(24)).value()) {}

  wire::CertificateAnswer certify(const pki::PublicKey& key) {
    wire::CertificateAnswer told;
    told.federation = "lab";
    told.name = "edge-1";
    told.roles = {model::Role::provider};
    told.not_after = loop.now() + hours(24);
    told.certificate = authority.issue_member(key, "edge-1", loop.now(), told.not_after).value();
    told.authorities = authority.certificate_pem();
    return told;
  }
  void put_identity() {
    const pki::Key key = pki::Key::generate_member();
    IdentityFiles files{{k_key_file, std::string(key.to_pem().view())}};
    EXPECT_TRUE(put_answer(files, "https://broker:7443", certify(key.public_key())));
    kube::Object secret = kube::new_object(kube::k_secrets, "Secret", {"spillway", "a-identity"});
    shelf.store(k_identity, std::move(secret));
    for (const auto& [name, bytes] : files) shelf.write(k_identity, name, bytes);
  }
  std::string put_token() {
    const pki::Token token =
        pki::make_token(pki::fingerprint_of(authority.certificate_pem()).value());
    std::string path = folder / "token";
    EXPECT_TRUE(pki::write_private(path, std::string(pki::to_text(token).view()) + "\n"));
    return path;
  }

  test::TemporaryFolder folder;
  test::ManualLoop loop;
  pki::Authority authority;
  MemoryLog log;
  Shelf shelf;
};

struct Tenant {
  Tenant(test::ManualLoop& loop, MemoryLog& log, Shelf& the_shelf, const std::string& name,
         const std::string& token_file = {}, StateKind kind = agent_state())
      : channel(loop),
        broker(loop),
        shelf(the_shelf),
        api(loop, random, channel, {.patience = seconds(5)}),
        home(api, log,
             {{"spillway", "a-identity"},
              {"spillway", "a-state"},
              {"spillway", "a"},
              name,
              token_file.empty() ? "" : "https://broker:7443",
              token_file,
              std::move(kind)},
             {[this](const Credentials& told) { credentials.push_back(told); },
              [this](const Error& error) { lost.push_back(error); },
              [this](const std::string&, const std::string& pinned) {
                pinned_authority = pinned;
                auto channel_to = std::make_unique<Forward>();
                channel_to->to = &broker;
                return Result<std::unique_ptr<net::Channel>>(std::move(channel_to));
              }}) {
    channel.script = [this](const net::Request& request) { return answer(request); };
    home.start();
  }

  struct Forward : net::Channel {
    void send(net::Request request, net::OnResponse then) override {
      to->send(std::move(request), std::move(then));
    }
    std::unique_ptr<net::Reading> open(net::Request, net::StreamCalls) override { return nullptr; }
    test::ScriptedChannel* to = nullptr;
  };

  std::optional<Result<net::Response>> answer(const net::Request& request) {
    if (is_cut) return test::lost();
    const bool is_write = request.method == "PUT" && request.target.starts_with(k_space);
    if (is_write && loses_requests > 0) {
      --loses_requests;
      return test::lost();
    }
    Result<net::Response> told = shelf.answer(request);
    if (!is_write || loses_answers == 0) return told;
    --loses_answers;
    return test::lost();
  }

  bool is_home() const { return !credentials.empty() && lost.empty(); }
  // Of the save that was begun last.
  std::optional<Status> saved;
  void save(const std::string& json) {
    saved.reset();
    home.state().save(json, [this](Status status) { saved = std::move(status); });
  }

  host::SeededRandom random{7};
  test::ScriptedChannel channel;
  test::ScriptedChannel broker;
  Shelf& shelf;
  kube::Api api;
  bool is_cut = false;
  int loses_requests = 0;  // writes of Secrets that never arrive
  int loses_answers = 0;   // and those that are done, and nobody hears of it
  std::string pinned_authority;
  std::vector<Credentials> credentials;
  std::vector<Error> lost;
  ClusterHome home;
};

std::string state_text(int64_t reports) {
  AgentState state;
  state.cluster = ClusterId("edge-1");
  state.reports = reports;
  return to_json(state);
}

TEST_F(ClusterHomeTest, OneIsInAndTheOtherGoesOnWithItsStateWhenItIsGone) {
  put_identity();
  auto a = std::make_unique<Tenant>(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  ASSERT_TRUE(a->is_home());
  EXPECT_EQ(a->home.state().load(), "");
  Tenant b(loop, log, shelf, "b");
  a->save(state_text(1000));
  loop.run_for(minutes(1));
  ASSERT_TRUE(a->saved && *a->saved);
  EXPECT_FALSE(b.is_home());
  EXPECT_EQ(b.home.holder(), "a");
  a->is_cut = true;  // and dies
  a.reset();
  loop.run_for(seconds(30));
  ASSERT_TRUE(b.is_home());
  EXPECT_EQ(b.credentials.at(0).name, "edge-1");
  EXPECT_EQ(b.home.state().load(), state_text(1000));
}

TEST_F(ClusterHomeTest, KeepsTheStateOfAnotherServiceUnderItsOwnName) {
  put_identity();
  StateKind ledger{"ledger",
                   [](const std::string& text, const std::string& source) -> Status {
                     if (text == "whole") return {};
                     return fail(Code::invalid, source, "it is not whole", "mend it");
                   },
                   "move it away", "units are lost"};
  Tenant a(loop, log, shelf, "a", {}, ledger);
  loop.run_for(seconds(1));
  ASSERT_TRUE(a.is_home());
  a.save("whole");
  loop.run_for(seconds(1));
  EXPECT_EQ(shelf.text_of(k_state, "ledger.json"), "whole");
  EXPECT_EQ(a.home.state().load(), "whole");
  a.save("half");
  loop.run_for(seconds(1));
  const auto refused = a.home.state().load();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().next, "remove ledger.json from it: units are lost");
}

TEST_F(ClusterHomeTest, WhoLeavesIsFollowedAtOnce) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  Tenant b(loop, log, shelf, "b");
  loop.run_for(seconds(5));
  bool is_done = false;
  a.home.leave([&] { is_done = true; });
  loop.run_for(seconds(4));
  EXPECT_TRUE(is_done);
  EXPECT_TRUE(a.lost.empty());
  EXPECT_TRUE(b.is_home());
}

TEST_F(ClusterHomeTest, AHolderThatCannotRenewIsOutBeforeAnotherIsInAndWritesNothingMore) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  Tenant b(loop, log, shelf, "b");
  loop.run_for(seconds(5));
  a.is_cut = true;
  for (int i = 0; i < 300; ++i) {
    loop.run_for(milliseconds(100));
    ASSERT_FALSE(a.is_home() && b.is_home());
  }
  EXPECT_EQ(a.lost.size(), 1U);
  ASSERT_TRUE(b.is_home());
  b.save(state_text(2000));
  loop.run_for(seconds(1));
  a.is_cut = false;
  a.save(state_text(1000));  // as if it did not know
  loop.run_for(seconds(1));
  ASSERT_TRUE(a.saved);
  EXPECT_FALSE(*a.saved);
  EXPECT_EQ(shelf.text_of(k_state, ClusterState::k_file), state_text(2000));
  EXPECT_TRUE(b.is_home());
}

TEST_F(ClusterHomeTest, AWriteThatWasUnderWayBeforeTheClaimIsRefused) {
  put_identity();
  auto a = std::make_unique<Tenant>(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  a->save(state_text(1000));
  loop.run_for(seconds(1));
  const net::Request late = [&] {
    kube::Object object = shelf.objects[k_state];
    return net::Request{"PUT", k_state, {}, model::to_json(object)};
  }();
  a->is_cut = true;
  a.reset();
  Tenant b(loop, log, shelf, "b");
  loop.run_for(seconds(30));
  ASSERT_TRUE(b.is_home());
  EXPECT_EQ(shelf.answer(late).status, 409);
}

TEST_F(ClusterHomeTest, AnAnswerThatIsLostIsFoundOut) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  a.loses_answers = 1;
  a.save(state_text(1000));
  loop.run_for(seconds(1));
  ASSERT_TRUE(a.saved);
  EXPECT_FALSE(*a.saved);  // nobody knows
  a.loses_requests = 1;
  a.save(state_text(2000));
  loop.run_for(seconds(1));
  EXPECT_FALSE(*a.saved);
  a.save(state_text(3000));
  loop.run_for(seconds(1));
  EXPECT_TRUE(*a.saved);
  EXPECT_EQ(shelf.text_of(k_state, ClusterState::k_file), state_text(3000));
  EXPECT_TRUE(a.is_home());
}

TEST_F(ClusterHomeTest, AWriteOfOursThatArrivesLateIsNoReasonToStop) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  std::optional<net::Request> late;
  a.channel.script = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
    const bool is_write = request.method == "PUT" && request.target.starts_with(k_state);
    if (!is_write) return a.answer(request);
    if (!late) {
      late = request;
      return test::lost();
    }
    if (!late->method.empty()) shelf.answer(*late);
    late->method.clear();
    return a.answer(request);
  };
  a.save(state_text(1000));
  loop.run_for(seconds(1));
  ASSERT_FALSE(*a.saved);
  a.save(state_text(2000));
  loop.run_for(seconds(1));
  EXPECT_TRUE(*a.saved);
  EXPECT_EQ(shelf.text_of(k_state, ClusterState::k_file), state_text(2000));
  EXPECT_TRUE(a.is_home());
}

TEST_F(ClusterHomeTest, ForeignLabelsAreNoReasonToStopForeignDataIs) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  a.save(state_text(1000));
  loop.run_for(seconds(1));
  shelf.label(k_state);
  a.save(state_text(2000));
  loop.run_for(seconds(1));
  EXPECT_TRUE(*a.saved);
  EXPECT_EQ(kube::label_in(shelf.objects[k_state], "release"), "2");
  shelf.write(k_state, ClusterState::k_file, "another's");
  a.save(state_text(3000));
  loop.run_for(seconds(1));
  EXPECT_FALSE(*a.saved);
  ASSERT_EQ(a.lost.size(), 1U);
  EXPECT_NE(a.lost[0].message().find("somebody else"), std::string::npos);
  EXPECT_EQ(shelf.text_of(k_state, ClusterState::k_file), "another's");
}

TEST_F(ClusterHomeTest, AStateThatIsTooLargeIsNotSavedAndTheLastOneStays) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  a.save(state_text(1000));
  loop.run_for(seconds(1));
  a.save(std::string(HeldSecret::k_most_bytes + 1, 'x'));
  loop.run_for(seconds(1));
  ASSERT_FALSE(*a.saved);
  EXPECT_NE(a.saved->error().message().find("1048576"), std::string::npos);
  EXPECT_TRUE(a.is_home());
  a.save(state_text(2000));
  loop.run_for(seconds(1));
  EXPECT_TRUE(*a.saved);
}

TEST_F(ClusterHomeTest, JoinsWithATokenAndKeepsTheKeyBeforeItAsks) {
  const std::string token = put_token();
  Tenant a(loop, log, shelf, "a", token);
  int asked = 0;
  std::string first_key;
  a.broker.script = [&](const net::Request& request) -> std::optional<Result<net::Response>> {
    const std::string key = shelf.text_of(k_identity, k_key_file);
    if (asked++ == 0) first_key = key;
    EXPECT_EQ(key, first_key);
    EXPECT_FALSE(key.empty());
    if (asked < 3) return test::lost();  // the broker is not there yet
    const auto body = model::read_json<wire::JoinRequest>(request.body, "request");
    return test::ScriptedBroker::ok(certify(pki::read_request(body->request).value().key));
  };
  loop.run_for(minutes(1));
  ASSERT_TRUE(a.is_home());
  EXPECT_EQ(a.credentials[0].name, "edge-1");
  EXPECT_EQ(a.credentials[0].broker, "https://broker:7443");
  EXPECT_EQ(a.pinned_authority, pki::fingerprint_of(authority.certificate_pem()).value());
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(shelf.text_of(k_identity, k_token_file).empty());
}

TEST_F(ClusterHomeTest, WhatTheRoleForbidsIsTold) {
  shelf.takes_new = false;
  shelf.store("/apis/coordination.k8s.io/v1/namespaces/spillway/leases/a",
              kube::new_object(kube::k_leases, "Lease", {"spillway", "a"}));
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(5));
  ASSERT_EQ(a.lost.size(), 1U);
  EXPECT_NE(a.lost[0].message().find("role"), std::string::npos);
}

TEST_F(ClusterHomeTest, ARenewedCertificateIsInTheSecretBeforeItIsUsed) {
  put_identity();
  Tenant a(loop, log, shelf, "a");
  loop.run_for(seconds(1));
  const Credentials& old = a.credentials.at(0);
  loop.sleep(hours(2));
  const auto key = pki::Key::from_pem(old.tls.key_pem);
  std::optional<Result<Credentials>> kept;
  a.home.identity().renew(old.broker, certify(key->public_key()), [&](Result<Credentials> told) {
    EXPECT_EQ(shelf.text_of(k_identity, k_certificate_file), told->tls.certificate_chain_pem);
    kept = std::move(told);
  });
  loop.run_for(seconds(1));
  ASSERT_TRUE(kept && *kept);
  EXPECT_GT((*kept)->not_after, old.not_after);
  EXPECT_EQ((*kept)->tls.key_pem, old.tls.key_pem);
}

}  // namespace
}  // namespace spillway::agent
