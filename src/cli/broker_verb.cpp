// spillway broker: runs one, until it is told to stop.
#include <algorithm>
#include <csignal>
#include <cstdio>

#include <sys/resource.h>
#include <unistd.h>

#include "cli/asking.h"
#include "cli/broker_settings.h"
#include "cli/broker_words.h"
#include "cli/outcome.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "services/broker/broker.h"
#include "services/host_port.h"
#include "services/service_loop.h"

namespace spillway::cli {
namespace {

constexpr Duration k_look_again = milliseconds(10);

const char* system_environment(const char* name) { return std::getenv(name); }

// https://<the first of its names>:<port>
std::string url_of(const services::BrokerConfig& config, uint16_t port) {
  return url_text(config.names.front(), port);
}

// Loading a large market takes a while: those who wait for the line want to be served then.
// A market that cannot be loaded, and will not be by waiting, is told in `failure`.
void tell_when_ready(net::Poll& poll, const services::Broker& broker,
                     const services::BrokerConfig& config, services::Log& journal,
                     Status& failure) {
  const services::Desk& desk = broker.desk();
  const Status& trouble = services::loading_trouble(desk);
  if (!trouble && trouble.error().code == Code::internal) {
    failure = trouble;
    return poll.stop();
  }
  if (!desk.directory.is_ready() || !desk.feed.is_ready()) {
    return poll.after(k_look_again,
                      [&] { tell_when_ready(poll, broker, config, journal, failure); });
  }
  const std::string url = url_of(config, broker.port());
  const std::string& federation = desk.issuer.federation();
  journal.write(services::Level::info, "ready",
                {{"federation", federation}, {"listen", config.listen}, {"url", url}});
  fmt::print("broker of {} listens on {}\n", federation, url);
  std::fflush(stdout);
}

// As many descriptors as its connections need, where the system lets us: the usual first limit of
// 1024 is there for programs that use select().
void make_room_for(const services::BrokerConfig& config, services::Log& journal) {
  constexpr rlim_t k_own = 256;  // the store, the log, what is being turned away, …
  const rlim_t wanted = static_cast<rlim_t>(config.connections) + k_own;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  const bool done = ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
  if (done && limit.rlim_cur == wanted) return;
  journal.write(services::Level::warning, "descriptors",
                {{"limit", fmt::format("{}", limit.rlim_cur)},
                 {"wanted", fmt::format("{}", wanted)},
                 {"next", "raise the hard limit (ulimit -n, LimitNOFILE=) or lower connections"}});
}

int run_broker(const BrokerFlags& flags) {
  net::Poll poll;  // outlives all that it watches
  auto signals = Signals::block({SIGTERM, SIGINT, SIGHUP});
  if (!signals) return failed("broker", signals.error());
  if (const Status known = check_variables(::environ); !known) {
    return wrongly_called("broker", known.error());
  }
  const auto config = read_settings(flags, system_environment);
  if (!config) return wrongly_called("broker", config.error());
  services::LineLog journal(STDERR_FILENO, services::level_from(config->log), "broker");
  make_room_for(*config, journal);
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a refusal, not the end
  services::ServiceLoop loop(poll);
  auto broker = services::Broker::start(poll, loop, *config, journal);
  if (!broker) {
    Error error = broker.error();
    if (error.code == Code::not_found) {
      error.next = fmt::format("set it up first: spillway broker init --data {} --federation NAME",
                               config->data);
    }
    return failed("broker", error);
  }
  bool stopping = false;
  signals->watch(poll, [&](int signal) {
    if (signal == SIGHUP) return (*broker)->reload();
    journal.write(services::Level::info, "stopping", {{"signal", ::strsignal(signal)}});
    if (stopping) return poll.stop();  // told twice: at once
    stopping = true;
    (*broker)->drain([&poll] { poll.stop(); });
  });
  Status failure;
  tell_when_ready(poll, **broker, *config, journal, failure);
  poll.run();
  if (!failure) return failed("broker", failure.error());
  journal.write(services::Level::info, "stopped", {});
  return k_ok;
}

}  // namespace

void add_data(Word word, std::string& data) {
  word.option("--data", data,
              "The broker's folder (else $SPILLWAY_BROKER_DATA, /var/lib/spillway/broker)")
      .type_name("DIR");
}

std::string data_folder(const std::string& given) { return data_folder(given, system_environment); }

std::string authority_in(const std::string& data) {
  return fmt::format("{}/{}", data, services::k_authority_folder);
}

std::string market_in(const std::string& data) {
  return fmt::format("{}/{}", data, services::k_market_file);
}

std::string operator_in(const std::string& data) { return data + "/operator"; }

Result<std::string> broker_url(const std::string& data) {
  const auto config = read_settings({data, {}, {}}, system_environment);
  if (!config) return tl::unexpected(config.error());
  const auto at = services::parse_host_port(config->listen, "listen");
  if (!at) return tl::unexpected(at.error());
  return url_of(*config, at->port);
}

std::string url_text(const std::string& host, uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("https://{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

void add_broker(Word verb) {
  auto flags = std::make_shared<BrokerFlags>();
  add_data(verb, flags->data);
  verb.option("--config", flags->config, "Its settings (broker.yaml in the folder, if there)")
      .type_name("FILE");
  verb.option("--set", flags->sets,
              "One setting, before SPILLWAY_BROKER_… and the file: listen=0.0.0.0:7443; may be "
              "repeated")
      .type_name("NAME=VALUE")
      .may_repeat();
  verb.examples(
      "  spillway broker init --data ./broker --federation lab --name broker.lab.example\n"
      "  spillway broker --data ./broker --set listen=0.0.0.0:7443\n"
      "  spillway broker authority status --data ./broker\n"
      "  pkill -HUP -f 'spillway broker --data ./broker'     # take over a rotated authority\n");
  add_broker_init(verb);
  add_broker_authority(verb);
  add_broker_operator(verb);
  verb.run([flags] { return run_broker(*flags); });
}

}  // namespace spillway::cli
