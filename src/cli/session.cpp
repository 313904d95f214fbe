#include "cli/session.h"

namespace spillway::cli {

Result<std::unique_ptr<Session>> Session::open(const std::string& url, net::ClientOptions options) {
  const auto at = net::parse_url(url);
  if (!at) return tl::unexpected(at.error());
  options.host = at->host;
  options.port = at->port;
  if (at->is_plain) {
    return fail(Code::invalid, "broker " + url, "it would be spoken to without TLS",
                "write https://");
  }
  std::unique_ptr<Session> session(new Session());
  auto client = net::Client::create(session->poll_, std::move(options));
  if (!client) return tl::unexpected(client.error());
  session->client_ = std::move(*client);
  session->broker_ = std::make_unique<wire::BrokerClient>(*session->client_);
  session->thread_ = std::thread([poll = &session->poll_] { poll->run(); });
  return session;
}

Session::~Session() {
  if (!thread_.joinable()) return;
  poll_.post([this] {  // what belongs to the thread ends on it
    broker_.reset();
    client_.reset();
    poll_.stop();
  });
  thread_.join();
}

Result<net::Response> Session::send(const net::Request& request) {
  return wait<net::Response>(
      [this, request](net::OnResponse then) { client_->send(request, std::move(then)); });
}

}  // namespace spillway::cli
