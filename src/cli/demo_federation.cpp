#include "cli/demo_federation.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/asking.h"
#include "cli/broker_words.h"
#include "pki/private_file.h"

namespace spillway::cli {
namespace {

constexpr auto k_listen_patience = std::chrono::seconds(10);
constexpr auto k_listen_look = std::chrono::milliseconds(2);  // how soon it listens is told

// One that was free a moment ago.
Result<uint16_t> free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool found = fd >= 0 && ::bind(fd, any, size) == 0 && ::getsockname(fd, any, &size) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (found) return ntohs(address.sin_port);
  return fail(Code::unavailable, "127.0.0.1", std::strerror(error), "look whether ports are left");
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string policy_text(const Seller& seller, int usd_hour) {
  return fmt::format(
      "noun: policy\n"
      "version: 1\n"
      "ladder:\n"
      "  - name: {0}\n"
      "    shape: {{cpu: {1}, memory: 4Gi, pods: 10}}\n"
      "price: {{currency: USD, unit_hour: {2}, minimum_term: 1s}}\n"
      "place: {{{3}}}\n"
      "energy:\n"
      "  carbon_now: {4}\n"
      "  unit_milliwatts: 100000\n"
      "  provenance: {{source: demo, as_of: {5}}}\n"
      "visibility: everyone\n"
      "terms: {{lease: 10m, notice: 1m}}\n",
      seller.step, seller.cpus, usd_hour, seller.place, seller.carbon, to_text(now()));
}

std::string cluster_of(const std::string& name) { return name + "-cluster"; }

}  // namespace

std::string DemoFederation::dir(const std::string& name) const {
  return name == k_operator ? operator_in(stage_.path("broker")) : stage_.path(name);
}

Status DemoFederation::set_up_broker() {
  const auto port = free_port();
  if (!port) return tl::unexpected(port.error());
  url_ = fmt::format("https://127.0.0.1:{}", *port);
  const auto made = stage_.run({"broker", "init", "--data", stage_.path("broker"), "--federation",
                                "demo", "--name", "127.0.0.1", "--listen",
                                fmt::format("127.0.0.1:{}", *port), "--operator", k_operator});
  if (!made) return tl::unexpected(made.error());
  return {};
}

Status DemoFederation::start_broker() {
  const auto pid = stage_.start("broker", {"broker", "--data", stage_.path("broker")});
  if (!pid) return tl::unexpected(pid.error());
  broker_pid_ = *pid;
  const auto listens = wait_until(k_listen_patience, k_listen_look, [this]() -> Result<bool> {
    if (text_of(stage_.path("broker.out")).find(url_ + "\n") != std::string::npos) return true;
    SPILLWAY_TRY(stage_.check_runs("broker"));
    return false;
  });
  if (!listens) return tl::unexpected(listens.error());
  if (*listens) return {};
  return fail(Code::unavailable, "broker", "it does not say that it listens", "try again");
}

void DemoFederation::hang_up() {
  ears_.clear();
  sessions_.clear();
}

void DemoFederation::kill_broker() {
  stage_.kill("broker");
  hang_up();
}

// The token goes through a file: arguments can be seen by everybody on the machine.
Status DemoFederation::join(const std::string& name, const std::string& roles) {
  const auto token = stage_.run({"token", "create", "--cluster", name, "--roles", roles, "-o",
                                 "plain", "--dir", dir(k_operator)});
  if (!token) return tl::unexpected(token.error());
  const std::string file = stage_.path(name + ".token");
  SPILLWAY_TRY(pki::write_private(file, *token));
  const auto joined = stage_.run({"join", url_, "--token-file", file, "--dir", dir(name)});
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (!joined) return tl::unexpected(joined.error());
  return {};
}

Status DemoFederation::start_cluster(const std::string& name, int nodes, int cpus) {
  const auto pid =
      stage_.start(cluster_of(name),
                   {"cluster", "run", name, "--nodes", std::to_string(nodes), "--cpu",
                    std::to_string(cpus), "--memory", "4Gi", "--kubeconfig", kubeconfig(name)});
  if (!pid) return tl::unexpected(pid.error());
  const auto is_up = wait_until(k_listen_patience, k_listen_look, [&]() -> Result<bool> {
    SPILLWAY_TRY(stage_.check_runs(cluster_of(name)));
    return std::filesystem::exists(kubeconfig(name));
  });
  if (!is_up) return tl::unexpected(is_up.error());
  if (*is_up) return {};
  return fail(Code::unavailable, "cluster " + name, "it does not come up", "try again");
}

Status DemoFederation::start_agent(const std::string& name) {
  std::vector<std::string> words{"agent", "--dir", dir(name)};
  if (name != k_buyer) {
    words.insert(words.end(), {"--policy", policy(name), "--kubeconfig", kubeconfig(name)});
  }
  const auto pid = stage_.start(name, words);
  if (!pid) return tl::unexpected(pid.error());
  return {};
}

Status DemoFederation::write_policy(const Seller& seller, int usd_hour) {
  return pki::write_private(policy(seller.name), policy_text(seller, usd_hour));
}

Status DemoFederation::check_runs() {
  SPILLWAY_TRY(stage_.check_runs("broker"));
  SPILLWAY_TRY(stage_.check_runs(k_buyer));
  for (const Seller& seller : k_sellers) {
    SPILLWAY_TRY(stage_.check_runs(seller.name));
    SPILLWAY_TRY(stage_.check_runs(cluster_of(seller.name)));
  }
  return {};
}

Result<Session*> DemoFederation::as(const std::string& name) {
  auto& session = sessions_[name];
  if (session == nullptr) {
    Asking asking;
    asking.dir = dir(name);
    auto opened = open_session(asking);
    if (!opened) return tl::unexpected(opened.error());
    session = std::move(*opened);
  }
  return session.get();
}

Result<Ear*> DemoFederation::ear_of(const std::string& name) {
  auto& ear = ears_[name];
  if (ear == nullptr) {
    const auto session = as(name);
    if (!session) return tl::unexpected(session.error());
    auto opened = Ear::open(**session);
    if (!opened) return tl::unexpected(opened.error());
    ear = std::move(*opened);
  }
  return ear.get();
}

int DemoFederation::times_connected(const std::string& name) const {
  const std::string text = text_of(log(name));
  int times = 0;
  for (size_t at = 0; (at = text.find("following the broker's events", at)) != std::string::npos;
       ++at) {
    ++times;
  }
  return times;
}

}  // namespace spillway::cli
