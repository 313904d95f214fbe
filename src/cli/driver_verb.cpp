// spillway driver: runs one, until it is told to stop.
#include <csignal>
#include <cstdio>

#include <unistd.h>

#include "cli/broker_words.h"
#include "cli/driver_words.h"
#include "cli/files.h"
#include "cli/outcome.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "services/driver/driver_process.h"
#include "services/service_loop.h"

namespace spillway::cli {
namespace {

constexpr Duration k_longest_goodbye = seconds(10);  // a cluster that is away is not waited for

int run_driver(const std::string& folder) {
  net::Poll poll;  // outlives all that it watches
  auto signals = Signals::block({SIGTERM, SIGINT, SIGHUP});
  if (!signals) return failed("driver", signals.error());
  auto config = read_driver_config(folder);
  if (!config) return failed("driver", config.error());
  services::LineLog log(STDERR_FILENO, services::level_from(config->log), "driver");
  services::ServiceLoop loop(poll);
  auto process = driver::DriverProcess::start(poll, loop, folder, *config, log);
  if (!process) return failed("driver", process.error());
  signals->watch(poll, [&](int signal) {
    if (signal == SIGHUP) {
      auto next = read_driver_config(folder);
      const Status taken = next ? (*process)->reload(*next) : tl::unexpected(next.error());
      if (taken) return log.write(services::Level::info, "callers are read again", {});
      return log.write(services::Level::error, "driver.yaml not taken; what was holds",
                       {{"why", taken.error().message()}});
    }
    log.write(services::Level::info, "stopping", {{"signal", ::strsignal(signal)}});
    poll.after(k_longest_goodbye, [&poll] { poll.stop(); });
    (*process)->drain([&poll] { poll.stop(); });
  });
  const std::string url = url_text(config->names.front(), (*process)->port());
  log.write(services::Level::info, "ready", {{"url", url}});
  fmt::print("driver of {} clusters listens on {}\n", config->clusters.size(), url);
  std::fflush(stdout);
  poll.run();
  log.write(services::Level::info, "stopped", {});
  return k_ok;
}

}  // namespace

void add_driver_folder(Word word, std::string& folder) {
  word.option("--folder", folder, "The driver's folder, with driver.yaml").type_name("DIR");
}

Result<driver::DriverConfig> read_driver_config(const std::string& folder) {
  const std::string path = folder + "/" + driver::k_config_name;
  const auto text = read_file(path);
  if (!text) {
    Error error = text.error();
    error.next = fmt::format("make it: spillway driver init --folder {}", folder);
    return tl::unexpected(std::move(error));
  }
  return driver::driver_config_from_yaml(*text, path);
}

void add_driver(Word verb) {
  auto folder = std::make_shared<std::string>("/etc/spillway/driver");
  add_driver_folder(verb, *folder);
  verb.examples(
      "  spillway driver init --folder ./driver\n"
      "  spillway driver --folder ./driver\n"
      "  spillway driver order rome milan --cpu 4 --memory 8Gi --dir ./driver/operator\n"
      "  spillway driver watch --dir ./driver/operator\n");
  verb.run([folder] { return run_driver(*folder); });
  add_driver_init(verb);
  add_driver_caller(verb);
  add_driver_order(verb);
  add_driver_end(verb);
  add_driver_units(verb);
  add_driver_peerings(verb);
  add_driver_watch(verb);
}

}  // namespace spillway::cli
