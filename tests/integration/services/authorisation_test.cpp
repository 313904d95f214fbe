// The matrix: every route of the table × every kind of caller × whose the thing is. What is
// expected is worked out from the table alone; the broker is asked over real TLS.
#include <gtest/gtest.h>

#include "live/federation.h"
#include "pki/ed25519.h"
#include "pki/envelope.h"
#include "pki/signed_documents.h"
#include "services/broker/routes.h"
#include "support/nouns.h"

namespace spillway {
namespace {

using model::Role;
using services::Access;
using services::Route;
using services::Scope;
using services::Subject;
using test::Federation;
using test::Papers;

struct Kind {
  std::string name;  // "anonymous", or of the identity
  model::Roles roles;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> k_kinds{
      {"anonymous", {}},           {"seller", {Role::provider}},
      {"buyer", {Role::consumer}}, {"trader", {Role::provider, Role::consumer}},
      {"boss", {Role::operator_}}, {"watcher", {Role::viewer}}};
  return k_kinds;
}

enum class Whose { own, foreign, missing };

// Every kind of cluster has a pool, an offer that only others with a label may see, and a contract.
class Matrix : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    federation = new Federation();
    for (const Kind& kind : kinds()) {
      papers[kind.name] = kind.roles.empty() ? Papers{} : federation->join(kind.name, kind.roles);
    }
    other = federation->join("other", {Role::provider, Role::consumer});
    for (const std::string name : {"seller", "trader", "other"}) publish(name);
    for (const std::string name : {"seller", "buyer", "trader", "other"}) show_card(name);
    other_contract = hold(other, "trader/small");
    trader_contract = hold(papers["trader"], "other/small");
    buyer_contract = hold(papers["buyer"], "other/small");
  }
  static void TearDownTestSuite() {
    delete federation;
    federation = nullptr;
    papers.clear();
  }

  static void publish(const std::string& name) {
    const Papers& who = name == "other" ? other : papers[name];
    model::Pool pool = test::plain_pool();
    pool.id = PoolId(name + "/standard");
    ASSERT_EQ(federation
                  ->call(who, Federation::put(
                                  "/v1/pools/" + pool.id.text,
                                  model::write_json(wire::PoolPut{pool, 1, minutes(30), {}, 0, 0})))
                  .status,
              200);
    model::Offer offer = test::plain_offer();
    offer.id = OfferId(name + "/small");
    offer.pool = pool.id;
    offer.visibility = {};
    offer.visibility.clusters = {ClusterId("buyer"), ClusterId("trader"), ClusterId("other")};
    ASSERT_EQ(federation
                  ->call(who, Federation::put("/v1/offers/" + offer.id.text,
                                              model::write_json(wire::OfferPut{offer, 1})))
                  .status,
              204);
  }
  static void show_card(const std::string& name) {
    const Papers& who = name == "other" ? other : papers[name];
    const pki::Key key = *pki::Key::from_pem(who.tls->key_pem);
    model::Card card{.federation = "testers",
                     .cluster = ClusterId(name),
                     .number = 1,
                     .key = *pki::signing_key_text(key.public_key()),
                     .sealing = to_text(pki::SealingKey::generate().public_key()),
                     .liqo = {}};
    ASSERT_EQ(
        federation
            ->call(who, Federation::put("/v1/cards/" + name,
                                        model::write_json(wire::CardBody{*pki::sign(card, key)})))
            .status,
        204);
  }
  static std::string hold(const Papers& who, const std::string& offer) {
    net::Request request = Federation::post(
        "/v1/holds", model::write_json(wire::HoldRequest{{{OfferId(offer), 1, 1}}, minutes(5)}));
    request.headers.push_back({"Idempotency-Key", who.name + offer});
    const auto answer = federation->call(who, request);
    EXPECT_EQ(answer.status, 201) << answer.body;
    if (answer.status != 201) return {};
    return Federation::read<wire::HoldAnswer>(answer).grants.at(0).contract.text;
  }

  // The path of a thing that is the caller's, somebody else's, or nobody's.
  static std::string path_of(const Route& route, const Kind& kind, Whose whose) {
    std::string path(route.path);
    const auto fill = [&path](const std::string& hole, const std::string& value) {
      const size_t at = path.find(hole);
      if (at != std::string::npos) path.replace(at, hole.size(), value);
    };
    const std::string owner = whose == Whose::own       ? kind.name
                              : whose == Whose::foreign ? "other"
                                                        : "nowhere";
    fill("{cluster}", owner);
    if (path.starts_with("/v1/pools")) fill("{name}", "standard");
    if (path.starts_with("/v1/offers")) fill("{name}", "small");
    fill("{name}", owner);
    if (path.starts_with("/v1/tokens")) fill("{id}", "0123456789abcdef0123456789abcdef");
    const std::string missing = "01h000000000000000000000zz";
    const std::string own = kind.name == "buyer"    ? buyer_contract
                            : kind.name == "trader" ? trader_contract
                                                    : missing;
    // Of neither the buyer nor the seller; the trader sold it.
    const std::string foreign = kind.name == "trader" ? buyer_contract : other_contract;
    fill("{id}", whose == Whose::own ? own : whose == Whose::foreign ? foreign : missing);
    return path;
  }

  static net::Response ask(const Route& route, const Kind& kind, Whose whose) {
    net::Request request{std::string(route.method), path_of(route, kind, whose), {}, {}};
    return federation->call(papers[kind.name], request);
  }

  static inline Federation* federation = nullptr;
  static inline std::map<std::string, Papers> papers;
  static inline Papers other;
  static inline std::string other_contract;
  static inline std::string trader_contract;
  static inline std::string buyer_contract;
};

bool is_allowed(const Route& route, const Kind& kind) {
  return route.access.anonymous || scope_of(route.access, kind.roles) != Scope::none;
}

TEST_F(Matrix, WhoIsNotListedIsRefusedAndWhoIsListedIsNot) {
  int cells = 0;
  for (const Route& route : services::all_routes()) {
    for (const Kind& kind : kinds()) {
      const net::Response answer = ask(route, kind, Whose::missing);
      const std::string cell =
          fmt::format("{} {} by {}: {}", route.method, route.path, kind.name, answer.body);
      ++cells;
      if (is_allowed(route, kind)) {
        EXPECT_NE(answer.status, 401) << cell;
        EXPECT_NE(answer.status, 403) << cell;
      } else {
        EXPECT_EQ(answer.status, kind.roles.empty() ? 401 : 403) << cell;
      }
      EXPECT_LT(answer.status, 500) << cell;
    }
  }
  EXPECT_EQ(cells, static_cast<int>(services::all_routes().size() * kinds().size()));
}

TEST_F(Matrix, AForeignThingAnswersExactlyAsAMissingOne) {
  int cells = 0;
  for (const Route& route : services::all_routes()) {
    if (route.subject == Subject::nothing || route.subject == Subject::other) continue;
    for (const Kind& kind : kinds()) {
      if (scope_of(route.access, kind.roles) != Scope::own) continue;
      // The other's offers are visible to buyers: that is what they are for.
      if (route.path.starts_with("/v1/offers/") && route.method == "GET" && kind.name != "seller") {
        continue;
      }
      const net::Response foreign = ask(route, kind, Whose::foreign);
      const net::Response missing = ask(route, kind, Whose::missing);
      const std::string cell = fmt::format("{} {} by {}", route.method, route.path, kind.name);
      ++cells;
      EXPECT_EQ(foreign.status, missing.status) << cell << foreign.body << missing.body;
      const bool needs_body = missing.status == 400 || missing.status == 422;
      EXPECT_TRUE(needs_body || missing.status == 404) << cell << missing.status;
      const std::string name_of_foreign = path_of(route, kind, Whose::foreign);
      std::string foreign_body = foreign.body;
      std::string missing_body = missing.body;
      // But for the name that the caller gave itself.
      const auto anonymise = [](std::string& text, const std::string& name) {
        for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
          text.replace(at, name.size(), "X");
        }
      };
      for (const char* name : {"other", "nowhere"}) {
        anonymise(foreign_body, name);
        anonymise(missing_body, name);
      }
      for (const std::string& id :
           {other_contract, buyer_contract, std::string("01h000000000000000000000zz")}) {
        anonymise(foreign_body, id);
        anonymise(missing_body, id);
      }
      EXPECT_EQ(foreign_body, missing_body) << cell;
    }
  }
  EXPECT_GT(cells, 15);
}

TEST_F(Matrix, OwnThingsAreThere) {
  int cells = 0;
  for (const Route& route : services::all_routes()) {
    if (route.method != "GET" || route.subject == Subject::nothing) continue;
    for (const Kind& kind : kinds()) {
      if (scope_of(route.access, kind.roles) != Scope::own) continue;
      const bool has_it = route.subject == Subject::cluster ||
                          (route.path.starts_with("/v1/contracts") && kind.name != "seller") ||
                          (route.subject != Subject::contract && kind.name != "buyer") ||
                          (route.path.starts_with("/v1/offers") && kind.name != "buyer");
      if (!has_it) continue;
      const net::Response answer = ask(route, kind, Whose::own);
      ++cells;
      EXPECT_EQ(answer.status, 200) << route.path << " by " << kind.name << ": " << answer.body;
    }
  }
  EXPECT_GE(cells, 7);
}

TEST_F(Matrix, OverseersSeeForeignThings) {
  for (const char* who : {"boss", "watcher"}) {
    for (const char* path : {"/v1/pools/other/standard", "/v1/offers/other/small",
                             "/v1/clusters/other", "/v1/clusters"}) {
      EXPECT_EQ(federation->call(papers[who], Federation::get(path)).status, 200) << path;
    }
    EXPECT_EQ(
        federation->call(papers[who], Federation::get("/v1/contracts/" + other_contract)).status,
        200);
  }
}

TEST_F(Matrix, AnUnknownRouteOrMethodIsRefused) {
  EXPECT_EQ(federation->call(papers["boss"], Federation::get("/v1/secrets")).status, 404);
  const auto answer = federation->call(papers["boss"], Federation::post("/v1/whoami"));
  EXPECT_EQ(answer.status, 405);
  ASSERT_NE(net::find_header(answer.headers, "Allow"), nullptr);
  EXPECT_EQ(*net::find_header(answer.headers, "Allow"), "GET");
}

}  // namespace
}  // namespace spillway
