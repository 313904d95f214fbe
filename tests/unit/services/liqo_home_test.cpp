// Who a cluster is to Liqo, and what its purchases ask for.
#include "services/fabric/liqo_home.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "pki/public_key.h"
#include "pki/subject_request.h"
#include "support/nouns.h"

namespace spillway::agent {
namespace {

LiqoHome home(const std::string& id = "rome") {
  return LiqoHome::of(id, pki::Key::generate_member().to_pem().view()).value();
}

model::Card provider(const std::string& liqo) {
  model::Card card;
  card.cluster = ClusterId("edge-1");
  card.liqo = liqo;
  return card;
}

TEST(LiqoHome, AsksForExactlyItsOwnSubjects) {
  const LiqoHome rome = home();
  const auto key = pki::read_public_key(rome.public_key());
  ASSERT_TRUE(key);
  EXPECT_TRUE(pki::check_subject_request(*rome.control_plane_request(), {"liqo.io", "rome"}, *key));
  const std::string user = unit_user_of("sw-1-0", "rome");
  EXPECT_EQ(user, "sw-1-0-" + pki::sha256_hex("rome").substr(0, 12));
  EXPECT_TRUE(pki::check_subject_request(*rome.unit_request("sw-1-0"), {"rome", user}, *key));
  EXPECT_FALSE(pki::check_subject_request(*rome.unit_request("sw-1-0"), {"milan", user}, *key));
}

TEST(LiqoHome, SignsANonceAsLiqoDoes) {
  const LiqoHome rome = home();
  const auto key = pki::read_public_key(rome.public_key());
  EXPECT_TRUE(pki::verify_message(*key, "nonce", *rome.sign("nonce")));
}

// The contract has the hashes of what will be asked for, whenever it is asked for.
TEST(LiqoHome, BindsAContractToItsRequests) {
  const LiqoHome rome = home();
  const model::Contract contract = test::contract_of_units(make_contract_id(Instant{1}, 1, 2), 3);
  const auto fabric = rome.part_of(contract, provider("milan"));
  ASSERT_TRUE(fabric) << fabric.error().message();
  const model::LiqoPart& part = *fabric->liqo;
  EXPECT_EQ(part.buyer, "rome");
  EXPECT_EQ(part.provider, "milan");
  EXPECT_EQ(part.control_plane_request, pki::sha256_hex(*rome.control_plane_request()));
  ASSERT_EQ(part.unit_requests.size(), 3U);
  EXPECT_EQ(part.unit_requests[2], pki::sha256_hex(*rome.unit_request(unit_name(contract.id, 2))));
  EXPECT_NE(part.unit_requests[1], part.unit_requests[2]);
  EXPECT_EQ(part.buyer_key, to_base64(rome.public_key()));
}

TEST(LiqoHome, BuysNothingFromAProviderWithoutLiqo) {
  const auto refused = home().part_of(test::plain_contract(), provider(""));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
}

TEST(LiqoHome, TakesNoKeyThatSignsByChanceAndNoIdThatIsNone) {
  EXPECT_FALSE(LiqoHome::of("rome", pki::Key::generate().to_pem().view()));
  EXPECT_FALSE(LiqoHome::of("Rome!", pki::Key::generate_member().to_pem().view()));
  EXPECT_FALSE(LiqoHome::of("rome", "no key"));
}

}  // namespace
}  // namespace spillway::agent
