// Homes in a cluster whose API server is a shelf of objects, on a clock that the test turns.
#pragma once

#include <gtest/gtest.h>

#include "base/base64.h"
#include "model/json.h"
#include "pki/authority.h"
#include "pki/private_file.h"
#include "pki/request.h"
#include "pki/token.h"
#include "services/agent/cluster_home.h"
#include "services/wire/fields.h"
#include "support/temporary_folder.h"
#include "unit/services/agent_fixture.h"

namespace spillway::agent {

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

inline const std::string k_space = "/api/v1/namespaces/spillway/secrets";
inline const std::string k_identity = k_space + "/a-identity";
inline const std::string k_state = k_space + "/a-state";

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
         const std::string& token_file = {}, StateKind kind = agent_state(),
         bool reads_identity = false)
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
              std::move(kind),
              reads_identity},
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

inline std::string state_text(int64_t reports) {
  AgentState state;
  state.cluster = ClusterId("edge-1");
  state.reports = reports;
  return to_json(state);
}

}  // namespace spillway::agent
