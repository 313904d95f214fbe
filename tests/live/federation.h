// A federation to test against, real TLS on loopback and a real file: members who joined over the
// wire, calls that wait for their answer, and the broker on a thread or as a process of its own.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/check.h"
#include "cli/broker_setup.h"
#include "net/client.h"
#include "net/poll.h"
#include "pki/key.h"
#include "pki/private_file.h"
#include "pki/request.h"
#include "services/agent/credentials.h"
#include "services/broker/broker.h"
#include "services/service_loop.h"
#include "services/wire/broker_client.h"
#include "services/wire/fields.h"
#include "support/temporary_folder.h"

namespace spillway::test {

inline Instant wall_clock() { return net::Poll().now(); }

// A Poll on a thread of its own.
class PollThread {
 public:
  PollThread() : thread_([this] { poll_.run(); }) {}
  ~PollThread() {
    poll_.stop();
    thread_.join();
  }
  PollThread(const PollThread&) = delete;
  PollThread& operator=(const PollThread&) = delete;

  net::Poll& poll() { return poll_; }

  // Runs `f` there and waits for what it returns. Promises are shared with who keeps them: whoever
  // waits may go on, and be gone, before they have been kept to the end.
  template <class F>
  auto run(F f) {
    auto task = std::make_shared<std::packaged_task<decltype(f())()>>(std::move(f));
    auto result = task->get_future();
    poll_.post([task] { (*task)(); });
    return result.get();
  }
  // For calls that answer later: `f` gets a function to answer with.
  template <class T, class F>
  T ask(F f) {
    auto promise = std::make_shared<std::promise<T>>();
    auto result = promise->get_future();
    poll_.post([f = std::move(f), promise] {
      f([promise](T value) { promise->set_value(std::move(value)); });
    });
    return result.get();
  }

 private:
  net::Poll poll_;
  std::thread thread_;
};

inline std::string read_text(const std::string& path) {
  const auto text = pki::read_private(path, pki::Readers::anyone);
  EXPECT_TRUE(text) << path;
  return text ? std::string(text->view()) : std::string();
}

// Who can show what.
struct Papers {
  std::string name;
  std::optional<net::TlsIdentity> tls;
};

// The side of the members: wherever the broker runs.
class Members {
 public:
  Members() {
    cli::BrokerSetup setup;
    setup.data = data();
    setup.federation = "testers";
    setup.listen = "127.0.0.1:0";
    const auto done = cli::set_up_broker(setup);
    SPILLWAY_CHECK(done.has_value(), done ? "" : done.error().message());
    const std::string dir = data() + "/operator";
    authorities_ = read_text(dir + "/authorities.pem");
    boss_ = {"operator",
             net::TlsIdentity{read_text(dir + "/certificate.pem"), read_text(dir + "/key.pem")}};
  }
  ~Members() { forget_connections(); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  std::string data() const { return folder_ / "broker"; }
  const Papers& boss() const { return boss_; }
  static Papers nobody() { return {}; }
  void set_port(uint16_t port) { port_ = port; }
  uint16_t port() const { return port_; }
  const std::string& authorities() const { return authorities_; }
  PollThread& client() { return client_; }

  static net::Request get(std::string target) { return {"GET", std::move(target), {}, {}}; }
  static net::Request post(std::string target, std::string body = {}) {
    return {"POST", std::move(target), {}, std::move(body)};
  }
  static net::Request put(std::string target, std::string body) {
    return {"PUT", std::move(target), {}, std::move(body)};
  }

  net::ClientOptions options(const Papers& who) const {
    net::ClientOptions options;
    options.host = "127.0.0.1";
    options.port = port_;
    options.authorities_pem = authorities_;
    options.identity = who.tls;
    return options;
  }

  Result<net::Response> try_call(const Papers& who, net::Request request) {
    return client_.ask<Result<net::Response>>(
        [&](auto answer) { client_of(who).send(std::move(request), answer); });
  }
  net::Response call(const Papers& who, net::Request request) {
    const auto response = try_call(who, std::move(request));
    EXPECT_TRUE(response) << (response ? "" : response.error().message());
    return response ? *response : net::Response{};
  }

  // Joins over the wire, with a token that the operator made over the wire.
  Papers join(const std::string& name, const model::Roles& roles,
              const model::Labels& labels = {}) {
    return {name, join_with(make_token(name, roles, labels), pki::Key::generate_member())};
  }
  // The same, into a folder as `spillway join` makes it, for a process; and who that is.
  std::string join_folder(const std::string& name, const model::Roles& roles,
                          Papers* papers = nullptr) {
    std::string folder = data() + "/" + name;
    SPILLWAY_CHECK(pki::make_private_folder(folder).has_value(), folder);
    const auto key = agent::keep_key(folder);
    SPILLWAY_CHECK(key.has_value(), "no key");
    const auto told = read<wire::CertificateAnswer>(ask_to_join(make_token(name, roles), *key));
    const std::string url = fmt::format("https://127.0.0.1:{}", port_);
    SPILLWAY_CHECK(agent::save_credentials(folder, url, told).has_value(), "no credentials");
    if (papers != nullptr) {
      *papers = {name, net::TlsIdentity{told.certificate, std::string(key->to_pem().view())}};
    }
    return folder;
  }
  std::string make_token(const std::string& name, const model::Roles& roles,
                         const model::Labels& labels = {}) {
    const wire::TokenRequest body{name, roles, labels, hours(1)};
    return read<wire::TokenAnswer>(call(boss_, post("/v1/tokens", model::write_json(body)))).token;
  }
  net::Response ask_to_join(const std::string& token, const pki::Key& key) {
    const auto request = pki::make_request(key, "whatever");
    return call(nobody(), post("/v1/join", model::write_json(wire::JoinRequest{token, *request})));
  }
  std::optional<net::TlsIdentity> join_with(const std::string& token, const pki::Key& key) {
    const auto answer = ask_to_join(token, key);
    EXPECT_LT(answer.status, 300) << answer.body;
    if (answer.status >= 300) return std::nullopt;
    const auto told = read<wire::CertificateAnswer>(answer);
    return net::TlsIdentity{told.certificate, std::string(key.to_pem().view())};
  }

  template <class T>
  static T read(const net::Response& response) {
    auto body = model::read_json<T>(response.body, "answer");
    EXPECT_TRUE(body) << response.status << " " << response.body;
    return body ? std::move(*body) : T{};
  }

  // New connections from now on.
  void forget_connections() {
    client_.run([this] {
      clients_.clear();
      return true;
    });
  }

 private:
  net::Client& client_of(const Papers& who) {
    auto& client = clients_[who.tls ? who.tls->certificate_chain_pem : std::string()];
    if (client == nullptr) {
      auto made = net::Client::create(client_.poll(), options(who));
      SPILLWAY_CHECK(made.has_value(), made ? "" : made.error().message());
      client = std::move(*made);
    }
    return *client;
  }

  TemporaryFolder folder_;
  std::string authorities_;
  Papers boss_;
  uint16_t port_ = 0;
  PollThread client_;
  std::map<std::string, std::unique_ptr<net::Client>> clients_;
};

// With the broker in this process, on a thread of its own.
class Federation : public Members {
 public:
  explicit Federation(const std::function<void(services::BrokerConfig&)>& change = {}) {
    config_.data = data();
    config_.listen = "127.0.0.1:0";
    config_.stranger_rate = 0;
    config_.member_rate = 0;
    if (change) change(config_);
    start();
  }
  ~Federation() { stop(); }
  Federation(const Federation&) = delete;
  Federation& operator=(const Federation&) = delete;

  void start() {
    const Status started = server_.run([this]() -> Status {
      auto broker = services::Broker::start(server_.poll(), loop_, config_, log_);
      if (!broker) return tl::unexpected(broker.error());
      broker_ = std::move(*broker);
      set_port(broker_->port());
      return {};
    });
    SPILLWAY_CHECK(started.has_value(), started ? "" : started.error().message());
    while (call(boss(), get("/readyz")).status != 200) std::this_thread::yield();
  }
  void stop() {
    forget_connections();
    server_.run([this] {
      broker_.reset();
      return true;
    });
  }
  services::Broker& broker() { return *broker_; }
  PollThread& server() { return server_; }

 private:
  services::BrokerConfig config_;
  services::NoLog log_;
  PollThread server_;
  services::ServiceLoop loop_{server_.poll()};
  std::unique_ptr<services::Broker> broker_;
};

}  // namespace spillway::test
