// DemoFederation: the buyer's autoscaler, and the certificates of those who speak with it.
#include "cli/demo_federation.h"
#include "cli/files.h"
#include "cli/when.h"
#include "pki/authority.h"
#include "pki/private_file.h"

namespace spillway::cli {
namespace {

constexpr const char* k_started = "autoscaler started";

// Of a line of the log, which is JSON.
std::string value_in(const std::string& log, const std::string& key) {
  const size_t line = log.find(k_started);
  const std::string mark = "\"" + key + "\":\"";
  const size_t at = line == std::string::npos ? line : log.find(mark, log.rfind('\n', line) + 1);
  if (at == std::string::npos) return {};
  const size_t begin = at + mark.size();
  return log.substr(begin, log.find('"', begin) - begin);
}

std::string recommender_text(const std::string& profile) {
  return fmt::format(
      "noun: recommender-policy\n"
      "version: 1\n"
      "currency: USD\n"
      "profile: {}\n"
      "expect: {{time: 1h}}\n",
      profile);
}

}  // namespace

// An authority for the two ends of that connection, as docs/autoscaler.md asks for.
Status DemoFederation::write_papers() {
  const auto authority = pki::Authority::create(name_, now());
  if (!authority) return tl::unexpected(authority.error());
  const Instant until = now() + hours(24);
  const pki::Key server = pki::Key::generate();
  const auto shown =
      authority->issue_server(server.public_key(), {{}, {"127.0.0.1"}}, now(), until);
  if (!shown) return tl::unexpected(shown.error());
  const pki::Key client = pki::Key::generate();
  const auto its = authority->issue_member(client.public_key(), "cluster-autoscaler", now(), until);
  if (!its) return tl::unexpected(its.error());
  SPILLWAY_TRY(pki::write_private(path("ca.pem"), authority->certificate_pem()));
  SPILLWAY_TRY(pki::write_private(path("server.pem"), *shown));
  SPILLWAY_TRY(pki::write_private(path("server.key"), server.to_pem().view()));
  SPILLWAY_TRY(pki::write_private(path("client.pem"), *its));
  return pki::write_private(path("client.key"), client.to_pem().view());
}

// As the same member as the buyer's agent, which makes nodes of what it buys.
Status DemoFederation::start_autoscaler(const std::string& profile) {
  SPILLWAY_TRY(write_papers());
  std::vector<std::string> words{
      "autoscaler",        "--dir",      dir(k_buyer),       "--kubeconfig", kubeconfig(k_buyer),
      "--backend",         "liqo",       "--listen",         "127.0.0.1:0",  "--tls-cert",
      path("server.pem"),  "--tls-key",  path("server.key"), "--client-ca",  path("ca.pem"),
      "--expander-listen", "127.0.0.1:0"};
  if (profile.empty()) {
    words.insert(words.end(), {"--currency", "USD"});
  } else {
    SPILLWAY_TRY(pki::write_private(recommender_policy(), recommender_text(profile)));
    words.insert(words.end(), {"--policy", recommender_policy()});
  }
  const auto pid = stage_.start(process("autoscaler"), words);
  if (!pid) return tl::unexpected(pid.error());
  SPILLWAY_TRY(await_file("autoscaler", "autoscaler.log", k_started));
  const auto log = read_file(path("autoscaler.log"));
  if (!log) return tl::unexpected(log.error());
  port_ = value_in(*log, "port");
  expander_port_ = value_in(*log, "expander");
  return {};
}

GrpcTarget DemoFederation::target(const std::string& port) const {
  return {"127.0.0.1:" + port, path("ca.pem"), path("client.pem"), path("client.key"), false};
}

}  // namespace spillway::cli
