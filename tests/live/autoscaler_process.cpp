#include "live/autoscaler_process.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "live/broker_process.h"
#include "net/tls.h"
#include "pki/private_file.h"
#include "support/comes_true.h"

namespace spillway::test {
namespace {

constexpr auto k_patience = std::chrono::seconds(30);

void keep_file(const std::string& path, const std::string& text) {
  SPILLWAY_CHECK(pki::write_private(path, text).has_value(), path);
}

std::string text_in(const std::string& path) {
  const auto text = pki::read_private(path, pki::Readers::anyone);
  return text ? std::string(text->view()) : std::string();
}

}  // namespace

AutoscalerProcess::AutoscalerProcess(std::string identity, std::string kubeconfig,
                                     std::vector<std::string> more) {
  const auto server =
      authority_.issue({.name = "autoscaler", .ip = "127.0.0.1", .is_server = true});
  client_ = authority_.issue({.name = "cluster-autoscaler"});
  keep_file(folder_ / "server.pem", server.certificate_pem + authority_.pem());
  keep_file(folder_ / "server.key", server.key_pem);
  keep_file(folder_ / "client.pem", client_.certificate_pem);
  keep_file(folder_ / "client.key", client_.key_pem);
  keep_file(folder_ / "ca.pem", authority_.pem());
  words_ = {spillway_program(), "autoscaler",           "--dir",     std::move(identity),
            "--kubeconfig",     std::move(kubeconfig),  "--listen",  "127.0.0.1:0",
            "--tls-cert",       folder_ / "server.pem", "--tls-key", folder_ / "server.key",
            "--client-ca",      folder_ / "ca.pem"};
  words_.insert(words_.end(), more.begin(), more.end());
}

AutoscalerProcess::~AutoscalerProcess() {
  if (pid_ > 0) kill();
}

void AutoscalerProcess::start() {
  const int log_file =
      ::open((folder_ / "log").c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
  pid_ = run_program(words_, log_file, log_file);
  ::close(log_file);
  SPILLWAY_CHECK(says("autoscaler started"), "it does not start: " + log());
  port_ = port_called("port");
}

bool AutoscalerProcess::says(const std::string& what) const {
  bool has_said = false;
  const auto is_decided = [&] {
    const bool has_ended = ::kill(pid_, 0) != 0;
    has_said = log().find(what) != std::string::npos;
    return has_said || has_ended;
  };
  return comes_true(is_decided, k_patience) && has_said;
}

uint16_t AutoscalerProcess::port_called(const std::string& name) const {
  const std::string text = log();
  const std::string mark = fmt::format("\"{}\":\"", name);
  const size_t at = text.find(mark);
  SPILLWAY_CHECK(at != std::string::npos, "it tells of no port called " + name);
  return static_cast<uint16_t>(std::stoi(text.substr(at + mark.size())));
}

int AutoscalerProcess::end() {
  int status = 0;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

std::string AutoscalerProcess::flags() const {
  std::string line;
  for (size_t i = 1; i < words_.size(); ++i) line += "'" + words_[i] + "' ";
  return line;
}

void AutoscalerProcess::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

double AutoscalerProcess::cpu_seconds() const { return cpu_seconds_of(pid_); }

std::string AutoscalerProcess::log() const { return text_in(folder_ / "log"); }

net::GrpcClientOptions AutoscalerProcess::client_options() const {
  net::GrpcClientOptions options;
  options.port = port_;
  const net::TlsIdentity identity{client_.certificate_pem, client_.key_pem};
  net::ClientTrust trust;
  trust.authorities_pem = authority_.pem();
  trust.identity = &identity;
  options.tls = net::client_context(std::move(trust)).value();
  return options;
}

net::GrpcClientOptions AutoscalerProcess::expander_options() const {
  net::GrpcClientOptions options;
  options.port = port_called("expander");
  net::ClientTrust trust;
  trust.authorities_pem = authority_.pem();
  options.tls = net::client_context(std::move(trust)).value();
  return options;
}

std::string AutoscalerProcess::client_flags() const {
  return fmt::format("--target 127.0.0.1:{} --ca '{}' --cert '{}' --key '{}'", port_,
                     folder_ / "ca.pem", folder_ / "client.pem", folder_ / "client.key");
}

net::GrpcAnswer StraightCalls::call(const std::string& method, std::string_view message) {
  std::optional<net::GrpcAnswer> answer;
  client_->call(method, message, seconds(20), [&](net::GrpcAnswer told) {
    answer = std::move(told);
    poll_.stop();
  });
  poll_.run();
  SPILLWAY_CHECK(answer.has_value(), "a call has no answer");
  return std::move(*answer);
}

cluster_autoscaler::CloudClient StraightCalls::cloud() {
  return cluster_autoscaler::CloudClient(
      [this](const std::string& method, std::string message) { return call(method, message); });
}

bool comes_to(cluster_autoscaler::CloudClient& cloud, const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + k_patience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    SPILLWAY_CHECK(cloud.refresh().has_value(), "Refresh fails");
  }
  return true;
}

}  // namespace spillway::test
