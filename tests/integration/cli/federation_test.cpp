// A federation by the command line alone: a broker is set up and runs, clusters join and trade, and
// everyone may ask what happened. Real processes, real TLS, a real disk.
#include "integration/cli/federation.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "support/text.h"

namespace spillway::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(Federation, TheFirstOperatorIsOne) {
  const Ended who = run_spillway("whoami" + ada());
  EXPECT_EQ(who.code, 0) << who.err;
  EXPECT_THAT(who.out, AllOf(HasSubstr("ada"), HasSubstr("operator"), HasSubstr("lab")));
  EXPECT_THAT(run_spillway("whoami -o json" + ada()).out, HasSubstr("\"name\":\"ada\""));
  EXPECT_EQ(run_spillway("whoami -o plain" + ada()).out, "ada\n");
  EXPECT_EQ(run_spillway("renew" + ada()).code, 0);
  EXPECT_EQ(run_spillway("whoami" + ada()).code, 0);
}

TEST_F(Federation, TokensAreMadeListedAndCancelled) {
  const Ended made = run_spillway("token create --viewer wall -o json" + ada());
  ASSERT_EQ(made.code, 0) << made.err;
  const size_t at = made.out.find("\"id\":\"") + 6;
  const std::string id = made.out.substr(at, made.out.find('"', at) - at);
  EXPECT_THAT(run_spillway("token list" + ada()).out, AllOf(HasSubstr(id), HasSubstr("wall")));
  EXPECT_EQ(run_spillway("token cancel " + id + ada()).code, 0);
  EXPECT_EQ(run_spillway("token cancel " + id + ada()).code, 1);
  EXPECT_THAT(run_spillway("token create --cluster x --roles consumer" + ada()).out,
              HasSubstr("spillway join " + url()));
}

TEST_F(Federation, JoiningTwiceWithOneKeyIsTheSame) {
  const Ended token = run_spillway("token create --cluster lyon --roles consumer -o plain" + ada());
  std::ofstream(folder / "token") << token.out;
  const std::string line = "join " + url() + " --token-file '" + (folder / "token") + "'";
  ASSERT_EQ(run_spillway(line + dir("lyon")).code, 0);
  const std::string certificate = text_of(folder / "lyon/certificate.pem");
  EXPECT_EQ(run_spillway(line + dir("lyon")).code, 0);
  EXPECT_EQ(text_of(folder / "lyon/certificate.pem"), certificate);
  const Ended thief = run_spillway(line + dir("thief"));
  EXPECT_EQ(thief.code, 1);
  EXPECT_THAT(thief.err, Not(HasSubstr(token.out.substr(0, 20))));
  EXPECT_FALSE(std::filesystem::exists(folder / "thief/member.json"));
}

TEST_F(Federation, AWrongAuthorityIsNotJoined) {
  const std::string token = "swt1." + std::string(43, 'A') + "." + std::string(64, '0');
  const Ended joined = run_spillway("join " + url() + " --token " + token + dir("x"));
  EXPECT_EQ(joined.code, 1);
  EXPECT_THAT(joined.err, Not(HasSubstr("AAAA")));
  EXPECT_EQ(run_spillway("join " + url() + " --token swt1.x" + dir("x")).code, 2);
}

TEST_F(Federation, ABuyerBuys) {
  join("turin", "provider");
  join("lyon", "consumer");
  std::ofstream(folder / "supply.yaml")
      << "version: 1\n"
         "pools:\n"
         "  - id: turin/nodes\n    node: {cpu: 8, memory: 32Gi, pods: 100}\n"
         "    capacity: {cpu: 16, memory: 64Gi, pods: 200}\n"
         "offers:\n"
         "  - id: turin/small\n    pool: turin/nodes\n"
         "    shape: {cpu: 2, memory: 8Gi, pods: 10}\n"
         "    price: {currency: EUR, unit_hour: 0.10}\n"
         "    place: {latitude: 45.07, longitude: 7.68, country: IT}\n"
         "    visibility: everyone\n";
  Running agent({"agent", "--dir", folder / "turin", "--supply", folder / "supply.yaml"},
                folder / "agent.out", folder / "agent.err");
  const Ended offers =
      run_until("offers --cpu 1 --near 45.46,9.19" + dir("lyon"),
                [](const Ended& ended) { return test::has(ended.out, "turin/small"); });
  ASSERT_THAT(offers.out, AllOf(HasSubstr("turin/small"), HasSubstr("0.1"), HasSubstr("1 of 1")))
      << offers.err << text_of(folder / "agent.err");
  EXPECT_THAT(run_spillway("offers --cpu 1 --explain --max-price 0.01" + dir("lyon")).out,
              HasSubstr("turin/small"));
  EXPECT_THAT(run_spillway("offers show turin/small" + dir("lyon")).out, HasSubstr("2 cpu"));
  EXPECT_THAT(run_spillway("offers --mine" + dir("turin")).out, HasSubstr("turin/small"));
  EXPECT_THAT(run_spillway("offers --all -o yaml" + ada()).out, HasSubstr("id: turin/small"));
  EXPECT_THAT(run_spillway("pools" + ada()).out, HasSubstr("turin/nodes"));

  const Ended held = run_spillway("hold turin/small --units 2 --key k1 -o plain" + dir("lyon"));
  ASSERT_EQ(held.code, 0) << held.err;
  EXPECT_EQ(run_spillway("hold turin/small --units 2 --key k1 -o plain" + dir("lyon")).out,
            held.out);
  const std::string id = held.out.substr(0, held.out.find('\n'));
  EXPECT_EQ(run_spillway("contracts extend " + id + " --ttl 2m" + dir("lyon")).code, 0);
  EXPECT_THAT(run_spillway("contracts confirm " + id + dir("lyon")).out, HasSubstr("active"));
  EXPECT_EQ(run_spillway("contracts renew " + id + dir("lyon")).code, 0);
  EXPECT_THAT(run_spillway("contracts" + dir("lyon")).out, AllOf(HasSubstr(id), HasSubstr("2/2")));
  EXPECT_EQ(run_spillway("contracts release " + id + " --unit 1" + dir("lyon")).code, 0);
  EXPECT_THAT(run_spillway("contracts show " + id + dir("turin")).out, HasSubstr("ended"));
  EXPECT_THAT(run_spillway("invoice" + dir("lyon")).out,
              AllOf(HasSubstr("Invoice of lyon"), HasSubstr(id), HasSubstr("still running"),
                    HasSubstr("bought  turin")));
  EXPECT_THAT(run_spillway("invoice --sold -o plain" + dir("turin")).out,
              HasSubstr("sold\tlyon\t" + id));
  EXPECT_THAT(run_spillway("invoice --cluster lyon -o json" + ada()).out,
              HasSubstr("\"counterpart\":\"turin\""));
  EXPECT_THAT(run_spillway("invoice --from 1d --until 2d" + dir("lyon")).err, HasSubstr("until"));
  EXPECT_EQ(run_spillway("invoice --from soon" + dir("lyon")).code, 2);
  EXPECT_THAT(run_spillway("contracts meter " + id + " --cpu-hours 1" + dir("turin")).err,
              HasSubstr("pay-per-use"));
  EXPECT_EQ(run_spillway("contracts meter " + id + dir("turin")).code, 2);
  EXPECT_THAT(run_spillway("contracts show " + id + " -o json" + dir("lyon")).out,
              HasSubstr("\"ends_no_later_than\""));
  EXPECT_EQ(run_spillway("contracts drained " + id + dir("lyon")).code, 1) << "it is active";
  EXPECT_THAT(run_spillway("contracts notice " + id + dir("turin")).out,
              HasSubstr("ends no later than"));
  EXPECT_THAT(run_spillway("contracts drained " + id + dir("lyon")).out, HasSubstr("closed"));
  EXPECT_EQ(run_spillway("contracts show 00000000000000000000000000" + dir("lyon")).code, 1);
  EXPECT_EQ(run_spillway("hold turin/none" + dir("lyon")).code, 1);
  EXPECT_EQ(run_spillway("hold turin" + dir("lyon")).code, 2);
  EXPECT_THAT(run_spillway("hold turin/small --confirm" + dir("lyon")).out, HasSubstr("active"));

  EXPECT_THAT(run_spillway("events --after 0" + dir("lyon")).out, HasSubstr("contract-confirmed"));
  EXPECT_THAT(run_spillway("events --follow --after 0 --limit 4 -o json" + dir("lyon")).out,
              HasSubstr("\"kind\":\"contract-held\""));
  EXPECT_THAT(run_spillway("audit --limit 1000" + ada()).out,
              AllOf(HasSubstr("lyon"), HasSubstr("contract-held"), HasSubstr("identity-joined")));
  EXPECT_EQ(run_spillway("audit" + dir("lyon")).code, 1);
  EXPECT_EQ(agent.stop(SIGTERM), 0);
}

TEST_F(Federation, AnOperatorSetsWhatAClusterMayBuy) {
  join("lyon", "consumer");
  EXPECT_EQ(run_spillway("clusters set lyon --quota-units 5 --budget '100 EUR' --labels tier=gold" +
                         ada())
                .code,
            0);
  const Ended shown = run_spillway("clusters show lyon" + ada());
  EXPECT_THAT(shown.out, AllOf(HasSubstr("5 units"), HasSubstr("100 EUR"), HasSubstr("tier=gold")));
  EXPECT_EQ(run_spillway("clusters set lyon --quota-cpu 4 --quota-units none" + ada()).code, 0);
  EXPECT_THAT(run_spillway("clusters" + ada()).out,
              AllOf(HasSubstr("4 cpu"), Not(HasSubstr("5 units")), HasSubstr("tier=gold")));
  EXPECT_EQ(run_spillway("clusters set lyon --quota-units 1" + dir("lyon")).code, 1);
  EXPECT_EQ(run_spillway("clusters set lyon" + ada()).code, 2);
}

TEST_F(Federation, ARevokedIdentityIsOut) {
  join("lyon", "consumer");
  EXPECT_EQ(run_spillway("doctor" + dir("lyon")).code, 0)
      << run_spillway("doctor" + dir("lyon")).out;
  EXPECT_EQ(run_spillway("identities revoke lyon" + ada()).code, 0);
  EXPECT_THAT(run_spillway("identities" + ada()).out, HasSubstr("revoked"));
  EXPECT_EQ(run_spillway("whoami" + dir("lyon")).code, 1);
  const Ended doctor = run_spillway("doctor" + dir("lyon"));
  EXPECT_EQ(doctor.code, 1);
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("✓ TLS"), HasSubstr("✗ whoami")));
}

TEST_F(Federation, ABrokerThatIsAwayIsSaidToBe) {
  EXPECT_EQ(broker->stop(SIGTERM), 0);
  const Ended who = run_spillway("whoami" + ada());
  EXPECT_EQ(who.code, 3);
  EXPECT_THAT(who.err, HasSubstr("spillway whoami: "));
  const Ended doctor = run_spillway("doctor" + ada());
  EXPECT_EQ(doctor.code, 1);
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("✓ certificate"), HasSubstr("✗ connection")));
  start();
  EXPECT_EQ(run_spillway("whoami" + ada()).code, 0);
  EXPECT_EQ(broker->stop(SIGINT), 0);
}

}  // namespace
}  // namespace spillway::cli
