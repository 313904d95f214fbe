// What two agents say to each other, and what is believed of it.
#include "fabric/talk.h"

#include <gtest/gtest.h>

namespace spillway::fabric {
namespace {

std::string as_is(std::string_view text) { return std::string(text); }

const std::vector<std::string> k_names{"sw-1-0", "sw-1-1"};
const model::LiqoPart k_part{"rome", "milan", "key", "control plane", {"first", "second"}};

RequestTalk honest() {
  return {Proof{"nonce", "c2lnbmVk", "key", "control plane"},
          {{"sw-1-0", "first"}, {"sw-1-1", "second"}}};
}
bool is_believed(const RequestTalk& talk) {
  return check_request(talk, k_part, k_names, as_is).has_value();
}

TEST(Talk, ComesBackAsItWasSaid) {
  EXPECT_EQ(read_nonce_talk(to_body(NonceTalk{"n"})), NonceTalk{"n"});
  EXPECT_EQ(read_request_talk(to_body(honest())), honest());
  const IdentityTalk identity{
      {"authority", "certificate", "https://milan:6443", ""}, "space", k_names};
  EXPECT_EQ(read_identity_talk(to_body(identity)), identity);
  const NonceTalk offering{"n", true};
  EXPECT_EQ(read_nonce_talk(to_body(offering)), offering);
  const KubeconfigTalk kubeconfig{"text", Instant{1'800'000'000'000}};
  EXPECT_EQ(read_kubeconfig_talk(to_body(kubeconfig)), kubeconfig);
}

// Who hands out none says what was always said.
TEST(Talk, ANonceAloneIsAsItWas) {
  EXPECT_EQ(to_body(NonceTalk{"n"}), R"({"version":1,"nonce":"n"})");
}

TEST(Talk, GarbageIsRefusedByName) {
  for (const char* body : {"", "{}", "[]", "null", R"({"version":2,"nonce":"n"})",
                           R"({"version":1,"nonce":"n","more":1})", R"({"version":1,"nonce":7})"}) {
    EXPECT_FALSE(read_nonce_talk(body)) << body;
    EXPECT_FALSE(read_identity_talk(body)) << body;
    EXPECT_FALSE(read_kubeconfig_talk(body)) << body;
  }
  EXPECT_FALSE(read_request_talk(R"({"version":1,"units":{"a":1}})"));
  const RequestTalk large{{}, {{"sw-1-0", std::string(70'000, 'x')}}};
  EXPECT_FALSE(read_request_talk(to_body(large)));
}

TEST(Talk, OnlyWhatTheContractNamesIsBelieved) {
  EXPECT_TRUE(is_believed(honest()));
  EXPECT_TRUE(is_believed({{}, {{"sw-1-1", "second"}}})) << "some at a time, and no proof";
  RequestTalk talk = honest();
  talk.units["sw-1-0"] = "second";
  EXPECT_FALSE(is_believed(talk)) << "another unit's";
  talk = honest();
  talk.units["sw-2-0"] = "first";
  EXPECT_FALSE(is_believed(talk)) << "another contract's unit";
  talk = honest();
  talk.proof->request = "first";
  EXPECT_FALSE(is_believed(talk)) << "another control plane";
  EXPECT_FALSE(
      check_request(honest(), {"rome", "milan", "key", "control plane", {}}, k_names, as_is));
}

TEST(Talk, UnitsAddUpAndANewerProofReplacesTheOlder) {
  std::optional<RequestTalk> heard;
  add_heard(heard, {{}, {{"sw-1-0", "first"}}});
  add_heard(heard, {Proof{"n1", "", "", ""}, {{"sw-1-1", "second"}}});
  add_heard(heard, {Proof{"n2", "", "", ""}, {}});
  EXPECT_EQ(heard->units.size(), 2U);
  EXPECT_EQ(heard->proof->nonce, "n2");
}

}  // namespace
}  // namespace spillway::fabric
