// The paper's way of peering, by option: the buyer makes its Tenant itself, with a kubeconfig that
// the provider has sent; with the agents' own states, and rights as the provider's API server has
// them.
#include "fabric/account.h"
#include "integration/fabric/fabric_fixture.h"
#include "services/agent/letters.h"
#include "services/fabric/hearing.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

// To the provider; notes what is asked there, and by whom.
class Window final : public net::Channel {
 public:
  Window(host::Loop& loop, embedded::Cluster& cluster, std::vector<net::Request>& asked)
      : way_(loop, cluster), asked_(asked) {}
  void send(net::Request request, net::OnResponse then) override {
    asked_.push_back(request);
    way_.send(std::move(request), std::move(then));
  }
  std::unique_ptr<net::Reading> open(net::Request, net::StreamCalls) override { return nullptr; }

 private:
  test::ClusterChannel way_;
  std::vector<net::Request>& asked_;
};

class FabricHandshake : public FabricTest {
 protected:
  FabricOptions selling() {
    FabricOptions made;
    made.handshake.server = "https://milan:6443";
    made.handshake.authority = authority.certificate_pem();
    return made;
  }
  FabricOptions buying() {
    FabricOptions made;
    made.handshake.asks = true;
    made.api_servers = allowed;
    made.pulse.dial = [this](const kube::Access&) -> Result<std::unique_ptr<net::Channel>> {
      return std::make_unique<Window>(loop, liqo.milan.cluster, asked);
    };
    return made;
  }
  // The embedded API server has no policies: that the guard is there is said by hand.
  void start_seller(bool is_guarded = true) {
    seller.start(selling());
    live(8);
    seller.agent->fabric()->set_guarded(is_guarded);
  }
  void start_both() {
    start_seller();
    buyer.start(buying());
    live(4);
  }
  int said(std::string_view step) const {
    return static_cast<int>(std::count(steps.begin(), steps.end(), step));
  }
  int made_tenants() const {
    return static_cast<int>(
        std::count_if(asked.begin(), asked.end(), [](const net::Request& request) {
          return request.method == "POST" && request.target.find("/tenants") != std::string::npos;
        }));
  }
  std::string token() const {
    for (const net::Request& request : asked) {
      const std::string* header = net::find_header(request.headers, "Authorization");
      if (header != nullptr && request.target.ends_with("/secrets/liqo-nonce")) return *header;
    }
    return {};
  }
  std::vector<std::string> left_of_account() {
    std::vector<std::string> left;
    for (const auto& kind : {liqo::k_service_accounts, liqo::k_roles, liqo::k_role_bindings}) {
      if (liqo.milan.has(test::Place::path(kind, "liqo-tenant-rome", fabric::k_account_name))) {
        left.emplace_back(kind.kind);
      }
    }
    const test::Told space = liqo.milan.ask("GET", "/api/v1/namespaces/liqo-tenant-rome");
    if (!space.text({"metadata", "annotations", fabric::k_request_annotation}).empty()) {
      left.emplace_back("annotation");
    }
    return left;
  }
  int ask_as_account(const std::string& method, const std::string& target, std::string body = {}) {
    net::Request request{method, target, {{"Authorization", token()}}, std::move(body)};
    if (!request.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    int status = 0;
    test::ClusterChannel way(loop, liqo.milan.cluster);
    way.send(std::move(request),
             [&](const Result<net::Response>& answer) { status = answer ? answer->status : -1; });
    for (int i = 0; i < 100 && status == 0; ++i) loop.run_for(milliseconds(1));
    return status;
  }

  pki::Authority authority = *pki::Authority::create("milan", loop.now());
  AllowedServers allowed = {"https://milan:6443"};
  std::vector<net::Request> asked;
};

TEST_F(FabricHandshake, TheBuyerMakesItsTenantItselfAndNothingIsLeftOfTheWay) {
  start_both();
  const model::Contract contract = trade_units(2);
  ASSERT_TRUE(comes([&] { return all_ready(contract); }));
  EXPECT_EQ(made_tenants(), 1);
  EXPECT_EQ(said("kubeconfig"), 1);
  EXPECT_TRUE(comes([&] { return left_of_account().empty(); }));

  ASSERT_TRUE(token().starts_with("Bearer "));
  const std::string secret = token().substr(7);
  for (Party* party : {&seller, &buyer}) {
    EXPECT_EQ(party->store.json.find(secret), std::string::npos);
    EXPECT_EQ(party->log.count(secret), 0);
  }
  EXPECT_EQ(ask_as_account("GET", test::Place::path(liqo::k_tenants, "liqo-tenant-rome", "rome")),
            403)
      << "its rights went before it did";

  // A second contract is as with the relay.
  const model::Contract second = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(second); }));
  EXPECT_EQ(made_tenants(), 1);
  tell_both(closed(contract), "contract-closed");
  tell_both(closed(second), "contract-closed");
  loop.run_for(minutes(33));
  EXPECT_TRUE(comes([&] { return seller.agent->state().fabric.sold_to.empty(); }, 4000));
}

// Once its kubeconfig is on its way, a provider's agent is needed for nothing but the units.
TEST_F(FabricHandshake, WhoeverComesSeesTheAnswerItself) {
  start_both();
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return said("kubeconfig") > 0; }));
  seller.kill();
  const std::string identity =
      test::Place::path(liqo::k_identities, "liqo-tenant-milan", "controlplane-milan");
  EXPECT_TRUE(comes([&] { return liqo.rome.has(identity); }));
  EXPECT_EQ(said("identity"), 0);
  EXPECT_FALSE(is_ready(unit_names(contract)[0]));
  start_seller();
  EXPECT_TRUE(comes([&] { return all_ready(contract); }));
  EXPECT_TRUE(comes([&] { return left_of_account().empty(); }));
}

TEST_F(FabricHandshake, TheAccountMayDoNothingElse) {
  start_both();
  trade_units(1);
  ASSERT_TRUE(comes([&] { return made_tenants() > 0; }));
  // Stopped before Liqo answers, and so before the account ends.
  seller.kill();
  const std::string space = "liqo-tenant-rome";
  const auto get = [&](const liqo::Kind& kind, const std::string& where, const std::string& name) {
    return ask_as_account("GET", test::Place::path(kind, where, name));
  };
  EXPECT_EQ(get(liqo::k_secrets, space, "liqo-nonce"), 200);
  EXPECT_EQ(get(liqo::k_tenants, space, "rome"), 200);
  EXPECT_EQ(get(liqo::k_secrets, space, ""), 403);
  EXPECT_EQ(get(liqo::k_secrets, "liqo", "authentication-keys"), 403);
  EXPECT_EQ(get(liqo::k_tenants, "", ""), 403);
  EXPECT_EQ(get(liqo::k_config_maps, space, std::string(fabric::k_record_name)), 403);
  const std::string tenant = R"({"apiVersion":"authentication.liqo.io/v1beta1","kind":"Tenant",)"
                             R"("metadata":{"name":"rome"},"spec":{"clusterID":"rome"}})";
  EXPECT_EQ(ask_as_account("POST", test::Place::path(liqo::k_tenants, "default"), tenant), 403);
  EXPECT_EQ(ask_as_account("PUT", test::Place::path(liqo::k_tenants, space, "rome"), tenant), 403);
  EXPECT_EQ(ask_as_account("DELETE", test::Place::path(liqo::k_tenants, space, "rome")), 403);
  EXPECT_EQ(ask_as_account("POST", test::Place::path(liqo::k_secrets, space),
                           R"({"metadata":{"name":"liqo-nonce"}})"),
            403);
}

TEST_F(FabricHandshake, AgentsWithDifferentOptionsStillPeer) {
  start_seller();
  FabricOptions relay = buying();
  relay.handshake.asks = false;
  buyer.start(relay);
  live(4);
  model::Contract contract = trade_units(1);
  EXPECT_TRUE(comes([&] { return all_ready(contract); })) << "the buyer goes by the relay";
  EXPECT_EQ(said("kubeconfig"), 0);
}

TEST_F(FabricHandshake, AProviderThatHandsOutNoneIsMetByTheRelay) {
  seller.start();
  buyer.start(buying());
  live(4);
  const model::Contract contract = trade_units(1);
  EXPECT_TRUE(comes([&] { return all_ready(contract); }));
  EXPECT_EQ(said("kubeconfig"), 0);
  EXPECT_EQ(made_tenants(), 0);
}

TEST_F(FabricHandshake, WithoutTheGuardNobodyGetsOneAndTheProviderIsTold) {
  start_seller(false);
  buyer.start(buying());
  live(4);
  const model::Contract contract = trade_units(1);
  bool is_told = false;
  EXPECT_TRUE(comes([&] {
    for (const std::string& one : seller.agent->fabric()->status().troubles) {
      is_told = is_told || one.find("it gets no kubeconfig") != std::string::npos;
    }
    return all_ready(contract);
  }));
  EXPECT_TRUE(is_told);
  EXPECT_EQ(said("kubeconfig"), 0);
  EXPECT_TRUE(left_of_account().empty());
}

TEST_F(FabricHandshake, AProviderThatMayMakeNoTokensIsMetByTheRelay) {
  bool may = false;
  seller.gate.refuses = [&](const net::Request& request) {
    return !may && request.target.ends_with("/token");
  };
  start_both();
  const model::Contract contract = trade_units(1);
  EXPECT_TRUE(comes([&] { return all_ready(contract); }));
  EXPECT_EQ(said("kubeconfig"), 0);
  EXPECT_GT(seller.log.count("no kubeconfig can be made of it"), 0);
  EXPECT_TRUE(comes([&] { return left_of_account().empty(); }));
  // Somebody gives it the right: who comes after a while comes by a kubeconfig.
  may = true;
  loop.run_for(Handouts::k_refused_for);
  liqo.milan.remove(test::Place::path(liqo::k_secrets, "liqo-tenant-rome", "liqo-nonce"));
  liqo.milan.remove(test::Place::path(liqo::k_tenants, "liqo-tenant-rome", "rome"));
  const model::Contract second = trade_units(1);
  EXPECT_TRUE(comes([&] { return said("kubeconfig") > 0 && all_ready(second); }, 2400));
  EXPECT_EQ(made_tenants(), 1);
}

// Each would be another visit, to wherever it names.
TEST_F(FabricHandshake, WhoseKubeconfigCameToNothingIsNotVisitedAgain) {
  start_seller();
  int dialled = 0;
  FabricOptions options = buying();
  options.pulse.dial = [&](const kube::Access&) -> Result<std::unique_ptr<net::Channel>> {
    ++dialled;
    return fail(Code::unavailable, "milan", "nobody answers", "");
  };
  buyer.start(options);
  live(4);
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract); })) << "by the relay";
  ASSERT_EQ(dialled, 1);
  seller.kill();
  const int64_t refused = buyer.agent->fabric()->status().refused;
  const LetterKeys keys{trade.provider.key(), trade.provider.sealing()};
  const auto peer =
      peer_of(*buyer.agent->messages().agreement(contract.id), ClusterId("edge-1"), keys);
  ASSERT_TRUE(peer);
  const std::string another = to_body(fabric::KubeconfigTalk{
      fabric::write_kubeconfig(
          {"https://milan:6443", authority.certificate_pem(), "another", "liqo-tenant-rome"}),
      loop.now() + minutes(5)});
  const auto letter = write_letter(*peer, keys, "kubeconfig", 100, another);
  buyer.broker.waiting.push_back({100, "kubeconfig", *letter, loop.now() + minutes(5)});
  buyer.broker.tell("message-sent", contract.id.text);
  EXPECT_TRUE(comes([&] { return buyer.agent->fabric()->status().refused == refused + 1; }));
  EXPECT_EQ(dialled, 1);
}

TEST_F(FabricHandshake, AKubeconfigForAServerThatIsNotAllowedIsRefusedAndTheRelayServes) {
  start_seller();
  seller.kill();
  FabricOptions elsewhere = selling();
  elsewhere.handshake.server = "https://elsewhere:6443";
  seller.start(elsewhere);
  live(8);
  seller.agent->fabric()->set_guarded(true);
  buyer.start(buying());
  live(4);
  const model::Contract contract = trade_units(1);
  EXPECT_TRUE(comes([&] { return all_ready(contract); }));
  EXPECT_EQ(made_tenants(), 0);
  EXPECT_EQ(buyer.agent->fabric()->status().refused, 1);
  EXPECT_GT(buyer.log.count("is not among the API servers that may be called"), 0);
  EXPECT_TRUE(comes([&] { return left_of_account().empty(); }));
}

// Nobody comes: the account goes when its token has expired, and another is asked for.
TEST_F(FabricHandshake, ATokenThatExpiredIsAskedForAgain) {
  start_both();
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return said("request") > 0; }));
  buyer.kill();
  ASSERT_TRUE(comes([&] { return said("kubeconfig") > 0; }));
  EXPECT_FALSE(left_of_account().empty());
  loop.run_for(minutes(11));
  EXPECT_TRUE(comes([&] { return left_of_account().empty(); }));
  buyer.start(buying());
  EXPECT_TRUE(comes([&] { return all_ready(contract); }, 1200));
  EXPECT_TRUE(comes([&] { return left_of_account().empty(); }));
}

TEST_F(FabricHandshake, ATenantThatSomebodyRemovedIsMadeAgain) {
  start_both();
  const model::Contract contract = trade_units(1);
  ASSERT_TRUE(comes([&] { return all_ready(contract) && left_of_account().empty(); }));
  const std::string tenant = test::Place::path(liqo::k_tenants, "liqo-tenant-rome", "rome");
  liqo.milan.remove(tenant);
  EXPECT_TRUE(comes([&] { return liqo.milan.has(tenant); }, 1200));
  EXPECT_EQ(made_tenants(), 2);
  EXPECT_TRUE(comes([&] { return left_of_account().empty(); }));
}

// Killed after every 25 ms of the handshake, each side, both, each time from nothing at all.
TEST_F(FabricHandshake, WhoeverIsKilledGoesOn) {
  start_both();
  for (int kill_after = 0; kill_after < 30; ++kill_after) {
    const model::Contract contract = trade_units(1);
    live(kill_after);
    if (kill_after % 3 != 0) seller.kill();
    if (kill_after % 3 != 1) buyer.kill();
    live(2);
    if (!seller.agent) start_seller();
    if (!buyer.agent) buyer.start(buying());
    ASSERT_TRUE(comes([&] { return all_ready(contract); }, 2400)) << "killed after " << kill_after;
    ASSERT_TRUE(comes([&] { return left_of_account().empty(); }, 1200))
        << "killed after " << kill_after << ": " << left_of_account().front();
    tell_both(closed(contract), "contract-closed");
    const std::string unit = unit_names(contract)[0];
    ASSERT_TRUE(comes([&] { return left_of(unit).empty(); }, 1200)) << "after " << kill_after;
    loop.run_for(minutes(33));
    ASSERT_TRUE(comes([&] { return seller.agent->state().fabric.sold_to.empty(); }, 2400));
  }
  EXPECT_GT(made_tenants(), 15) << "by this way, not by the other";
}

// ---- what a provider may not send ----------------------------------------------------------

class HostileKubeconfig : public FabricHandshake {
 protected:
  std::string refusal(const std::string& kubeconfig) {
    const model::Contract contract = SignedTrade::held(loop.now());
    const model::LiqoPart part = part_of(contract);
    const auto heard = hear_kubeconfig(to_body(fabric::KubeconfigTalk{kubeconfig, loop.now()}),
                                       {part, {}}, allowed);
    return heard ? "" : heard.error().message();
  }
  std::string with(std::string_view server, std::string_view user,
                   std::string_view space = "liqo-tenant-rome") const {
    return fmt::format(
        "{{apiVersion: v1, kind: Config, current-context: c, contexts: [{{name: c, context: "
        "{{cluster: k, user: u, namespace: {}}}}}], users: [{{name: u, user: {{{}}}}}], clusters: "
        "[{{name: k, cluster: {{{}, certificate-authority-data: {}}}}}]}}",
        space, user, server, to_base64(authority.certificate_pem()));
  }
  static constexpr std::string_view k_server = "server: 'https://milan:6443'";
};

TEST_F(HostileKubeconfig, WhatOurOwnWriteIsTaken) {
  EXPECT_EQ(refusal(fabric::write_kubeconfig(
                {"https://milan:6443", authority.certificate_pem(), "token", "liqo-tenant-rome"})),
            "");
  EXPECT_EQ(refusal(with(k_server, "token: t")), "");
}

TEST_F(HostileKubeconfig, NothingElseIs) {
  const auto has = [&](const std::string& kubeconfig, std::string_view reason) {
    const std::string why = refusal(kubeconfig);
    EXPECT_NE(why.find(reason), std::string::npos) << why;
  };
  has(with("server: 'https://elsewhere:6443'", "token: t"), "is not among the API servers");
  has(with("server: 'https://milan:64430'", "token: t"), "is not among the API servers");
  has(with("server: 'http://milan:6443'", "token: t"), "not https");
  has(with(fmt::format("{}, proxy-url: 'http://elsewhere'", k_server), "token: t"), "proxy-url");
  has(with(fmt::format("{}, insecure-skip-tls-verify: true", k_server), "token: t"), "insecure");
  has(with(k_server, "exec: {command: /bin/true}"), "exec would run a program");
  has(with(k_server, "tokenFile: /etc/passwd"), "tokenFile names a file");
  has(with(k_server, "client-certificate: /etc/a, client-key: /etc/b"), "names a file");
  has(with(k_server, ""), "it is not for a token");
  has(with(k_server, "token: t", "kube-system"), "another namespace");
  has(with(k_server, "token: t", "liqo-tenant-naples"), "another namespace");
  has(std::string(40'000, ' ') + with(k_server, "token: t"), "too many");
  has("garbage", "kubeconfig");
  EXPECT_FALSE(hear_kubeconfig(std::string(100'000, 'x'),
                               {part_of(SignedTrade::held(loop.now())), {}}, allowed));
}

// Unsigned, a request is held against the contract all the same.
TEST_F(HostileKubeconfig, WhoAsksForOneIsHeldToTheContract) {
  const model::Contract contract = SignedTrade::held(loop.now());
  model::LiqoPart part = part_of(contract);
  fabric::RequestTalk talk;
  talk.proof = fabric::Proof{{},
                             {},
                             to_pem(liqo.rome.key.public_key()),
                             *pki::make_subject_request(liqo.rome.key, {"liqo.io", "rome"})};
  const auto is_heard = [&] { return hear_request(to_body(talk), {part, {}}).has_value(); };
  EXPECT_TRUE(is_heard());
  const fabric::Proof honest = *talk.proof;
  talk.proof->nonce = "nonce-1";
  EXPECT_FALSE(is_heard()) << "a nonce without a signature";
  talk.proof = honest;
  talk.proof->public_key = to_pem(pki::Key::generate_member().public_key());
  EXPECT_FALSE(is_heard()) << "another key";
  talk.proof = honest;
  talk.proof->request = *pki::make_subject_request(liqo.rome.key, {"liqo.io", "naples"});
  EXPECT_FALSE(is_heard()) << "a request that the contract does not name";
  part.control_plane_request = pki::sha256_hex(talk.proof->request);
  EXPECT_FALSE(is_heard()) << "of another subject";
}

}  // namespace
}  // namespace spillway::agent
